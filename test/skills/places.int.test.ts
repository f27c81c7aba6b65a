/** The places of skills, and which of two with one name counts. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { SKILL_FILE_MAX_BYTES } from "../../src/base/limits.ts";
import { BUILTINS } from "../../src/skills/builtin/index.ts";
import { findSkill, findSkills } from "../../src/skills/places.ts";

const made = () => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-places-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const workspace = join(root, "work");
  const [stateDir, configured] = [join(root, "state"), join(root, "more")];
  const of = { state: join(stateDir, "skills"), configured, project: join(workspace, ".holdfast/skills") };
  const put = (place: keyof typeof of, folder: string, text: string, file = "skill.yaml") => {
    mkdirSync(join(of[place], folder), { recursive: true });
    writeFileSync(join(of[place], folder, file), text);
  };
  const places = { stateDir, directories: [configured], builtins: BUILTINS };
  return { put, places, workspace, of };
};
const manifest = (name: string, summary = "A test.") => `name: ${name}\nsummary: ${summary}\nrun: [./run]\n`;

it("the first place wins: built-in, state directory, configuration, project", () => {
  const { put, places, workspace } = made();
  for (const place of ["state", "configured", "project"] as const) {
    put(place, "one", manifest("a/one", place));
    put(place, place, manifest(`a/${place}`));
  }
  put("configured", "two", manifest("a/two", "configured"));
  put("project", "two", manifest("a/two", "project"));
  const origins = Object.fromEntries(findSkills(places, workspace).map(({ name, origin }) => [name, origin]));
  expect(origins).toMatchObject({
    "fs/ls": "built_in",
    "a/one": "state",
    "a/two": "configured",
    "a/project": "project",
  });
});

it("a reserved name is nobody else's, and a mistake is told and not run", () => {
  const { put, places, workspace } = made();
  put("state", "mine", manifest("http/openapi"));
  put("state", "broken", "name: Broken\n");
  put("state", "large", "#".repeat(SKILL_FILE_MAX_BYTES + 1));
  put("state", "pdf", "---\nname: pdf\ndescription: PDFs.\n---\n", "SKILL.md");
  const found = (name: string) => findSkills(places, workspace).find((one) => one.name === name);
  expect(found("broken")).toMatchObject({
    manifest: null,
    problems: [expect.stringContaining("skill.yaml: name"), expect.anything(), expect.anything()],
  });
  expect(found("large")?.problems).toEqual([expect.stringContaining("is over")]);
  expect(found("skill/pdf")).toMatchObject({ manifest: null, problems: [], summary: "PDFs." });
  const mine = findSkills(places, workspace).filter(({ folder }) => folder?.endsWith("/mine"));
  expect(mine.every((one) => one.manifest === null && one.problems.length === 1)).toBe(true);
});

it("follows no link to a manifest or a folder", () => {
  const { put, places, workspace, of } = made();
  put("configured", "real", manifest("a/real"));
  mkdirSync(join(of.project, "linked"), { recursive: true });
  symlinkSync(join(of.configured, "real/skill.yaml"), join(of.project, "linked/skill.yaml"));
  symlinkSync(join(of.configured, "real"), join(of.project, "link"));
  const names = findSkills({ ...places, directories: [] }, workspace).map(({ name }) => name);
  expect(names).not.toContain("a/real");
});

it("names the nearest where there is none", () => {
  const { places, workspace } = made();
  expect(() => findSkill(places, workspace, "fs/lss")).toThrow(
    expect.objectContaining({ code: "SKILL_NOT_FOUND", suggestion: expect.stringContaining("fs/ls") }),
  );
});
