/** Manifests: what is not named is not given. */
import { describe, expect, it } from "vitest";
import { readManifest, readSkillFile } from "../../src/skills/manifest.ts";

const least = "name: weather/today\nsummary: The weather.\nrun: [./today.sh]\n";
const problemsOf = (text: string, read = readManifest): readonly string[] => {
  const reading = read(text);
  return "problems" in reading ? reading.problems : [];
};

describe("a skill.yaml", () => {
  it("has no network, no secrets and no state, and reads the workspace, unless it says otherwise", () => {
    expect(readManifest(least)).toMatchObject({
      manifest: {
        name: "weather/today",
        runner: "exec",
        capabilities: { network: "none", files: "read", secrets: [], state: false },
        limits: { timeout_ms: 60_000 },
      },
    });
  });

  it("names hosts with their ports", () => {
    const hosts = (list: string) => problemsOf(`${least}capabilities: {network: ${list}}`);
    expect(hosts('["api.example.com:443", "*.example.com:8443"]')).toEqual([]);
    for (const wrong of ['["api.example.com"]', '["*:443"]', "[]", "host", '["a:99999"]', '["A.com:1"]'])
      expect([wrong, hosts(wrong).length > 0]).toEqual([wrong, true]);
  });

  it("tells each mistake with its place", () => {
    expect(problemsOf("name: Weather\nrun: []\nsumary: x\n")).toEqual([
      expect.stringMatching(/^name: a name is NAMESPACE\/VERB/),
      expect.stringMatching(/^summary: /),
      expect.stringMatching(/^run: /),
      expect.stringMatching(/sumary/),
    ]);
    expect(problemsOf("name: [")).toHaveLength(1);
    expect(problemsOf("")).not.toEqual([]);
    expect(problemsOf(`${least}capabilities: {secrets: ["A B"]}`)).toHaveLength(1);
  });
});

describe("a SKILL.md", () => {
  const front = (more = "") =>
    `---\nname: pdf\ndescription: |\n  Works on\n  PDFs.\nlicense: MIT\n${more}---\n# Text\n`;

  it("is instructions, without anything to run", () => {
    expect(readSkillFile(front())).toEqual({
      instructions: { name: "skill/pdf", summary: "Works on PDFs." },
    });
  });

  it("is a skill where its front matter says what to run", () => {
    expect(readSkillFile(front("holdfast: {run: [python3, ./x.py]}\n"))).toMatchObject({
      manifest: { name: "skill/pdf", summary: "Works on PDFs.", run: ["python3", "./x.py"] },
    });
    expect(readSkillFile(front("holdfast: {name: pdf/text, run: [a]}\n"))).toMatchObject({
      manifest: { name: "pdf/text" },
    });
  });

  it("tells what its front matter has wrong", () => {
    expect(problemsOf("# Text\n", readSkillFile)).toEqual([expect.stringContaining("front matter")]);
    expect(problemsOf("---\nname: A B\n---\n", readSkillFile)).toHaveLength(2);
  });
});
