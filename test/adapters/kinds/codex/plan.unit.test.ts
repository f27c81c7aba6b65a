/** How codex is started. */
import { expect, test } from "vitest";
import { codex } from "../../../../src/adapters/kinds/codex/index.ts";
import { modelAsked } from "../../../../src/protocol/extensions.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../../../src/protocol/worker.ts";

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
  "-c",
  "sandbox_workspace_write.exclude_slash_tmp=true",
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

const SPOKEN_WITH = ["codex", "app-server", ...QUIET];
const INITIALIZE = `${JSON.stringify({
  id: "holdfast:initialize",
  method: "initialize",
  params: { clientInfo: { name: "holdfast", title: "Holdfast", version: "1" } },
})}\n`;

test.each<Partial<WorkerSpecInput>>([
  { interactive: true },
  { permission: "ask" },
  { permission_rules: [{ tool: "shell", action: "allow" }] },
  { session: "s", fork: true },
  { ext: { "agent_api.session.fork.v1": { selector: "last" } } },
])("it is spoken with where %j needs it, with an open stdin", (fields) => {
  expect(codex.validate(specOf(fields))).toEqual([]);
  expect(codex.converses?.(specOf(fields))).toBe(true);
  const plan = codex.plan({
    spec: specOf(fields),
    worker_id: "W",
    incarnation: 1,
    session: undefined,
    binary: "codex",
  });
  expect(plan).toEqual({ argv: SPOKEN_WITH, env: {}, stdin: { kind: "open", text: INITIALIZE } });
});

test("other directories and extra arguments are settings of the server; everything else goes with its thread", () => {
  const ext = { "agent_api.exec.add_dirs.v1": { dirs: ["/a", "b"] } };
  expect(argvOf({ interactive: true, model: "m", permission: "allow", ext, argv: ["-c", "x=1"] })).toEqual([
    ...SPOKEN_WITH,
    "-c",
    'sandbox_workspace_write.writable_roots=["/a","/b"]',
    "-c",
    "x=1",
  ]);
});

const NON_INTERACTIVE = "agent_api.exec.non_interactive";
const POLICY = "backend.codex.exec.approval_policy";
const SANDBOX = "backend.codex.exec.sandbox_mode";

test.each<[Partial<WorkerSpecInput>, string, string]>([
  [{ permission: "deny" }, "never", "read-only"],
  [{ permission: "allow" }, "never", "danger-full-access"],
  [{ permission: "ask" }, "untrusted", "workspace-write"],
  [
    { permission: "allow", permission_rules: [{ tool: "x", action: "deny" }] },
    "untrusted",
    "workspace-write",
  ],
  [{ ext: { [SANDBOX]: "workspace-write" } }, "never", "workspace-write"],
  [
    { permission: "ask", ext: { [NON_INTERACTIVE]: false, [POLICY]: "on-request", [SANDBOX]: "read-only" } },
    "on-request",
    "read-only",
  ],
])("with %j its thread asks by %s in the sandbox %s", (fields, policy, sandbox) => {
  const spec = specOf({ interactive: true, ...fields });
  expect(codex.validate(spec)).toEqual([]);
  const state = codex.initial({ spec, incarnation: 1, session: undefined });
  expect(state).toMatchObject({ handshake: { wanted: { policy, sandbox } } });
});

test("policies by which nobody is asked are mistakes where somebody is to be asked", () => {
  const problems = (policy: string) =>
    codex.validate(specOf({ permission: "ask", ext: { [NON_INTERACTIVE]: false, [POLICY]: policy } }));
  expect(problems("never")[0]).toMatch(/contradicts --permission ask/);
  expect(problems("on-failure")[0]).toMatch(/use "on-request"/);
  expect(problems("untrusted")).toEqual([]);
});

test.each([
  [[], undefined, null],
  [[], "gpt-5", "gpt-5"],
  [["-m", "gpt-5-mini"], "gpt-5", "gpt-5-mini"],
  [["--model=gpt-5-mini"], undefined, "gpt-5-mini"],
  [["-c", 'model="gpt-5-mini"'], undefined, "gpt-5-mini"],
  [["-c", "model=a", "--config", "model=b"], undefined, "b"],
  [["-c", "model_provider=x", "-m"], "gpt-5", "gpt-5"],
])("the model of a worker with the arguments %j and --model %s is %s", (argv, model, asked) => {
  expect(modelAsked(codex, specOf({ argv, model }))).toBe(asked);
});
