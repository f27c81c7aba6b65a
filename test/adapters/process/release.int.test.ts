/** A hole in a spool: what is left of it, how it is read, and a machine that can make none. */
import { appendFileSync, chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Releaser, releasedBelow } from "../../../src/adapters/process/release.ts";
import { readRaw } from "../../../src/runtime/reading/raw.ts";
import { temporaryDirectory } from "./support.ts";

const MIB = 1024 * 1024;

const makeSpool = (mib: number): string => {
  const path = join(temporaryDirectory(), "stdout");
  writeFileSync(path, Buffer.alloc(mib * MIB, "x"));
  return path;
};

const makeReleaser = () => {
  const told: string[] = [];
  return { told, releaser: new Releaser((message) => told.push(message)) };
};

/** A PATH that holds only this `fallocate`, or none. */
const withFallocate = (script: string | undefined): void => {
  const { PATH } = process.env;
  onTestFinished(() => {
    process.env.PATH = PATH;
  });
  const dir = temporaryDirectory();
  process.env.PATH = dir;
  if (script === undefined) return;
  const path = join(dir, "fallocate");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
};

test("freed output is told, not read as zeros; output after it keeps its place", async () => {
  const spool = makeSpool(4);
  // Stands for one that punches: whether this file system can is another matter.
  withFallocate("exit 0");
  const { releaser, told } = makeReleaser();
  expect(await releaser.release(spool, 0, 2 * MIB)).toBe(true);
  expect(await releaser.release(spool, 2 * MIB, 3 * MIB)).toBe(true);
  expect(releasedBelow(spool)).toBe(3 * MIB);
  expect(await readRaw(spool, MIB, 10)).toEqual({ base64: "", next: 3 * MIB, released: 2 * MIB });
  expect(await readRaw(spool, 4 * MIB - 1, 10)).toEqual({ base64: "eA==", next: 4 * MIB });
  expect(await readRaw(spool, 4 * MIB, 10)).toEqual({ base64: "", next: 4 * MIB });
  expect(releaser.held(spool, 3 * MIB)).toBe(MIB);
  appendFileSync(spool, "more");
  expect(releaser.held(spool, 4 * MIB)).toBe(4);
  expect(told).toEqual([]);
});

test.each([
  ["no fallocate", undefined],
  ["a file system without holes", 'echo "fallocate: fallocate failed: Operation not supported" >&2; exit 1'],
  ["a fallocate that knows no holes", 'echo "fallocate: unrecognized option: p" >&2; exit 1'],
])(
  "with %s nothing is released, which is told once, and all that is written counts as held",
  async (_what, script) => {
    withFallocate(script);
    const spool = makeSpool(2);
    const { releaser, told } = makeReleaser();
    expect(releaser.held(spool, MIB)).toBe(MIB);
    const answers = await Promise.all([releaser.release(spool, 0, MIB), releaser.release(spool, 0, MIB)]);
    expect(answers).toEqual([false, false]);
    expect(await releaser.release(spool, 0, MIB)).toBe(false);
    expect(told).toHaveLength(1);
    expect(readdirSync(dirname(spool))).toEqual(["stdout"]);
    expect(releaser.held(spool, MIB)).toBe(2 * MIB);
  },
);

test("one that fails otherwise is tried again, and releases take turns", async () => {
  const spool = makeSpool(2);
  const trace = `${spool}.trace`;
  withFallocate(
    `echo begin >>${trace}; echo "fallocate: Input/output error" >&2; echo end >>${trace}; exit 1`,
  );
  const { releaser, told } = makeReleaser();
  expect(await Promise.all([1, 2, 3].map(() => releaser.release(spool, 0, MIB)))).toEqual([
    false,
    false,
    false,
  ]);
  expect(readFileSync(trace, "utf8")).toBe("begin\nend\n".repeat(3));
  expect(told).toEqual([]);
  expect(await releaser.release(join(spool, "gone"), 0, MIB)).toBe(false);
  expect(releaser.held(join(temporaryDirectory(), "gone"), 0)).toBe(0);
  expect(statSync(spool).size).toBe(2 * MIB);
});

test.each([
  ["was refused leaves no note of a hole that is not there", "Permission denied", MIB],
  ["may have been made in part stays noted: zeros must not pass for output", "Input/output error", 2 * MIB],
])("one that %s", async (_what, said, noted) => {
  const spool = makeSpool(4);
  const { releaser } = makeReleaser();
  withFallocate(`echo "fallocate: fallocate failed: ${said}" >&2; exit 1`);
  expect(await releaser.release(spool, 0, MIB)).toBe(false);
  expect(readdirSync(dirname(spool))).toHaveLength(noted > MIB ? 2 : 1);
  withFallocate("exit 0");
  expect(await releaser.release(spool, 0, MIB)).toBe(true);
  withFallocate(`echo "fallocate: fallocate failed: ${said}" >&2; exit 1`);
  expect(await releaser.release(spool, MIB, 2 * MIB)).toBe(false);
  expect(releasedBelow(spool)).toBe(noted);
});
