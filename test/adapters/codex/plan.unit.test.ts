/** How codex is started. */
import { expect, test } from "vitest";
import { codex } from "../../../src/adapters/codex/index.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../src/protocol/worker.ts";

const specOf = (fields: Partial<WorkerSpecInput> = {}) =>
  WorkerSpec.parse({ kind: "codex", prompt: "Fix it.", cwd: "/", restart: "transient", ...fields });
const argvOf = (fields: Partial<WorkerSpecInput> = {}, session?: string) =>
  codex.plan({ spec: specOf(fields), worker_id: "W", incarnation: 1, session, binary: "codex" }).argv;

const QUIET = [
  "-c",
  "check_for_update_on_startup=false",
  "-c",
  "analytics.enabled=false",
  "-c",
  "features.unbounded_connection_retries=false",
];
const DENY = ["-c", 'approval_policy="never"', "-c", 'sandbox_mode="read-only"'];

test("it runs headless with JSON lines, reads only, and takes the prompt from a stdin that ends", () => {
  const plan = codex.plan({
    spec: specOf(),
    worker_id: "W",
    incarnation: 1,
    session: undefined,
    binary: "codex",
  });
  expect(plan).toEqual({
    argv: ["codex", "exec", "--json", "--skip-git-repo-check", ...QUIET, ...DENY, "-"],
    env: {},
    stdin: { kind: "text", text: "Fix it." },
  });
});

test("a known session is resumed, before one that was asked for", () => {
  const resumed = ["codex", "exec", "resume", "--json", "--skip-git-repo-check", ...QUIET, ...DENY];
  expect(argvOf({ session: "asked" })).toEqual([...resumed, "asked", "-"]);
  expect(argvOf({ session: "asked" }, "known")).toEqual([...resumed, "known", "-"]);
  expect(argvOf({ ext: { "agent_api.session.resume.v1": { selector: "last" } } })).toEqual([
    ...resumed,
    "--last",
    "-",
  ]);
});

test("permission allow bypasses the sandbox; a model is a quoted setting; extra arguments win over ours", () => {
  expect(argvOf({ permission: "allow", model: 'a"b', argv: ["-c", "analytics.enabled=true"] })).toEqual([
    "codex",
    "exec",
    "--json",
    "--skip-git-repo-check",
    "--dangerously-bypass-approvals-and-sandbox",
    ...QUIET,
    "-c",
    'model="a\\"b"',
    "-c",
    "analytics.enabled=true",
    "-",
  ]);
});

test("a fork is a mistake: codex exec cannot", () => {
  expect(codex.validate(specOf({ session: "s", fork: true }))).toEqual([
    "Kind codex cannot fork a session: leave --fork out to go on in the session itself.",
  ]);
  expect(codex.validate(specOf({ ext: { "agent_api.session.fork.v1": { selector: "last" } } }))[0]).toMatch(
    /not supported by kind codex/,
  );
});
