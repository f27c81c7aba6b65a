/** The command as it is installed: files that are bundled each for itself and loaded when a command asks for them. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
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
