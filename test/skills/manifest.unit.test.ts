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

  it("has an image with the runner oci and with no other", () => {
    const of = (more: string) => problemsOf(`${least}${more}`);
    const digest = `sha256:${"0".repeat(64)}`;
    for (const image of ["python:3.12-slim", `ghcr.io/me/tool@${digest}`, digest, "localhost:5000/a/b:V1.0"])
      expect([image, of(`runner: oci\nimage: "${image}"\n`)]).toEqual([image, []]);
    for (const image of ["--privileged", "a b", "", "a@sha256:1", "A", "a;b"])
      expect([image, of(`runner: oci\nimage: "${image}"\n`).length > 0]).toEqual([image, true]);
    expect(of("runner: oci\n")).toEqual([expect.stringMatching(/^image: the runner oci needs an image/)]);
    expect(of("image: a\n")).toEqual([expect.stringMatching(/^image: /)]);
  });

  it("in a container has no secret whose name podman reads itself", () => {
    const of = (name: string, runner = "runner: oci\nimage: a\n") =>
      problemsOf(`${least}${runner}capabilities: {secrets: [${name}]}\n`);
    for (const name of ["PATH", "HOME", "LD_PRELOAD", "CONTAINER_HOST", "CONTAINERS_CONF", "HTTPS_PROXY"])
      expect([name, of(name)]).toEqual([
        name,
        [expect.stringMatching(/^capabilities.secrets: podman reads/)],
      ]);
    for (const name of ["WEATHER_KEY", "PATHS", "LOCATION", "HOMEPAGE_TOKEN"])
      expect([name, of(name)]).toEqual([name, []]);
    expect(of("LD_PRELOAD", "")).toEqual([]);
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
