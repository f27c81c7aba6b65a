/** In which order a spec is refused, and with which error (agent-event notes A.1, A.4 and A.5). */
import { describe, expect, test } from "vitest";
import type { AgentAdapter } from "../../src/adapters/adapter.ts";
import { claudeCode } from "../../src/adapters/kinds/claude-code/index.ts";
import { codex } from "../../src/adapters/kinds/codex/index.ts";
import { command } from "../../src/adapters/kinds/command/index.ts";
import { refusal } from "../../src/adapters/spec-refusal.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../src/protocol/worker.ts";

const KINDS = { claude_code: claudeCode, codex, command } as unknown as Record<string, AgentAdapter>;

const refused = (kind: string, fields: Partial<WorkerSpecInput>) => {
  const argv = kind === "command" ? ["true"] : [];
  const spec = WorkerSpec.parse({ kind, prompt: "Hi.", cwd: "/", restart: "temporary", argv, ...fields });
  const error = refusal(KINDS[kind]!, spec);
  return { code: error?.code, problems: error?.info.problems };
};
const codeOf = (kind: string, ext: WorkerSpecInput["ext"]) => refused(kind, { ext }).code;

test("a good plan is not refused", () => {
  for (const kind of Object.keys(KINDS))
    expect(refused(kind, {})).toEqual({ code: undefined, problems: undefined });
});

describe("a key that the kind does not take is UNSUPPORTED_CAPABILITY", () => {
  test.each([
    ["claude_code", "agent_api.nope.v1"],
    ["claude_code", "backend.codex.exec.sandbox_mode"],
    ["claude_code", "backend.claude_code.nope"],
    ["codex", "agent_api.exec.add_dirs.v2"],
    ["codex", "agent_api.exec.external_sandbox.v1"],
    ["command", "agent_api.config.model.v1"],
    ["command", "backend.command.thing"],
    // Capabilities that are no keys, and what is no key at all.
    ["claude_code", "agent_api.run"],
    ["claude_code", "agent_api.events"],
    ["claude_code", "agent_api.tools.structured.v1"],
    ["claude_code", "agent_api.session.handle.v1"],
    ["claude_code", "backend.claude_code.print_stream_json"],
    ["codex", "backend.codex.exec_stream"],
    ["claude_code", "Agent_api.config.model.v1"],
    ["claude_code", "model"],
    ["claude_code", ""],
    ["claude_code", "constructor"],
  ])("%s: %s", (kind, key) => {
    expect(refused(kind, { ext: { [key]: true } })).toEqual({
      code: "UNSUPPORTED_CAPABILITY",
      problems: [
        `Extension key ${key} is not supported by kind ${kind}: see \`agent capabilities ${kind}\`.`,
      ],
    });
  });
});

test("all mistakes are told, in the order: prompt, keys in lexicographic order, values, the rest", () => {
  const fields: Partial<WorkerSpecInput> = {
    ext: {
      "backend.z.b": 1,
      "agent_api.config.model.v1": "",
      "agent_api.zz": 1,
      "agent_api.exec.add_dirs.v1": {},
    },
    session: "-s",
  };
  const { code, problems } = refused("claude_code", fields);
  expect(code).toBe("UNSUPPORTED_CAPABILITY");
  expect(problems).toEqual([
    expect.stringContaining("agent_api.zz"),
    expect.stringContaining("backend.z.b"),
    "invalid agent_api.config.model.v1",
    "invalid agent_api.exec.add_dirs.v1.dirs",
    "A session id does not begin with a dash.",
  ]);
  const empty = refused("claude_code", { ...fields, prompt: "\u00a0 " });
  expect(empty.code).toBe("INVALID_REQUEST");
  expect(empty.problems?.[0]).toMatch(/^The prompt must not be empty/);
  expect(empty.problems?.slice(1)).toEqual(problems);
});

test("a value that is wrong is INVALID_REQUEST, and its message is exact", () => {
  expect(codeOf("codex", { "agent_api.config.model.v1": 7 })).toBe("INVALID_REQUEST");
  const error = refusal(
    KINDS.codex!,
    WorkerSpec.parse({
      kind: "codex",
      prompt: "Hi.",
      cwd: "/",
      restart: "temporary",
      ext: { "agent_api.config.model.v1": " " },
    }),
  );
  expect(error?.message).toBe("invalid agent_api.config.model.v1");
});

test("an adapter that looks at no key is looked after", () => {
  const careless = { ...KINDS.command!, validate: () => ["something else"] };
  const spec = WorkerSpec.parse({
    kind: "command",
    cwd: "/",
    restart: "temporary",
    ext: { "backend.x.y": 1 },
  });
  const error = refusal(careless, spec);
  expect(error?.code).toBe("UNSUPPORTED_CAPABILITY");
  expect(error?.info.problems).toHaveLength(2);
});

describe("capabilities are those of the instance", () => {
  const EXTERNAL = "agent_api.exec.external_sandbox.v1";
  test.each(["claude_code", "codex"])("%s has an external sandbox only where it is allowed", (kind) => {
    const base = KINDS[kind]!;
    const allowed = { ...base, ...base.configured!({ allow_external_sandbox_exec: true }) };
    const not = { ...base, ...base.configured!({ allow_external_sandbox_exec: false }) };
    expect(base.capabilities).not.toContain(EXTERNAL);
    expect(not.capabilities).toEqual(base.capabilities);
    expect(allowed.capabilities).toEqual([...base.capabilities, EXTERNAL]);
    const of = (ext: WorkerSpecInput["ext"], more: Partial<WorkerSpecInput> = {}) =>
      WorkerSpec.parse({ kind, prompt: "Hi.", cwd: "/", restart: "temporary", ext, ...more });
    expect(refusal(not, of({ [EXTERNAL]: true }))?.code).toBe("UNSUPPORTED_CAPABILITY");
    expect(refusal(allowed, of({ [EXTERNAL]: true }))).toBeUndefined();
    expect(refusal(allowed, of({ [EXTERNAL]: false }))).toBeUndefined();
    expect(refusal(allowed, of({ [EXTERNAL]: "yes" }))?.message).toBe(`invalid ${EXTERNAL}`);
    const interactive = of({ [EXTERNAL]: true, "agent_api.exec.non_interactive": false });
    expect(refusal(allowed, interactive)?.code).toBe("INVALID_REQUEST");
    expect(refusal(allowed, interactive)?.message).toContain(
      `${EXTERNAL}=true contradicts agent_api.exec.non_interactive=false`,
    );
    expect(refusal(allowed, of({ [EXTERNAL]: true }, { permission: "ask" }))?.message).toContain(
      "contradicts --permission ask",
    );
    const { argv, warnings } = allowed.plan({
      spec: of({ [EXTERNAL]: true }),
      incarnation: 1,
      session: undefined,
      worker_id: "w",
      binary: kind,
    });
    expect(argv.join(" ")).toMatch(/bypass/);
    expect(warnings).toEqual([
      "DANGEROUS: external sandbox exec policy enabled (agent_api.exec.external_sandbox.v1=true)",
    ]);
  });

  test("codex: it contradicts each policy of its own", () => {
    const allowed = { ...KINDS.codex!, ...codex.configured!({ allow_external_sandbox_exec: true }) };
    const ext = {
      [EXTERNAL]: true,
      "backend.codex.exec.sandbox_mode": "read-only",
      "backend.codex.exec.approval_policy": "never",
    };
    const spec = WorkerSpec.parse({ kind: "codex", prompt: "Hi.", cwd: "/", restart: "temporary", ext });
    expect(refusal(allowed, spec)?.info.problems).toEqual([
      `${EXTERNAL}=true contradicts backend.codex.exec.approval_policy: leave one of them out.`,
      `${EXTERNAL}=true contradicts backend.codex.exec.sandbox_mode: leave one of them out.`,
    ]);
  });
});

describe("non_interactive", () => {
  const key = "agent_api.exec.non_interactive";
  test("true is how it is; false needs somebody who is asked", () => {
    expect(refused("codex", { ext: { [key]: true } }).problems).toBeUndefined();
    expect(refused("codex", { ext: { [key]: false } }).problems).toEqual([
      `${key}=false needs --permission ask: somebody must be asked.`,
    ]);
    expect(refused("codex", { ext: { [key]: true }, permission: "ask" }).problems).toContain(
      `${key}=true contradicts --permission ask: leave one of them out.`,
    );
    expect(refused("codex", { ext: { [key]: 1 } }).problems).toEqual([`invalid ${key}`]);
  });
});

describe("add_dirs", () => {
  const key = "agent_api.exec.add_dirs.v1";
  const long = "d".repeat(1_024);
  test.each<[unknown, string]>([
    [null, key],
    [[], key],
    ["/a", key],
    [{ dirs: ["/a"], more: 1 }, key],
    [{}, `${key}.dirs`],
    [{ dirs: "/a" }, `${key}.dirs`],
    [{ dirs: [] }, `${key}.dirs`],
    [{ dirs: Array.from({ length: 17 }, () => "/a") }, `${key}.dirs`],
    [{ dirs: ["/a", " "] }, `${key}.dirs[1]`],
    [{ dirs: [7] }, `${key}.dirs[0]`],
    [{ dirs: ["/a", "/b", `${long}d`] }, `${key}.dirs[2]`],
    [{ dirs: ["a\0b"] }, `${key}.dirs[0]`],
  ])("%j is refused", (value, place) => {
    expect(refused("codex", { ext: { [key]: value as never } })).toEqual({
      code: "INVALID_REQUEST",
      problems: [`invalid ${place}`],
    });
  });

  test("they are trimmed, taken from the working directory, made normal by their letters, and each is there once", () => {
    const dirs = [" a ", "./a/", "/x/../y", "..", "~", "$HOME", long, "/w/b/a"];
    const fields = { cwd: "/w/b", ext: { [key]: { dirs } } };
    expect(refused("claude_code", fields).problems).toBeUndefined();
    const spec = WorkerSpec.parse({ kind: "claude_code", prompt: "Hi.", restart: "temporary", ...fields });
    const { argv } = claudeCode.plan({
      spec,
      incarnation: 1,
      session: undefined,
      worker_id: "w",
      binary: "claude",
    });
    const expected = ["/w/b/a", "/y", "/w", "/w/b/~", "/w/b/$HOME", `/w/b/${long}`];
    expect(argv.slice(5)).toEqual(expected.flatMap((dir) => ["--add-dir", dir]));
    const resumed = codex.plan({
      spec: { ...spec, kind: "codex" },
      incarnation: 2,
      session: "s",
      worker_id: "w",
      binary: "codex",
    });
    expect(resumed.argv.slice(0, 15)).toEqual([
      "codex",
      "exec",
      ...expected.flatMap((dir) => ["--add-dir", dir]),
      "resume",
    ]);
  });
});

describe("codex's own policies", () => {
  const approval = "backend.codex.exec.approval_policy";
  const sandbox = "backend.codex.exec.sandbox_mode";
  const settings = (ext: WorkerSpecInput["ext"]) => {
    const spec = WorkerSpec.parse({ kind: "codex", prompt: "Hi.", cwd: "/", restart: "temporary", ext });
    const { argv } = codex.plan({
      spec,
      incarnation: 1,
      session: undefined,
      worker_id: "w",
      binary: "codex",
    });
    return argv.filter((word) => /^(approval_policy|sandbox_mode)=/.test(word));
  };
  test("are words of its schema, and replace ours", () => {
    for (const mode of ["read-only", "workspace-write", "danger-full-access"]) {
      expect(codeOf("codex", { [sandbox]: mode })).toBeUndefined();
      expect(settings({ [sandbox]: mode })).toEqual(['approval_policy="never"', `sandbox_mode="${mode}"`]);
    }
    for (const bad of ["none", "", 1, null, ["read-only"]])
      expect(refused("codex", { ext: { [sandbox]: bad } }).problems).toEqual([`invalid ${sandbox}`]);
    expect(refused("codex", { ext: { [approval]: "always" } }).problems).toContain(`invalid ${approval}`);
    expect(codeOf("codex", { [approval]: "never" })).toBeUndefined();
  });
  test("an adapter that is not asked never approves", () => {
    for (const policy of ["untrusted", "on-failure", "on-request"])
      expect(refused("codex", { ext: { [approval]: policy } }).problems).toEqual([
        `${approval} must be "never" unless agent_api.exec.non_interactive is false.`,
      ]);
  });
  test("contradict --permission allow", () => {
    expect(refused("codex", { permission: "allow", ext: { [sandbox]: "read-only" } }).problems?.[0]).toMatch(
      /contradicts --permission allow/,
    );
  });
});
