/** The runner wasi: a module sees the directories that its manifest declares, and its escapes end at them. Counted as skipped without a sandbox. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readManifest } from "../../src/skills/manifest.ts";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { errorOf, type SkillPlace, skillPlace } from "./support.ts";
import { neverEnds, printsForever, readsFile, takesMemory, wantsSocket } from "./wasm-module.ts";

const isHere = "program" in (await lookForSandbox());

const add = ({ stateDir }: SkillPlace, bytes: Buffer, more = ""): void => {
  const folder = join(stateDir, "skills", "wasm");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "skill.wasm"), bytes);
  const manifest = `name: try/wasm\nsummary: A test.\nrunner: wasi\nrun: [skill.wasm]\n${more}`;
  writeFileSync(join(folder, "skill.yaml"), manifest);
};
const run = ({ runtime, workspace }: SkillPlace) => runtime.skills.run("try/wasm", {}, { workspace });

describe.skipIf(!isHere)("a module of WebAssembly", () => {
  it("reads the workspace that it is given, and says how it ran", async () => {
    const place = await skillPlace();
    writeFileSync(join(place.workspace, "a.txt"), "hello");
    add(place, readsFile("try/wasm", "a.txt"));
    const { data, run: how } = await run(place);
    expect(data).toEqual({ got: "hello" });
    expect(how.runner).toBe("wasi");
  });

  it.each(["../secret", "/etc/hostname", "/workspace/../secret", "link", "dir/secret", "/proc/self/environ"])(
    "does not read %s",
    async (path) => {
      const place = await skillPlace();
      writeFileSync(join(place.root, "secret"), "do not show this");
      symlinkSync(join(place.root, "secret"), join(place.workspace, "link"));
      symlinkSync(place.root, join(place.workspace, "dir"));
      add(place, readsFile("try/wasm", path));
      expect((await run(place)).data).toEqual({ got: "refused" });
    },
  );

  it("has no directory without files, and no socket", async () => {
    const place = await skillPlace();
    writeFileSync(join(place.workspace, "a.txt"), "hello");
    add(place, readsFile("try/wasm", "a.txt"), "capabilities: {files: none}\n");
    expect((await run(place)).data).toEqual({ got: "refused" });
    add(place, wantsSocket());
    expect(await errorOf(run(place))).toMatchObject({ code: "SKILL_FAILED" });
  });

  it("is ended at the bounds of its time, its output and its memory", async () => {
    const place = await skillPlace();
    add(place, neverEnds(), "limits: {timeout_ms: 1500}\n");
    expect(await errorOf(run(place))).toMatchObject({ code: "TIMEOUT" });
    // Its file is full long before that, and it does not look.
    add(place, printsForever(), "limits: {timeout_ms: 3000}\n");
    expect(await errorOf(run(place))).toMatchObject({ code: "SKILL_OUTPUT_TOO_LARGE" });
    add(place, takesMemory("try/wasm"), "limits: {memory_mb: 32}\n");
    expect((await run(place)).data).toEqual({ got: "full" });
  });
});

it("may name no hosts, and runs a .wasm file", () => {
  const head = "name: a/b\nsummary: A test.\nrunner: wasi\n";
  const problems = (text: string) => {
    const read = readManifest(head + text);
    return "problems" in read ? read.problems.join() : "";
  };
  expect(problems("run: [a.wasm]\n")).toBe("");
  expect(problems("run: [a.wasm]\ncapabilities: {network: ['a.example:443']}\n")).toContain("has no network");
  expect(problems("run: [./run.sh]\n")).toContain(".wasm");
});
