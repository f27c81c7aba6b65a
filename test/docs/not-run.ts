/** Typed before the commands and the programs of a page, which says of them or takes for granted that they were. */
export const BEFORE: Readonly<Record<string, readonly string[]>> = {
  "docs/how-to/run-skills.md": ["agent daemon start"],
  "docs/reference/read-views.md": ["agent daemon start"],
  "docs/how-to/agents-that-run-agents.md": ["agent daemon start"],
  "docs/how-to/orchestrator.md": ["agent daemon start"],
  "docs/explanation/artifacts.md": ["printf hello > report.json"],
  "docs/explanation/usage.md": [
    "agent spawn --name fixer --label team=web claude 'Is it so?' --wait",
    "printf 'version: 1\\nname: shop\\ntree: { children: [{ name: crew, strategy: dynamic }] }\\n' > holdfast.yaml",
    "agent up",
  ],
  "docs/reference/tree-file.md": [
    "printf 'version: 1\\ntree:\\n  stratgy: one_for_one\\n  strategy: one_for_all\\n  children: [{ name: a, argv: [sleep, 9] }]\\n' > holdfast.yaml",
  ],
};

/**
 * The code of pages that no test runs, with the reason: a page, or a command or a line of a block after its page.
 * A test fails for an entry that has gone from its page.
 */
export const NOT_RUN: Readonly<Record<string, string>> = {
  "docs/reference/commands.md":
    "its examples are parsed by test/cli/registry.unit.test.ts, and most need workers that are not there",
  "docs/how-to/container.md":
    "it needs docker; test/cli/image.e2e.test.ts builds and runs the image where podman is there",
  "docs/how-to/notifications.md: agent notify test phone":
    "it needs a phone; test/cli/notifications.e2e.test.ts sends to a server of its own",
  "docs/how-to/bridge.md":
    "it needs Erlang; test/chaos/bridge.chaos.test.ts runs its like where that is there",
  "docs/how-to/run-skills.md: agent run fs/ls":
    "it needs bubblewrap; test/skills/runs.e2e.test.ts runs it where that is there",
  'docs/how-to/run-skills.md: agent run fs/read --input \'{"path":"notes.txt"}\'':
    "it needs bubblewrap; test/skills/runs.e2e.test.ts runs its like",
  "docs/how-to/run-skills.md: agent run text/grep --input @query.json --workspace ~/work":
    "it needs bubblewrap; test/skills/runs.e2e.test.ts runs its like",
  'docs/how-to/run-skills.md: agent run http/openapi --input \'{"document":"pets.json","operation":"listPets","base_url":"http://127.0.0.1:8080/v1"}\'':
    "it needs bubblewrap and a server; test/skills/network.e2e.test.ts runs its like",
  "docs/how-to/run-skills.md: agent run http/openapi --secret PET_KEY --input @call.json":
    "it needs bubblewrap and a server; test/skills/network.e2e.test.ts runs its like",
  'docs/explanation/workspaces.md: agent spawn claude "fix the login" --worktree --sandbox workspace':
    "it needs bubblewrap; test/cli/sandboxes.e2e.test.ts runs its like where that is there",
  'docs/explanation/engine.md: agent spawn llm "Sum up the changes of this week." --model openai/MODEL --tools worker --wait':
    "it needs a key; test/engine/child.e2e.test.ts runs its like with a script",
  'docs/how-to/mcp-servers.md: agent spawn claude "Close what is done." --mcp servers.json --allow-tool "mcp__tickets__*"':
    "the server is of a package that is not there",
  'docs/how-to/tools-of-a-model.md: agent spawn llm "Which files mention the budget?" --model anthropic/claude-sonnet-4-5 --tools companion --wait':
    "it needs a key; test/engine/tools.e2e.test.ts runs its like against the fake model",
  'docs/how-to/tools-of-a-model.md: agent spawn llm "Close what is done." --model openai/gpt-5 --ext \'backend.llm.mcp.v1=["files","tickets"]\' --permission ask':
    "it needs a key and servers; test/engine/tools.e2e.test.ts runs its like against the fake model",
  "docs/explanation/workspaces.md: agent spawn --sandbox workspace --sandbox-net none -- npm test":
    "it needs bubblewrap; test/cli/sandboxes.e2e.test.ts runs its like where that is there",
  "docs/how-to/weblisk.md":
    "its server runs until it is stopped; test/cli/weblisk/serve.e2e.test.ts does the same",
  'docs/how-to/weblisk.md: const reply = await fetch("http://127.0.0.1:9800/v1/register", {':
    "it needs a server; test/cli/weblisk/serve.e2e.test.ts registers the like",
  "docs/how-to/weblisk-agents.md":
    "it needs another orchestrator; test/cli/weblisk/remote.e2e.test.ts does the same",
  "docs/how-to/federation.md":
    "its gateways run until they are stopped; test/cli/weblisk/federation.e2e.test.ts does the same",
  "docs/how-to/dashboard.md":
    "its address and token differ each time; test/web/dashboard.e2e.test.ts opens the like of them",
  "docs/how-to/agents-that-run-agents.md: claude mcp add --scope user holdfast -- agent mcp serve":
    "it needs claude; test/agents/claude-mcp.e2e.test.ts runs its like",
  "docs/how-to/agents-that-run-agents.md: codex mcp add holdfast -- agent mcp serve":
    "it needs codex; test/agents/codex-mcp.e2e.test.ts runs its like",
  "docs/how-to/agents-that-run-agents.md: agent mailbox reply ID main":
    "the id differs each time; test/cli/mcp/serve.e2e.test.ts answers the like",
  "docs/how-to/editors.md: agent spawn --name fixer --interactive claude --detach":
    "it needs claude; test/cli/acp/serve.e2e.test.ts joins the like",
  "docs/how-to/editors.md: agent list": "it shows the worker of the line before",
  "docs/how-to/other-hosts.md":
    "it needs other hosts; test/cli/hosts-ssh.e2e.test.ts, hosts.e2e.test.ts and hosts-several.e2e.test.ts reach the like",
  "docs/how-to/cluster.md": "it needs a Postgres; test/daemon/cluster/node.e2e.test.ts does the like",
  "docs/how-to/http.md":
    "its addresses and tokens differ each time; test/cli/http.e2e.test.ts asks the like of them",
  'docs/reference/library.md: process.once("SIGINT", () => void runtime.close().finally(() => process.exit(130)));':
    "it waits for Ctrl-C; test/docs/snippets.int.test.ts compiles it",
  "docs/reference/library.md: await using hosts = await Runtime.connect({":
    "it needs other hosts; test/library/hosts.e2e.test.ts reaches the like",
  'docs/reference/library.md: await using runtime = await Runtime.connect({ stateDir: "/var/tmp/my-agents" });':
    "it needs a daemon beside the programs of the page that open the directory; test/library/connect.e2e.test.ts runs its like",
  "docs/install.md: npm ci && npm run demo":
    "test/library/package.e2e.test.ts and test/cli/agent.e2e.test.ts install and run the demo",
  'docs/install.md: export PATH="$PWD/bin:$PATH"': "the shell of these tests has it",
  "docs/install.md: npm install --global holdfast": "test/library/package.e2e.test.ts installs a packed one",
  "docs/install.md: npm pack": "test/library/package.e2e.test.ts packs",
  "docs/install.md: npm install ./holdfast-0.1.0.tgz": "test/library/package.e2e.test.ts installs",
};
