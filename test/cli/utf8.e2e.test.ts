/** Text that is not UTF-8 is refused as it was typed, and never passed on as something else. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badArguments, badDirectory, badVariables, type RawProcess } from "../../src/cli/utf8.ts";
import { AGENT } from "../support/built.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

let commands: Commands;
let dir: string;
beforeAll(() => {
  commands = makeCommands();
  dir = mkdtempSync(join(tmpdir(), "holdfast-utf8-"));
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await commands.close();
});

/** By a shell: Node cannot pass bytes that are not UTF-8 to a child. */
const shell = (script: string) => {
  const { status, stdout } = spawnSync("/bin/bash", ["-c", script], {
    encoding: "utf8",
    env: {
      PATH: process.env.PATH,
      HOLDFAST_HOME: commands.home,
      HOLDFAST_VALIDATE: "1",
      AGENT: `${process.execPath} ${AGENT}`,
      DIR: dir,
    },
  });
  return { exit: status, envelope: JSON.parse(stdout.trimEnd().split("\n").at(-1)!) };
};

describe.skipIf(process.platform !== "linux")("a call with bytes that are no UTF-8", () => {
  it.each([
    ["in an argument", String.raw`$AGENT spawn -o json -- printf $'\xff\xc3'`, "argument"],
    [
      "in the directory",
      String.raw`mkdir "$DIR"/$'d\xff'; cd "$DIR"/$'d\xff'; $AGENT spawn -o json -- true`,
      "current directory",
    ],
    [
      "in a variable that the agent is to have",
      String.raw`LANG=$'de\xff' $AGENT spawn -o json -- true`,
      "variable LANG",
    ],
  ])("%s is refused, and nothing is started", (_what, script, named) => {
    const { exit, envelope } = shell(script);
    expect(exit).toBe(3);
    expect(envelope.error).toMatchObject({ code: "PARSE_ERROR", phase: "validation" });
    expect(envelope.error.message).toContain(named);
    expect(envelope.error.message).toContain("not valid UTF-8");
  });

  it("is told as EPARSE by Protocol v1", () => {
    const { envelope } = shell(String.raw`$AGENT spawn -o ndjson -- printf $'\xff'`);
    expect(envelope.error).toMatchObject({ code: "EPARSE", details: { code: "PARSE_ERROR" } });
  });

  it("is let be where nothing of it is passed on, and so is the character that stands for such bytes", () => {
    expect(shell(String.raw`OTHER=$'\xff' $AGENT spawn -o json --wait -- true`).exit).toBe(0);
    expect(shell(String.raw`$AGENT spawn -o json --wait -- printf $'\xef\xbf\xbd'`).exit).toBe(0);
  });
});

describe("bytes that Node cannot tell apart", () => {
  const raw = (text: Buffer | undefined): RawProcess => ({
    arguments: () => text,
    environment: () => text,
    directory: () => text,
  });
  const bad = Buffer.from([0x58, 0x3d, 0xff, 0x00, 0x61, 0x00]);
  it("is told by the kernel's bytes, and by nothing where there are none", () => {
    expect(badArguments(["X=\uFFFD", "a"], raw(bad))).toHaveLength(1);
    expect(badArguments(["X=\uFFFD", "a"], raw(undefined))).toEqual([]);
    expect(badArguments(["X", "a"], raw(bad))).toEqual([]);
    expect(badVariables({ X: "\uFFFD" }, raw(bad))).toEqual([
      "the value of the variable X is not valid UTF-8",
    ]);
    expect(badVariables({ Y: "\uFFFD" }, raw(bad))).toEqual([]);
    expect(badDirectory("/\uFFFD", raw(Buffer.from([0x2f, 0xff])))).toHaveLength(1);
    expect(badDirectory("/\uFFFD", raw(Buffer.from("/\uFFFD")))).toEqual([]);
  });
});
