/** Every command in failure: one envelope that the contract's own schema takes, with an exit code that its manifest declares. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type * as z from "zod";
import { manifest } from "../../src/cli/manifest.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { EnvelopeV1, ResponseEnvelope, ResponseEnvelopeG2 } from "../../src/protocol/envelope-schemas.ts";
import { GENERATIONS } from "../../src/protocol/generations.ts";
import { hasVectors } from "../protocol/vectors.ts";
import { contractSchema } from "../support/contract-schemas.ts";
import { agent } from "./support/agent.ts";

const ABSENT = `sha256:${"0".repeat(64)}`;
const fixture = (name: string): string => join(import.meta.dirname, "../fixtures/contracts", name);
const [ENVELOPE, EVENTS] = [fixture("envelope.json"), fixture("events.ndjson")];

/** A case a command, with no daemon: it fails in what it does. */
const FAILING: Readonly<Record<string, readonly [code: string, ...argv: string[]]>> = {
  "agent/spawn": ["BINARY_NOT_FOUND", "spawn", "--", "no-such-program"],
  "agent/resume": [
    "BINARY_NOT_FOUND",
    "resume",
    "claude",
    "and then?",
    "--session",
    "s",
    "--env",
    "CLAUDE_BINARY=no-such-program",
  ],
  "agent/fork": ["INVALID_REQUEST", "fork", "a", "--prompt-file", "/nonexistent.txt"],
  "agent/dashboard": ["INVALID_REQUEST", "dashboard"],
  "agent/kill": ["SUPERVISOR_DOWN", "kill", "a"],
  "agent/restart": ["SUPERVISOR_DOWN", "restart", "a"],
  "agent/pause": ["SUPERVISOR_DOWN", "pause", "a"],
  "agent/unpause": ["SUPERVISOR_DOWN", "unpause", "a"],
  "agent/spawn-many": ["INVALID_REQUEST", "spawn-many", "/nonexistent.yaml"],
  "agent/rename": ["SUPERVISOR_DOWN", "rename", "a", "b"],
  "agent/archive": ["SUPERVISOR_DOWN", "archive", "a"],
  "agent/prune": ["SUPERVISOR_DOWN", "prune"],
  "agent/up": ["INVALID_REQUEST", "up", "--file", "/nonexistent.yaml"],
  "agent/diff": ["INVALID_REQUEST", "diff", "--file", "/nonexistent.yaml"],
  "agent/down": ["SUPERVISOR_DOWN", "down", "shop"],
  "agent/list": ["SUPERVISOR_DOWN", "list"],
  "agent/tree": ["SUPERVISOR_DOWN", "tree"],
  "agent/why": ["SUPERVISOR_DOWN", "why", "a"],
  "agent/info": ["SUPERVISOR_DOWN", "info", "a"],
  "agent/watch": ["SUPERVISOR_DOWN", "watch"],
  "agent/logs": ["SUPERVISOR_DOWN", "logs", "a"],
  "agent/output": ["SUPERVISOR_DOWN", "output", "a"],
  "agent/search": ["SUPERVISOR_DOWN", "search", "a"],
  "agent/changes": ["SUPERVISOR_DOWN", "changes", "a"],
  "worktree/remove": ["SUPERVISOR_DOWN", "worktree", "remove", "a"],
  "agent/wait": ["SUPERVISOR_DOWN", "wait", "a"],
  "agent/answer": ["SUPERVISOR_DOWN", "answer", "a", "wait"],
  "agent/send": ["SUPERVISOR_DOWN", "send", "a", "hello"],
  "agent/ask": ["SUPERVISOR_DOWN", "ask", "a", "why?"],
  "agent/inbox": ["SUPERVISOR_DOWN", "inbox"],
  "bb/post": ["INVALID_REQUEST", "bb", "post", "a", "--body-file", "/nonexistent.txt"],
  "skill/run": ["INVALID_REQUEST", "run", "fs/ls", "--input", "@/nonexistent.json"],
  "skill/list": ["SUPERVISOR_DOWN", "skills", "list"],
  "skill/info": ["SUPERVISOR_DOWN", "skills", "show", "fs/ls"],
  "skill/check": ["SUPERVISOR_DOWN", "skills", "check", "a"],
  "bb/list": ["SUPERVISOR_DOWN", "bb", "list"],
  "bb/search": ["SUPERVISOR_DOWN", "bb", "search", "a"],
  "bb/watch": ["SUPERVISOR_DOWN", "bb", "watch"],
  "bb/claim": ["SUPERVISOR_DOWN", "bb", "claim"],
  "bb/release": ["SUPERVISOR_DOWN", "bb", "release", "a", "--token", "1"],
  "schedule/add": ["BINARY_NOT_FOUND", "schedule", "add", "a", "@daily", "--", "no-such-program"],
  "schedule/list": ["SUPERVISOR_DOWN", "schedule", "list"],
  "schedule/show": ["SUPERVISOR_DOWN", "schedule", "show", "a"],
  "schedule/next": ["INVALID_REQUEST", "schedule", "next", "@daily", "--limit", "0"],
  "schedule/pause": ["SUPERVISOR_DOWN", "schedule", "pause", "a"],
  "schedule/resume": ["SUPERVISOR_DOWN", "schedule", "resume", "a"],
  "schedule/run": ["SUPERVISOR_DOWN", "schedule", "run", "a"],
  "schedule/remove": ["SUPERVISOR_DOWN", "schedule", "remove", "a"],
  "agent/attach": ["INVALID_REQUEST", "attach", "a"],
  "notify/list": ["SUPERVISOR_DOWN", "notify", "list"],
  "notify/resend": ["SUPERVISOR_DOWN", "notify", "resend", "--all"],
  "notify/test": ["SUPERVISOR_DOWN", "notify", "test"],
  "token/create": ["INVALID_REQUEST", "token", "create", "a"],
  "identity/show": ["INVALID_REQUEST", "identity", "show", "Not A Name"],
  "identity/rotate": ["INVALID_REQUEST", "identity", "rotate", "Not A Name"],
  "identity/export": ["WORKER_NOT_FOUND", "identity", "export", "nobody"],
  "weblisk/grant": ["WORKER_NOT_FOUND", "weblisk", "grant", "nobody"],
  "weblisk/register": ["INVALID_REQUEST", "weblisk", "register", "ftp://orchestrator"],
  "weblisk/task": ["INVALID_REQUEST", "weblisk", "task", "http://127.0.0.1:1", "reviewer"],
  "weblisk/serve": ["INVALID_REQUEST", "weblisk", "serve"],
  "cluster/init": ["SUPERVISOR_DOWN", "cluster", "init", "postgres://db.example/c"],
  "cluster/join": ["INVALID_REQUEST", "cluster", "join", "@env:NOT_SET_ANYWHERE"],
  "cluster/leave": ["SUPERVISOR_DOWN", "cluster", "leave"],
  "agent/drain": ["SUPERVISOR_DOWN", "drain", "build"],
  "cluster/status": ["SUPERVISOR_DOWN", "cluster", "status"],
  "peer/add": ["SUPERVISOR_DOWN", "peer", "add", "b.example", "http://b.example"],
  "peer/list": ["SUPERVISOR_DOWN", "peer", "list"],
  "peer/show": ["SUPERVISOR_DOWN", "peer", "show", "b.example"],
  "peer/trust": ["SUPERVISOR_DOWN", "peer", "trust", "b.example"],
  "peer/revoke": ["SUPERVISOR_DOWN", "peer", "revoke", "b.example"],
  "peer/connect": ["INVALID_STATE", "peer", "connect", "b.example"],
  "peer/task": ["INVALID_REQUEST", "peer", "task", "b.example", "seo:analyze"],
  "audit/list": ["SUPERVISOR_DOWN", "audit", "list"],
  "audit/verify": ["SUPERVISOR_DOWN", "audit", "verify"],
  "token/list": ["SUPERVISOR_DOWN", "token", "list"],
  "token/revoke": ["SUPERVISOR_DOWN", "token", "revoke", "a"],
  "board/add": ["INVALID_REQUEST", "board", "add", "--from", "/nonexistent.jsonl"],
  "board/list": ["SUPERVISOR_DOWN", "board", "list"],
  "board/show": ["SUPERVISOR_DOWN", "board", "show", "a"],
  "board/claim": ["SUPERVISOR_DOWN", "board", "claim", "a"],
  "board/release": ["SUPERVISOR_DOWN", "board", "release", "a"],
  "board/retry": ["SUPERVISOR_DOWN", "board", "retry", "a"],
  "board/block": ["SUPERVISOR_DOWN", "board", "block", "a"],
  "board/handoff": ["SUPERVISOR_DOWN", "board", "handoff", "a"],
  "board/done": ["SUPERVISOR_DOWN", "board", "done", "a"],
  "board/dispatch": ["INVALID_REQUEST", "board", "dispatch", "--from", "/nonexistent.jsonl", "--", "true"],
  "board/watch": ["SUPERVISOR_DOWN", "board", "watch"],
  "agent/approvals": ["SUPERVISOR_DOWN", "approvals"],
  "approvals/approve": ["SUPERVISOR_DOWN", "approvals", "approve", "a"],
  "approvals/deny": ["SUPERVISOR_DOWN", "approvals", "deny", "a"],
  "agent/cancel": ["SUPERVISOR_DOWN", "cancel", "a"],
  "agent/usage": ["SUPERVISOR_DOWN", "usage"],
  "agent/messages": ["SUPERVISOR_DOWN", "messages", "a"],
  "mailbox/send": ["SUPERVISOR_DOWN", "mailbox", "send", "a", "hello"],
  "mailbox/poll": ["SUPERVISOR_DOWN", "mailbox", "poll", "a"],
  "mailbox/ack": ["SUPERVISOR_DOWN", "mailbox", "ack", "1"],
  "mailbox/nack": ["SUPERVISOR_DOWN", "mailbox", "nack", "1"],
  "mailbox/extend": ["SUPERVISOR_DOWN", "mailbox", "extend", "1"],
  "mailbox/reply": ["SUPERVISOR_DOWN", "mailbox", "reply", "a", "yes"],
  "mailbox/list": ["SUPERVISOR_DOWN", "mailbox", "list"],
  "mailbox/show": ["SUPERVISOR_DOWN", "mailbox", "show", "a"],
  "mailbox/resend": ["SUPERVISOR_DOWN", "mailbox", "resend", "a"],
  "mailbox/drop": ["SUPERVISOR_DOWN", "mailbox", "drop", "a"],
  "jobs/submit": ["INVALID_REQUEST", "jobs", "submit", "--prompt-file", "/nonexistent.txt", "--", "cat"],
  "jobs/list": ["SUPERVISOR_DOWN", "jobs", "list"],
  "jobs/info": ["SUPERVISOR_DOWN", "jobs", "info", "a"],
  "jobs/tail": ["SUPERVISOR_DOWN", "jobs", "tail", "a"],
  "jobs/wait": ["SUPERVISOR_DOWN", "jobs", "wait", "a"],
  "jobs/result": ["SUPERVISOR_DOWN", "jobs", "result", "a"],
  "jobs/cancel": ["SUPERVISOR_DOWN", "jobs", "cancel", "a"],
  "daemon/status": ["SUPERVISOR_DOWN", "daemon", "status"],
  "db/rebuild": ["SUPERVISOR_DOWN", "db", "rebuild"],
  "db/gc": ["SUPERVISOR_DOWN", "db", "gc"],
  "db/export": ["INVALID_REQUEST", "db", "export", "--format", "v2", "--from", "3"],
  "cas/put": ["INVALID_REQUEST", "cas", "put", "/nonexistent.txt"],
  "cas/get": ["ARTIFACT_NOT_FOUND", "cas", "get", ABSENT],
  "cas/pin": ["ARTIFACT_NOT_FOUND", "cas", "pin", ABSENT],
  "cas/unpin": ["ARTIFACT_NOT_FOUND", "cas", "unpin", ABSENT],
  "cas/list": ["STORE_FAILED", "cas", "list"],
  "cas/gc": ["STORE_FAILED", "cas", "gc"],
  "mcp/list": ["UNSUPPORTED_CAPABILITY", "mcp", "list", "command"],
  "mcp/get": ["INVALID_REQUEST", "mcp", "get", "codex", " "],
  "mcp/add": ["UNSUPPORTED_CAPABILITY", "mcp", "add", "codex", "docs", "--url", "nonsense"],
  "mcp/remove": ["UNSUPPORTED_CAPABILITY", "mcp", "remove", "claude", "docs"],
  "agent/init": ["INVALID_REQUEST", "init", "--kind", "nonsense"],
  "config/list": ["INVALID_REQUEST", "config", "list", "defaults.model"],
  "config/get": ["INVALID_REQUEST", "config", "get", "model"],
  "config/set": ["INVALID_REQUEST", "config", "set", "http.listen", "1"],
  "config/unset": ["INVALID_REQUEST", "config", "unset", "defaults.color"],
  "proto/validate": ["ENVELOPE_INVALID", "proto", "validate", "--input", EVENTS],
  "event/validate": ["ENVELOPE_INVALID", "event", "validate", "--input", ENVELOPE],
};
/** They are content with a state directory that is not there, and not with one that cannot be. */
const BELOW_A_FILE = ["cas/list", "cas/gc"];

/** They fail by their arguments alone (bad-input.int.test.ts), or have tests of their own with what they need to fail. */
const ELSEWHERE = [
  "db/check",
  "agent/demo",
  "agent/top",
  "mcp/serve",
  "agent/acp",
  "agent/relay",
  "agent/capabilities",
  "agent/doctor",
  "agent/completion",
  "agent/manifest",
  "agent/version",
  "daemon/run",
  "daemon/start",
  "daemon/stop",
  "daemon/upgrade",
  "daemon/install",
  "daemon/uninstall",
];

let home: string;
let contract: z.ZodType = ResponseEnvelope;
beforeAll(() => {
  process.setMaxListeners(0);
  home = mkdtempSync(join(tmpdir(), "holdfast-failing-"));
  if (hasVectors("response-envelope")) contract = contractSchema("response-envelope");
});
afterAll(() => rmSync(home, { recursive: true, force: true }));

it("every command has its case, here or elsewhere", () => {
  expect(new Set([...Object.keys(FAILING), ...ELSEWHERE])).toEqual(
    new Set(COMMANDS.map(({ command }) => command)),
  );
});

describe.each(Object.entries(FAILING))("%s", (command, [code, ...argv]) => {
  const name = COMMANDS.find((each) => each.command === command)!.words.join(".");
  const run = async (...more: string[]) => {
    const stateDir = join(BELOW_A_FILE.includes(command) ? ENVELOPE : home, "state");
    const ran = await agent(["--state-dir", stateDir, ...more, ...argv]);
    expect(existsSync(stateDir)).toBe(false);
    expect(ran.stdout.trimEnd().split("\n")).toHaveLength(1);
    return { exit: ran.exit, told: JSON.parse(ran.stdout) };
  };

  it(`fails with ${code} in each generation, as its manifest declares`, async () => {
    for (const generation of Object.values(GENERATIONS)) {
      const { exit, told } = await run("-o", "json", "--envelope", generation.name);
      const isG1 = generation.name === "g1";
      expect((isG1 ? contract : ResponseEnvelopeG2).safeParse(told).error).toBeUndefined();
      if (isG1) ResponseEnvelope.parse(told);
      expect(told).toMatchObject({ ok: false, data: null, error: { code } });
      const { commands } = manifest(generation) as unknown as {
        commands: Record<
          string,
          { exit_codes: object; output_schema: { "x-error-codes": Record<string, string[]> } }
        >;
      };
      expect(commands[name]!.exit_codes).toHaveProperty(String(exit));
      expect(commands.manifest!.output_schema["x-error-codes"][exit]).toContain(code);
    }
  });

  it("fails with one terminal envelope of Protocol v1", async () => {
    const { told } = await run("-o", "ndjson");
    // The envelope of a run bears the name of its skill.
    const named = command === "skill/run" ? "fs/ls" : command;
    expect(EnvelopeV1.parse(told)).toMatchObject({
      status: "error",
      command: named,
      error: { details: { code } },
    });
  });
});

it.skipIf(!hasVectors("response-envelope"))(
  "the manifest is that of the contract's schema, in each generation (only where it is at hand)",
  () => {
    const schema = contractSchema("manifest-response");
    for (const generation of Object.values(GENERATIONS)) {
      const told = JSON.parse(JSON.stringify(manifest(generation)));
      expect(schema.safeParse(told).error).toBeUndefined();
    }
  },
);

it("a state directory below a file can never be: it is said so, and nothing is to be tried again", async () => {
  const { exit, stdout } = await agent(["-o", "json", "list", "--state-dir", "/dev/null/x"]);
  const { error } = JSON.parse(stdout);
  expect({ exit, error }).toMatchObject({
    exit: 3,
    error: { code: "INVALID_REQUEST", suggestion: expect.stringContaining("Choose another --state-dir") },
  });
});
