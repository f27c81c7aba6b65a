/**
 * A story in which nearly every command succeeds once, with the files that it needs. successes.e2e.test.ts judges what it prints;
 * daemon/cluster/contract.e2e.test.ts tells it to one machine and to a cluster.
 */
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAILBOX_ATTEMPTS_MAX } from "../../../src/base/limits.ts";
import { petDocument } from "../../skills/openapi/pet-store.ts";

export type Data = Readonly<Record<string, unknown>>;
/** A word may depend on it. */
interface StorySoFar {
  /** The data of the newest success of a command. */
  told(command: string): Data;
  /** The directory with the files. */
  readonly work: string;
}
type Words = readonly (string | ((soFar: StorySoFar) => string))[];
export type StoryCall = readonly [command: string, words: Words];

export const wordsOf = ([, words]: StoryCall, soFar: StorySoFar): readonly string[] =>
  words.map((word) => (typeof word === "string" ? word : word(soFar)));

const tokenOf =
  (command: string) =>
  ({ told }: StorySoFar) =>
    String(told(command).token);
const idOf =
  (command: string, member: string) =>
  ({ told }: StorySoFar) =>
    String(told(command)[member]);
const file =
  (name: string) =>
  ({ work }: StorySoFar): string =>
    join(work, name);
const item = idOf("bb/post", "item_id");
const message = idOf("mailbox/send", "message_id");
const job = idOf("jobs/submit", "job_id");
const polled = ({ told }: StorySoFar) => String((told("mailbox/poll").messages as Data[])[0]!.token);
const digest = idOf("cas/put", "digest");

const DELIVERED_IN_VAIN: readonly StoryCall[] = [
  ["mailbox/poll", ["mailbox", "poll", "user"]],
  ["mailbox/nack", ["mailbox", "nack", polled]],
];

/** In the order of a story: a later call uses what an earlier one has told. */
export const CALLS: readonly StoryCall[] = [
  ["agent/version", ["version"]],
  ["agent/manifest", ["manifest"]],
  ["agent/completion", ["completion", "bash"]],
  ["agent/init", ["init", "--dry-run", "--", "true"]],
  ["config/set", ["config", "set", "defaults.timeout", "2h"]],
  ["config/list", ["config", "list"]],
  ["config/get", ["config", "get", "defaults.timeout"]],
  ["config/unset", ["config", "unset", "defaults.timeout"]],
  ["event/validate", ["event", "validate", "--input", file("events.ndjson")]],
  ["proto/validate", ["proto", "validate", "--input", file("envelope.json")]],
  ["daemon/start", ["daemon", "start"]],
  ["daemon/status", ["daemon", "status"]],
  ["agent/spawn", ["spawn", "--name", "cat", "--interactive", "--", "cat"]],
  ["agent/rename", ["rename", "cat", "tom"]],
  ["agent/info", ["info", "tom"]],
  ["agent/list", ["list"]],
  ["agent/tree", ["tree"]],
  ["agent/usage", ["usage"]],
  ["agent/inbox", ["inbox"]],
  ["agent/approvals", ["approvals"]],
  ["agent/pause", ["pause", "tom"]],
  ["agent/unpause", ["unpause", "tom"]],
  ["agent/send", ["send", "tom", "hello"]],
  ["agent/messages", ["messages", "tom"]],
  ["agent/capabilities", ["capabilities"]],
  ["agent/restart", ["restart", "tom"]],
  ["mailbox/send", ["mailbox", "send", "user", "one"]],
  ["mailbox/list", ["mailbox", "list", "user"]],
  ["mailbox/show", ["mailbox", "show", message]],
  ["mailbox/poll", ["mailbox", "poll", "user"]],
  ["mailbox/extend", ["mailbox", "extend", polled]],
  ["mailbox/nack", ["mailbox", "nack", polled]],
  ["mailbox/poll", ["mailbox", "poll", "user"]],
  ["mailbox/reply", ["mailbox", "reply", message, "two"]],
  ["mailbox/ack", ["mailbox", "ack", polled]],
  ["mailbox/poll", ["mailbox", "poll", "user"]],
  ["mailbox/ack", ["mailbox", "ack", polled]],
  ["mailbox/send", ["mailbox", "send", "user", "three"]],
  ...Array.from({ length: MAILBOX_ATTEMPTS_MAX }, () => DELIVERED_IN_VAIN).flat(),
  ["mailbox/resend", ["mailbox", "resend", message]],
  ["mailbox/drop", ["mailbox", "drop", message]],
  ["agent/kill", ["kill", "tom"]],
  ["agent/why", ["why", "tom"]],
  ["agent/logs", ["logs", "tom"]],
  ["agent/watch", ["watch", "tom"]],
  ["agent/search", ["search", "cat"]],
  ["agent/archive", ["archive", "tom"]],
  ["agent/prune", ["prune", "--until", "0s", "--force"]],
  ["agent/spawn-many", ["spawn-many", file("crew.json"), "--wait"]],
  ["jobs/submit", ["jobs", "submit", "--", "echo", "done"]],
  ["jobs/wait", ["jobs", "wait", job]],
  ["agent/wait", ["wait", job, "--subtree"]],
  ["agent/output", ["output", job]],
  ["jobs/info", ["jobs", "info", job]],
  ["jobs/list", ["jobs", "list"]],
  ["jobs/tail", ["jobs", "tail", job]],
  ["jobs/result", ["jobs", "result", job]],
  ["jobs/submit", ["jobs", "submit", "--", "sleep", "1d"]],
  ["jobs/cancel", ["jobs", "cancel", job]],
  ["schedule/next", ["schedule", "next", "@daily"]],
  ["schedule/add", ["schedule", "add", "nightly", "@yearly", "--", "true"]],
  ["schedule/list", ["schedule", "list"]],
  ["schedule/pause", ["schedule", "pause", "nightly"]],
  ["schedule/resume", ["schedule", "resume", "nightly"]],
  ["schedule/run", ["schedule", "run", "nightly"]],
  ["agent/wait", ["wait", idOf("schedule/run", "worker")]],
  ["schedule/show", ["schedule", "show", "nightly"]],
  ["schedule/remove", ["schedule", "remove", "nightly"]],
  ["bb/post", ["bb", "post", "Fix the login", "--tag", "rust"]],
  ["bb/list", ["bb", "list"]],
  ["bb/search", ["bb", "search", "login"]],
  ["bb/claim", ["bb", "claim", item]],
  ["bb/release", ["bb", "release", item, "--token", tokenOf("bb/claim")]],
  ["bb/watch", ["bb", "watch", "--no-follow"]],
  ["board/add", ["board", "add", "GH-1", "Fix the login"]],
  ["board/list", ["board", "list"]],
  ["board/claim", ["board", "claim", "GH-1"]],
  ["board/release", ["board", "release", "GH-1"]],
  ["board/block", ["board", "block", "GH-1"]],
  ["board/retry", ["board", "retry", "GH-1"]],
  ["board/block", ["board", "block", "GH-1"]],
  ["board/handoff", ["board", "handoff", "GH-1"]],
  ["board/done", ["board", "done", "GH-1"]],
  ["board/show", ["board", "show", "GH-1"]],
  ["board/dispatch", ["board", "dispatch", "--slots", "1", "--", "true"]],
  ["board/watch", ["board", "watch", "--no-follow"]],
  ["token/create", ["token", "create", "ci", "--to", file("ci.token")]],
  ["notify/list", ["notify", "list"]],
  ["notify/test", ["notify", "test", "desk"]],
  ["notify/resend", ["notify", "resend", "--all"]],
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
  ["token/revoke", ["token", "revoke", "ci"]],
  ["skill/list", ["skills", "list"]],
  ["skill/info", ["skills", "show", "fs/ls"]],
  ["skill/check", ["skills", "check", file("skill")]],
  ["agent/up", ["up", "-f", file("holdfast.yaml")]],
  ["agent/diff", ["diff", "-f", file("holdfast.yaml")]],
  ["agent/down", ["down", "-f", file("holdfast.yaml")]],
  ["cas/put", ["cas", "put", file("events.ndjson")]],
  ["cas/get", ["cas", "get", digest]],
  ["cas/pin", ["cas", "pin", digest]],
  ["cas/unpin", ["cas", "unpin", digest]],
  ["cas/list", ["cas", "list"]],
  ["cas/gc", ["cas", "gc", "--dry-run"]],
  ["db/check", ["db", "check"]],
  ["db/rebuild", ["db", "rebuild"]],
  ["db/gc", ["db", "gc", "--dry-run"]],
  ["db/export", ["db", "export"]],
  ["agent/doctor", ["doctor"]],
  ["daemon/stop", ["daemon", "stop", "--kill-agents"]],
];

const SKILL = "name: weather/today\nversion: 1.0.0\nsummary: Tell the weather.\nrunner: exec\nrun: [echo]\n";

/** Writes the configuration of a state directory; returns the directory with the files of the story. */
export const makeStoryFiles = (home: string): string => {
  const work = mkdtempSync(join(tmpdir(), "holdfast-work-"));
  const echo = { kind: "command", argv: ["true"] };
  const files: Readonly<Record<string, unknown>> = {
    "crew.json": [{ role: "echo", task: "one" }],
    "events.ndjson": { agent_kind: "command", kind: "TextOutput", channel: "stdout", text: "hello" },
    "envelope.json": {
      version: 1,
      status: "ok",
      command: "agent/list",
      data: {},
      meta: { ts: "2026-11-24T00:00:00Z", duration_ms: 1 },
      error: { code: null, message: null },
    },
    "holdfast.yaml": {
      version: 1,
      name: "night",
      tree: { children: [{ name: "one", argv: ["sleep", "1d"] }] },
    },
    "pets.json": petDocument(),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), JSON.stringify(text));
  mkdirSync(join(work, "skill"));
  writeFileSync(join(work, "skill", "skill.yaml"), SKILL);
  const notifications = { targets: { desk: { command: { argv: ["true"] } } } };
  writeFileSync(join(home, "config.yaml"), JSON.stringify({ roles: { echo }, notifications }));
  return work;
};
