/** The command as it is installed: files that are bundled each for itself and loaded when a command asks for them. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { wrap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { constants, Script } from "node:vm";
import { expect, it } from "vitest";

const bin = join(import.meta.dirname, "../../bin/agent");

it.each(["agent", "holdfast"])("a clone whose bin is on the PATH has the command: %s", (name) => {
  const { status, stdout } = spawnSync(join(dirname(bin), name), ["--version", "-o", "text"], {
    encoding: "utf8",
  });
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^\S*\s*\d+\.\d+\.\d+/) });
});

it("a failure of what is loaded apart keeps its code", () => {
  const home = mkdtempSync(join(tmpdir(), "holdfast-built-"));
  try {
    const argv = ["-o", "json", "--state-dir", home, "cas", "get", `sha256:${"0".repeat(64)}`];
    const { status, stdout } = spawnSync(process.execPath, [bin, ...argv], { encoding: "utf8" });
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "ARTIFACT_NOT_FOUND" } });
    expect(status).toBe(5);
  } finally {
    rmSync(home, { recursive: true });
  }
});

const root = dirname(dirname(bin));
/** Stands in the place of the client's compiled code: what a cut copy, another Node or a damaged disk leaves. */
const NOT_ITS_CODE: Readonly<Record<string, (code: Buffer) => Buffer | undefined>> = {
  none: () => undefined,
  "an empty file": () => Buffer.of(),
  half: (code) => code.subarray(0, code.length / 2),
  "that of another V8": (code) => Buffer.from(code.map((byte, at) => (at < 16 ? byte ^ 0xff : byte))),
};

it.each(Object.entries(NOT_ITS_CODE))("the client starts without its compiled code: %s", (_what, damaged) => {
  const copy = mkdtempSync(join(tmpdir(), "holdfast-code-"));
  try {
    for (const file of ["bin/agent", "bin/package.json", "dist/cli.cjs"])
      cpSync(join(root, file), join(copy, file));
    const code = damaged(readFileSync(join(root, "dist/cli.code")));
    if (code !== undefined) writeFileSync(join(copy, "dist/cli.code"), code);
    const { status, stdout, stderr } = spawnSync(process.execPath, [join(copy, "bin/agent"), "--version"], {
      encoding: "utf8",
      env: { HOME: copy },
    });
    expect({ status, stderr, ...JSON.parse(stdout) }).toMatchObject({ status: 0, stderr: "", ok: true });
  } finally {
    rmSync(copy, { recursive: true });
  }
});

it("the Node that has built the client takes its compiled code", () => {
  const program = join(root, "dist/cli.cjs");
  const script = new Script(wrap(readFileSync(program, "latin1")), {
    filename: program,
    cachedData: readFileSync(join(root, "dist/cli.code")),
    importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  expect(script.cachedDataRejected).toBe(false);
});

it("a failure that nobody has answered for is one sentence and exit code 1", () => {
  const gone = mkdtempSync(join(tmpdir(), "holdfast-gone-"));
  const { status, stdout, stderr } = spawnSync(
    "sh",
    ["-c", 'cd "$1" && rmdir "$1" && exec "$2" "$3" version', "sh", gone, process.execPath, bin],
    { encoding: "utf8" },
  );
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^error: .*working directory was likely removed.*\n$/);
});
