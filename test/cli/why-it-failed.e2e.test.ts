/** Why an agent failed, as who asked for it is told: error.code and exit code in json, text and ndjson, of recorded runs of a real CLI. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { EnvelopeV1 } from "../../src/protocol/envelope-schemas.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

const RECORDINGS = join(import.meta.dirname, "../recordings/claude-code");
const NO_KEY =
  '{"type":"result","subtype":"success","is_error":true,"num_turns":1,"result":"Not logged in · Please run /login","session_id":"s","duration_ms":1,"usage":{"input_tokens":0,"output_tokens":0}}';

let commands: Commands;
/** A stand-in for the CLI that prints one of them, whatever it is asked. */
let claude: (prints: string) => string;
let here = 0;
beforeAll(() => {
  commands = makeCommands();
  claude = (prints) => {
    const path = join(commands.home, `claude-${++here}`);
    writeFileSync(path, `#!/bin/sh\ncat >/dev/null\n${prints}\n`);
    chmodSync(path, 0o755);
    return path;
  };
});
afterAll(() => commands.close());

const told = (mode: string, argv: readonly string[], program?: string) =>
  commands.start(["-o", mode, ...argv], program === undefined ? {} : { CLAUDE_BINARY: program }).ended;
const lastOf = (stdout: string) => JSON.parse(stdout.trimEnd().split("\n").at(-1)!);

const plays = (name: string): string => `cat '${join(RECORDINGS, name)}'; exit 1`;
const AS_ROOT =
  "echo '--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons' >&2; exit 1";
const cases: readonly (readonly [what: string, prints: string, code: string, exit: number, v1: string])[] = [
  ["no key", `printf '%s\\n' '${NO_KEY}'; exit 1`, "TOKEN_MISSING", 8, "EAUTH"],
  ["HTTP 401", plays("real-e401.ndjson"), "TOKEN_INVALID", 8, "EAUTH"],
  [
    "a token that has expired",
    `printf '%s\\n' '${NO_KEY.replace("Not logged in", "API Error: 401 OAuth token has expired")}'; exit 1`,
    "TOKEN_EXPIRED",
    8,
    "EAUTH",
  ],
  ["HTTP 429", plays("real-e429.ndjson"), "RATE_LIMITED", 11, "ERATELIMIT"],
  ["HTTP 500", plays("real-e500.ndjson"), "PROVIDER_ERROR", 2, "ERUNTIME"],
  ["an answer that is too long", plays("real-maxtokens.ndjson"), "OUTPUT_TOO_LARGE", 2, "EOUTPUT_TOO_LARGE"],
  ["a refusal", plays("real-refusal.ndjson"), "REFUSED", 2, "EPOLICY"],
  ["a refusal to run as root", AS_ROOT, "PERMISSION_DENIED", 7, "EPOLICY"],
  ["no word of how it ended", "exit 0", "NO_TERMINAL_EVENT", 2, "ERUNTIME"],
];

describe("spawn --wait of an agent that fails", () => {
  it.each(cases)("ends with its code and its exit code: %s", async (_what, prints, code, exit, v1) => {
    const program = claude(prints);
    const argv = ["spawn", "claude", "hi", "--restart", "temporary", "--wait"];
    const json = await told("json", argv, program);
    expect({ exit: json.exit, error: lastOf(json.stdout).error }).toMatchObject({ exit, error: { code } });
    const ndjson = await told("ndjson", argv, program);
    const { status, error } = lastOf(ndjson.stdout) as EnvelopeV1;
    expect({ exit: ndjson.exit, status, error }).toMatchObject({
      exit,
      status: "error",
      error: { code: v1, details: { code } },
    });
    expect((await told("text", argv, program)).exit).toBe(exit);
  });
});

describe("a worker that failed", () => {
  it("keeps its own code in wait, with what it was in meta.partial", async () => {
    await commands.agent("spawn", "--name", "seven", "--", "sh", "-c", "exit 7");
    const waited = await told("json", ["wait", "seven"]);
    expect(waited.exit).toBe(2);
    const { error, meta } = lastOf(waited.stdout);
    expect(error).toMatchObject({ code: "AGENT_FAILED", retryable: false });
    expect(error.detail).toBe("AGENT_FAILED: `sh` exited with code 7.");
    expect(meta.partial).toMatchObject({ results: [{ name: "seven", exit_code: 7, end_cause: "policy" }] });
  });

  it("by its time ends a wait with TIMEOUT and 10", async () => {
    const argv = ["spawn", "--restart", "temporary", "--timeout", "100ms", "--wait", "--", "sleep", "60"];
    const ran = await told("ndjson", argv);
    expect(ran.exit).toBe(10);
    expect(lastOf(ran.stdout)).toMatchObject({ error: { code: "ETIMEOUT", details: { code: "TIMEOUT" } } });
  });

  it("by its deadline ends a wait with DEADLINE_PASSED and 10, and why tells it", async () => {
    const deadline = new Date(Date.now() + 3_000).toISOString();
    const how = ["--name", "late", "--restart", "permanent", "--deadline", deadline];
    const ran = await told("ndjson", ["spawn", ...how, "--wait", "--", "sleep", "60"]);
    expect(ran.exit).toBe(10);
    expect(lastOf(ran.stdout)).toMatchObject({
      error: { code: "ETIMEOUT", details: { code: "DEADLINE_PASSED" } },
    });
    expect((await told("text", ["why", "late"])).stdout).toContain(`its deadline has passed: ${deadline}`);
    expect((await told("text", ["info", "late"])).stdout).toContain(`deadline ${deadline}`);
    expect((await told("json", ["spawn", ...how, "--", "true"])).exit).toBe(10);
    expect((await told("json", ["spawn", "--deadline", "soon", "--", "true"])).exit).toBe(3);
  });

  it("and was restarted until the window was spent ends a wait with SUPERVISOR_GAVE_UP and 12, with the tries and the cause", async () => {
    const restarts = ["--restart", "permanent", "--max-restarts", "2/60s", "--backoff", "1ms..1ms"];
    const argv = ["spawn", ...restarts, "--wait", "--", "sh", "-c", "exit 1"];
    const json = await told("json", argv);
    expect(json.exit).toBe(12);
    const { error, meta } = lastOf(json.stdout);
    expect(error).toMatchObject({ code: "SUPERVISOR_GAVE_UP", retryable: true });
    expect(error.detail).toBe("AGENT_FAILED: `sh` exited with code 1.");
    expect(meta).toMatchObject({
      attempts: 3,
      backoff: "exponential 1ms..1ms",
      details: { cause: { code: "AGENT_FAILED" } },
    });
    const ndjson = await told("ndjson", argv);
    expect(lastOf(ndjson.stdout).error.details).toMatchObject({
      code: "SUPERVISOR_GAVE_UP",
      attempts: 3,
      backoff: "exponential 1ms..1ms",
      cause: { code: "AGENT_FAILED" },
    });
  });

  it("as its CLI does not run as root is not started again", async () => {
    const argv = ["spawn", "claude", "hi", "--permission", "allow", "--restart", "permanent", "--wait"];
    const { meta } = lastOf((await told("json", argv, claude(AS_ROOT))).stdout);
    expect(meta.partial).toMatchObject({ attempts: 1, end_cause: "unfixable" });
  });

  it("for want of a valid key is not started again, and is where its user asks for that", async () => {
    const program = claude(plays("real-e401.ndjson"));
    const argv = ["spawn", "claude", "hi", "--restart", "transient", "--backoff", "1ms..1ms", "--wait"];
    const once = lastOf((await told("json", argv, program)).stdout);
    expect(once.error.code).toBe("TOKEN_INVALID");
    expect(once.meta.partial).toMatchObject({ attempts: 1, end_cause: "unfixable" });
    const again = [...argv, "--on-unfixable", "restart", "--max-restarts", "1/60s"];
    const twice = lastOf((await told("json", again, program)).stdout);
    expect(twice.error.code).toBe("SUPERVISOR_GAVE_UP");
    expect(twice.meta.partial).toMatchObject({ attempts: 2, end_cause: "gave_up" });
  });

  it("and had nothing to say is told with the cause by output", async () => {
    const program = claude(plays("real-e401.ndjson"));
    await told(
      "json",
      ["spawn", "claude", "hi", "--name", "mute", "--restart", "temporary", "--wait"],
      program,
    );
    const said = await told("json", ["output", "mute"]);
    expect(lastOf(said.stdout).error).toMatchObject({
      code: "OUTPUT_NOT_FOUND",
      detail: expect.stringContaining("TOKEN_INVALID: "),
    });
  });
});

it("a wait whose time is up for a worker that waits for its provider's limit says until when", async () => {
  const program = claude(plays("real-e429.ndjson"));
  await told("json", ["spawn", "claude", "hi", "--name", "limited", "--restart", "transient"], program);
  await commands.agent(
    "watch",
    "limited",
    "--from",
    "0",
    "--kinds",
    "worker_restart_scheduled",
    "--tail",
    "1",
  );
  const waited = await told("ndjson", ["wait", "limited", "--timeout", "1s"]);
  expect(waited.exit).toBe(10);
  expect(lastOf(waited.stdout).error.details).toMatchObject({
    code: "TIMEOUT",
    attempts: 1,
    backoff: expect.any(String),
    retry_after: expect.any(Number),
  });
});
