/** A command that a person is told to type is a command that runs where they are. */
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { COMMAND_PROGRAM } from "../../../src/base/own-command.ts";
import { typedName } from "../../../src/cli/commands/programs.ts";

const root = dirname(dirname(COMMAND_PROGRAM));
const folder = (): string => {
  const path = mkdtempSync(join(tmpdir(), "holdfast-path-"));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

it("is the name under which PATH has this command", () => {
  const PATH = folder();
  symlinkSync(COMMAND_PROGRAM, join(PATH, "holdfast"));
  expect(typedName({ PATH }, "/")).toBe("holdfast");
  expect(typedName({ PATH: `${dirname(COMMAND_PROGRAM)}:${PATH}` }, "/")).toBe("agent");
});

it("is a path where PATH has somebody else's program, or none", () => {
  const PATH = folder();
  writeFileSync(join(PATH, "agent"), "#!/bin/sh\n", { mode: 0o755 });
  expect(typedName({ PATH }, root)).toBe("bin/agent");
  expect(typedName({}, "/nowhere")).toBe(COMMAND_PROGRAM);
});
