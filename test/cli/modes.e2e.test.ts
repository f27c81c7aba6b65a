/** Every command against a real daemon in json and ndjson: exactly one envelope of the contract, and data as its schema says. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { makeDataCheck } from "../../src/cli/data-check.ts";
import { schemasOf } from "../../src/cli/manifest.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { sha256Digest } from "../../src/protocol/canonical-json.ts";
import { EnvelopeV1, ResponseEnvelope } from "../../src/protocol/envelope-schemas.ts";
import { RUN_EVENT_TYPES, WORKER_EVENT_KINDS } from "../../src/protocol/run-events/events.ts";
import { hasVectors } from "../protocol/vectors.ts";
import { contractSchema } from "../support/contract-schemas.ts";
import { makeRepository } from "../support/repository.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
/** The contract's own schema, where it is at hand. */
const contract = hasVectors("response-envelope") ? contractSchema("response-envelope") : ResponseEnvelope;
beforeAll(async () => {
  commands = makeCommands();
  const configuration = {
    binaries: { codex: "/bin/echo" },
    kinds: { codex: { allow_mcp_write: true } },
    notifications: { targets: { desk: { command: { argv: ["true"] } } } },
  };
  writeFileSync(join(commands.home, "config.yaml"), JSON.stringify(configuration));
  await commands.agent("spawn", "--name", "done", "--wait", "--", "sh", "-c", "echo hello");
  await commands.agent("spawn", "--name", "reader", "--interactive", "--", "cat");
});
afterAll(async () => {
  await commands.close();
  rmSync(REPO.root, { recursive: true, force: true });
});

const TREE = fileURLToPath(new URL("../../examples/tree/holdfast.yaml", import.meta.url));
const DIGEST = sha256Digest(readFileSync(TREE));
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/contracts/${name}`, import.meta.url));

const REPO = makeRepository({ "a.txt": "one\n" });
const IN_REPO = ["--cwd", REPO.path];

/** In an order in which each succeeds. `agent demo` and `daemon run` have tests of their own. */
const CALLS: readonly (readonly [command: string, argv: readonly string[]])[] = [
  ["agent/spawn", ["spawn", "--", "true"]],
  ["agent/spawn", ["spawn", "--dry-run", "--", "true"]],
  ["agent/spawn", ["spawn", "--watch", "--", "echo", "hi"]],
  ["agent/spawn", ["spawn", "--wait", "--", "true"]],
  ["agent/list", ["list", "--all"]],
  ["agent/list", ["ps", "-q"]],
  ["agent/tree", ["tree"]],
  ["agent/why", ["why", "done"]],
  ["agent/inbox", ["inbox"]],
  ["agent/info", ["info", "done"]],
  ["agent/watch", ["watch", "done", "--from", "0"]],
  ["agent/watch", ["watch", "done", "--since", "1h", "--kinds", "TextOutput,worker_exited"]],
  ["agent/logs", ["logs", "done"]],
  ["agent/logs", ["logs", "done", "--tail", "2"]],
  ["agent/logs", ["logs", "done", "-f", "--tail", "2"]],
  ["agent/logs", ["logs", "done", "--raw"]],
  ["agent/output", ["output", "done"]],
  ["agent/search", ["search", "hello"]],
  ["agent/spawn", ["spawn", ...IN_REPO, "--worktree", "--name", "tree", "--wait", "--", "touch", "b"]],
  ["agent/spawn", ["spawn", ...IN_REPO, "--worktree=spare", "--name", "spare", "--wait", "--", "true"]],
  ["agent/spawn", ["spawn", ...IN_REPO, "--worktree", "--dry-run", "--", "true"]],
  ["agent/info", ["info", "tree"]],
  ["agent/changes", ["changes", "tree"]],
  ["worktree/remove", ["worktree", "remove", "spare"]],
  ["agent/wait", ["wait", "done"]],
  ["agent/send", ["send", "reader", "hello"]],
  ["agent/usage", ["usage"]],
  ["agent/messages", ["messages", "reader"]],
  ["mailbox/send", ["mailbox", "send", "reader", '{"a":1}', "--json", "--type", "event"]],
  ["mailbox/list", ["mailbox", "list", "reader"]],
  ["mailbox/list", ["mailbox", "list", "--dead"]],
  ["mailbox/poll", ["mailbox", "poll", "reader"]],
  ["mailbox/poll", ["mailbox", "poll", "reader", "--timeout", "1ms"]],
  ["agent/approvals", ["approvals"]],
  ["agent/approvals", ["approvals", "list", "--all"]],
  ["bb/post", ["bb", "post", "Fix the login", "--tag", "rust", "--data", '{"n":1}']],
  ["bb/list", ["bb", "list"]],
  ["bb/search", ["bb", "search", "login"]],
  ["bb/claim", ["bb", "claim", "--tag", "rust"]],
  ["bb/watch", ["bb", "watch", "--from", "0", "--no-follow"]],
  ["skill/list", ["skills", "list"]],
  ["skill/info", ["skills", "show", "fs/ls"]],
  ["skill/check", ["skills", "check", fixture("skill")]],
  ["board/add", ["board", "add", "GH-1", "Fix the login", "--label", "bug"]],
  ["board/add", ["board", "add", "GH-2", "Fix the logout"]],
  ["board/dispatch", ["board", "dispatch", "--slots", "0", "--no-worktree", "--", "true"]],
  ["board/claim", ["board", "claim", "GH-1"]],
  ["board/done", ["board", "done", "GH-2"]],
  ["board/list", ["board", "list"]],
  ["board/show", ["board", "show", "GH-1"]],
  ["board/watch", ["board", "watch", "--from", "0", "--no-follow"]],
  ["jobs/submit", ["jobs", "submit", "--name", "job", "--", "sh", "-c", "echo hi"]],
  ["jobs/wait", ["jobs", "wait", "job"]],
  ["jobs/tail", ["jobs", "tail", "job"]],
  ["jobs/info", ["jobs", "info", "job"]],
  ["jobs/result", ["jobs", "result", "job"]],
  ["jobs/list", ["jobs", "list", "--state", "ok"]],
  ["jobs/cancel", ["jobs", "cancel", "job"]],
  ["schedule/add", ["schedule", "add", "yearly", "@yearly", "--zone", "UTC", "--", "true"]],
  ["schedule/list", ["schedule", "list"]],
  ["schedule/run", ["schedule", "run", "yearly"]],
  ["schedule/show", ["schedule", "show", "yearly"]],
  ["agent/tree", ["tree", "--fibers"]],
  ["schedule/next", ["schedule", "next", "0 3 * * *", "--zone", "Europe/Berlin"]],
  ["schedule/pause", ["schedule", "pause", "yearly"]],
  ["schedule/resume", ["schedule", "resume", "yearly"]],
  ["schedule/remove", ["schedule", "remove", "yearly"]],
  ["peer/add", ["peer", "add", "b.example", "http://b.example", "--share", "seo:analyze"]],
  ["peer/list", ["peer", "list"]],
  ["peer/show", ["peer", "show", "b.example"]],
  ["peer/revoke", ["peer", "revoke", "b.example"]],
  ["cluster/status", ["cluster", "status"]],
  ["audit/list", ["audit", "list"]],
  ["audit/verify", ["audit", "verify"]],
  ["token/list", ["token", "list"]],
  ["identity/show", ["identity", "show"]],
  ["identity/rotate", ["identity", "rotate"]],
  ["identity/export", ["identity", "export"]],
  ["notify/test", ["notify", "test"]],
  ["notify/list", ["notify", "list"]],
  ["notify/resend", ["notify", "resend", "--all"]],
  ["agent/pause", ["pause", "reader", "--dry-run"]],
  ["agent/pause", ["pause", "reader", "--reason", "a look"]],
  ["agent/unpause", ["unpause", "reader", "--dry-run"]],
  ["agent/unpause", ["unpause", "reader"]],
  ["agent/rename", ["rename", "job", "former"]],
  ["agent/archive", ["archive", "former"]],
  ["agent/list", ["list", "--archived"]],
  ["agent/rename", ["rename", "former", "job"]],
  ["agent/prune", ["prune", "--dry-run", "--until", "1h"]],
  ["agent/prune", ["prune", "--label", "none=none", "--force"]],
  ["agent/capabilities", ["capabilities"]],
  ["agent/capabilities", ["capabilities", "claude"]],
  ["mcp/list", ["mcp", "list", "codex"]],
  ["mcp/get", ["mcp", "get", "codex", "docs"]],
  ["mcp/add", ["mcp", "add", "codex", "docs", "--", "docs-server"]],
  ["mcp/remove", ["mcp", "remove", "codex", "docs"]],
  ["agent/doctor", ["doctor"]],
  ["agent/init", ["init", "--dry-run", "--", "true"]],
  ["config/set", ["config", "set", "defaults.timeout", "2h"]],
  ["config/list", ["config", "list"]],
  ["config/get", ["config", "get", "defaults.timeout"]],
  ["config/unset", ["config", "unset", "defaults.timeout"]],
  ["daemon/start", ["daemon", "start"]],
  ["daemon/status", ["daemon", "status"]],
  ["daemon/upgrade", ["daemon", "upgrade"]],
  ["daemon/install", ["daemon", "install", "--dry-run"]],
  ["daemon/uninstall", ["daemon", "uninstall", "--dry-run"]],
  ["db/check", ["db", "check"]],
  ["db/rebuild", ["db", "rebuild"]],
  ["db/gc", ["db", "gc", "--dry-run"]],
  ["db/export", ["db", "export"]],
  ["db/export", ["db", "export", "--format", "v2"]],
  ["db/export", ["db", "export", "--format", "v2", "--heartbeats"]],
  ["cas/put", ["cas", "put", TREE]],
  ["cas/get", ["cas", "get", DIGEST]],
  ["cas/pin", ["cas", "pin", DIGEST]],
  ["cas/list", ["cas", "list"]],
  ["cas/unpin", ["cas", "unpin", DIGEST]],
  ["cas/gc", ["cas", "gc", "--dry-run"]],
  ["proto/validate", ["proto", "validate", "--input", fixture("envelope.json")]],
  ["event/validate", ["event", "validate", "--input", fixture("events.ndjson")]],
  ["agent/completion", ["completion", "zsh"]],
  ["agent/manifest", ["manifest"]],
  ["agent/version", ["version"]],
  ["agent/diff", ["diff", "--file", TREE]],
  ["agent/up", ["up", "--file", TREE]],
  ["agent/down", ["down", "--file", TREE, "--dry-run"]],
  ["agent/down", ["down", "--file", TREE]],
  ["agent/kill", ["kill", "reader", "--dry-run"]],
  ["agent/restart", ["restart", "done", "--dry-run"]],
  ["agent/restart", ["restart", "done", "--idempotency-key", "k"]],
  ["agent/restart", ["restart", "done", "--idempotency-key", "k"]],
  ["agent/kill", ["kill", "--all", "--grace", "1s"]],
  ["daemon/stop", ["daemon", "stop", "--dry-run"]],
  ["daemon/stop", ["daemon", "stop", "--kill-agents"]],
];

/** The types of `db export --format v2` (docs/reference/run-events.md). */
const streamEvent = z.looseObject({
  stream_id: z.string(),
  stream_version: z.int().min(1),
  event_type: z.enum([...RUN_EVENT_TYPES, ...WORKER_EVENT_KINDS]),
});

/** The effect that a call that changes something tells. */
const EFFECTS: Readonly<Record<string, string>> = {
  "spawn -- true": "created",
  "spawn --dry-run -- true": "would_create",
  "pause reader --dry-run": "would_update",
  "pause reader --reason a look": "updated",
  "unpause reader --dry-run": "would_update",
  "kill reader --dry-run": "would_delete",
  "restart done --dry-run": "would_update",
  "daemon start": "noop",
  "daemon stop --dry-run": "would_delete",
  "daemon stop --kill-agents": "deleted",
  "prune --dry-run --until 1h": "noop",
  "prune --label none=none --force": "noop",
  "rename job former": "updated",
  "db rebuild": "updated",
  "db gc --dry-run": "noop",
};
const DANGEROUS = COMMANDS.filter(({ danger }) => danger !== "safe").map(({ command }) => command);
let restarts = 0;
interface Published {
  readonly output: object;
  readonly record: object | null;
}

const streams = ([, [word, ...rest]]: (typeof CALLS)[number]): boolean =>
  word === "watch" ||
  (word === "db" && rest[0] === "export") ||
  ["watch", "tail"].includes(rest[0] ?? "") ||
  (word === "logs" && !rest.includes("--raw")) ||
  rest.includes("--watch");

it("covers every command", () => {
  // An answer needs a worker that asks, or one that is asked, and a session one that has one: they are told elsewhere,
  // as are turns (approvals.e2e).
  const talk = ["agent/answer", "agent/ask", "approvals/approve", "approvals/deny", "agent/cancel"];
  // A release needs the token of a claim (blackboard.e2e); these a token or the id of a message (commands/mailbox.e2e).
  const mail = ["ack", "nack", "extend", "reply", "show", "resend", "drop"].map((verb) => `mailbox/${verb}`);
  // These answer as a claim of a card does (board.e2e).
  const moves = ["release", "retry", "block", "handoff"].map((verb) => `board/${verb}`);
  const elsewhere = [
    ...mail,
    ...moves,
    // These need a file for the secret (tokens.e2e).
    "token/create",
    "token/revoke",
    // Only a verified peer is trusted, after a day (control/peers.int).
    "peer/trust",
    // They need another hub (weblisk/federation.e2e).
    "peer/connect",
    "peer/task",
    // They need a Postgres (daemon/cluster/node.e2e).
    "cluster/init",
    "cluster/join",
    "cluster/leave",
    "agent/drain",
    "agent/demo",
    // They speak other protocols (mcp/serve.e2e, acp/serve.e2e, weblisk/serve.e2e).
    "mcp/serve",
    "weblisk/serve",
    "weblisk/grant",
    // They need another orchestrator (weblisk/remote.e2e).
    "weblisk/register",
    "weblisk/task",
    "agent/acp",
    "agent/relay",
    // They need a terminal (top.e2e), and a daemon that serves HTTP (web/dashboard.e2e).
    "agent/attach",
    "agent/top",
    "agent/dashboard",
    "daemon/run",
    // It needs a role with a kind (commands/spawn-many.e2e).
    "agent/spawn-many",
    "agent/resume",
    "agent/fork",
    "bb/release",
    // A run needs a sandbox (skills.e2e).
    "skill/run",
    ...talk,
  ];
  expect(new Set([...CALLS.map(([command]) => command), ...elsewhere])).toEqual(
    new Set(COMMANDS.map(({ command }) => command)),
  );
});

describe("in JSON", () => {
  it.each(CALLS.map((call) => [call[1].join(" "), call] as const))("agent %s", async (_title, call) => {
    const [command, argv] = call;
    const { exit, stdout, stderr } = await commands.start(["-o", "json", ...argv]).ended;
    expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    const envelope = ResponseEnvelope.parse(JSON.parse(lines.pop()!));
    expect(contract.safeParse(envelope).error).toBeUndefined();
    expect(envelope).toMatchObject({ ok: true, error: null });
    const { output, record } = schemasOf(COMMANDS.find((one) => one.command === command)!) as Published;
    expect(makeDataCheck(output)(envelope.data)).toBeUndefined();
    const isRecord = record === null ? () => "no stream" : makeDataCheck(record);
    for (const line of lines) {
      const value: unknown = JSON.parse(line);
      if (argv.includes("v2")) streamEvent.parse(value);
      else expect(isRecord(value)).toBeUndefined();
    }
    expect(lines.length > 0).toBe(streams(call));
    const { effect } = envelope.data as { effect?: string };
    if (DANGEROUS.includes(command)) expect(effect).toBeDefined();
    const title = argv.join(" ");
    if (title in EFFECTS) expect({ title, effect }).toEqual({ title, effect: EFFECTS[title] });
    if (argv.includes("--idempotency-key")) expect(effect).toBe(["updated", "noop"][restarts++]);
  });
});

/** One renderer prints all: the streams, and some one-shot commands that succeed or fail. */
const IN_NDJSON = CALLS.filter(
  (call) => streams(call) || ["agent/list", "agent/info", "agent/send"].includes(call[0]),
);

describe("in NDJSON, where the reader has ended", () => {
  it.each(IN_NDJSON.map((call) => [call[1].join(" "), call] as const))("agent %s", async (_title, call) => {
    const [command, argv] = call;
    const { exit, stdout } = await commands.start(["-o", "ndjson", ...argv]).ended;
    const lines = stdout
      .trimEnd()
      .split("\n")
      .map((line) => EnvelopeV1.parse(JSON.parse(line)));
    const last = lines.pop()!;
    expect({ exit, status: last.status, command: last.command }).toEqual({
      exit: command === "agent/send" ? 6 : 0,
      status: command === "agent/send" ? "error" : "ok",
      command,
    });
    expect(lines.map(({ status, meta }) => [status, (meta as { seq?: number }).seq])).toEqual(
      lines.map((_, seq) => ["progress", seq]),
    );
  });
});
