/** Runs of skills through a runtime: policy, records, breaker. On a machine without a sandbox, those that start something are counted as skipped. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BREAKER_FAILURES_MAX } from "../../src/base/limits.ts";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { errorOf, printed, type SkillPlace, skillPlace } from "./support.ts";

const isHere = "program" in (await lookForSandbox());

const denials = async ({ runtime }: SkillPlace) => {
  const found = [];
  for await (const record of runtime.watch(undefined, { from: 0, follow: false }))
    if (record.type === "skill_denied") found.push(record.payload);
  return found;
};

it("a denial by profile starts nothing and is a record with its rule", async () => {
  const place = await skillPlace({ skills: { profiles: { companion: [] } } });
  const how = { workspace: place.workspace, profile: "companion" } as const;
  expect(await errorOf(place.runtime.skills.run("fs/ls", {}, how))).toMatchObject({
    code: "POLICY_VIOLATION",
    info: { details: { rule: "profile", skill: "fs/ls", profile: "companion" } },
  });
  expect(await denials(place)).toEqual([
    expect.objectContaining({ skill: "fs/ls", rule: "profile", profile: "companion", by: "user" }),
  ]);
  expect(await place.runtime.list({ all: true })).toEqual([]);
});

it("is run by its name and by nothing else", async () => {
  const { runtime, workspace, stateDir } = await skillPlace();
  const spec = {
    kind: "skill",
    argv: ["fs/ls", "sha256:0"],
    cwd: workspace,
    sandbox: { net: "none" },
  } as const;
  expect(await errorOf(runtime.spawn(spec as never))).toMatchObject({ code: "INVALID_AGENT_KIND" });
  expect(await errorOf(runtime.skills.run("no/such", {}, { workspace }))).toMatchObject({
    code: "SKILL_NOT_FOUND",
  });
  mkdirSync(join(stateDir, "skills/pdf"), { recursive: true });
  writeFileSync(join(stateDir, "skills/pdf/SKILL.md"), "---\nname: pdf\ndescription: PDFs.\n---\n");
  const told = await errorOf(runtime.skills.run("skill/pdf", {}, { workspace }));
  expect(told.message).toContain("instructions");
});

describe.skipIf(!isHere)("a run", () => {
  it("answers with its data and how it was made, and is a worker", async () => {
    const { runtime, workspace } = await skillPlace();
    writeFileSync(join(workspace, "a.txt"), "one\n");
    const { data, run } = await runtime.skills.run("fs/ls", {}, { workspace });
    expect(data).toMatchObject({ files: 1 });
    expect(run).toMatchObject({ runner: "exec", workspace });
    expect(await runtime.info(run.job_id)).toMatchObject({ kind: "skill", status: "completed" });
  });

  it("a path out of the workspace is the skill's own denial, and a record too", async () => {
    const place = await skillPlace();
    const error = await errorOf(
      place.runtime.skills.run("fs/read", { path: "../../etc/passwd" }, { workspace: place.workspace }),
    );
    expect(error).toMatchObject({ code: "POLICY_VIOLATION", info: { details: { rule: "parent_segment" } } });
    expect(await denials(place)).toEqual([
      expect.objectContaining({ skill: "fs/read", rule: "parent_segment" }),
    ]);
  });

  it("keeps a private directory of each workspace from run to run", async () => {
    const place = await skillPlace();
    const script = `echo x >>$HOLDFAST_SKILL_STATE/n; GOT=$(wc -l <$HOLDFAST_SKILL_STATE/n)\n${printed("try/state", '{"got":"$GOT"}')}`;
    place.add("try/state", script, "capabilities: {state: true, files: none}\n");
    const other = join(place.root, "other");
    mkdirSync(other);
    const got = async (workspace: string) =>
      (await place.runtime.skills.run("try/state", {}, { workspace })).data.got;
    expect([await got(place.workspace), await got(place.workspace), await got(other)]).toEqual([
      "1",
      "2",
      "1",
    ]);
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  it("a skill that fails too often is given a rest; one that refuses its input is not", async () => {
    const place = await skillPlace();
    place.add("try/crash", "echo no >&2; exit 3");
    const run = () => errorOf(place.runtime.skills.run("try/crash", {}, { workspace: place.workspace }));
    for (let at = 0; at < BREAKER_FAILURES_MAX; at++)
      expect(await run()).toMatchObject({ code: "SKILL_FAILED" });
    expect(await run()).toMatchObject({ code: "SKILL_DOWN", info: { retry_after_s: 30 } });
    expect(await place.runtime.skills.info("try/crash", place.workspace)).toMatchObject({ breaker: "open" });
    for (let at = 0; at <= BREAKER_FAILURES_MAX; at++)
      expect(
        await errorOf(
          place.runtime.skills.run("fs/ls", { path: 1 as never }, { workspace: place.workspace }),
        ),
      ).toMatchObject({ code: "INVALID_REQUEST" });
  });
});
