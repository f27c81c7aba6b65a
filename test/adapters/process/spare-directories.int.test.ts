/** The spare run directories: what a start gets of them, and when it makes its own instead. */
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { theReaper } from "../../../src/adapters/process/reaper.ts";
import {
  type MakeFiles,
  SPARE_FILES,
  SpareDirectories,
} from "../../../src/adapters/process/spare-directories.ts";
import { SPARE_DIRECTORIES_MAX } from "../../../src/base/limits.ts";
import { makeBench, printed, temporaryDirectory, until } from "./support.ts";

/** A start that comes before the next spare is ready makes its own directory. */
const STARTS_MAX = 50;

const CLOSES = 50;

/** As the fork server makes them. */
const makeFiles: MakeFiles = async (dir, names) => {
  await mkdir(dir, { mode: 0o700 });
  await Promise.all(names.map((name) => writeFile(join(dir, name), "", { mode: 0o600, flag: "wx" })));
  return true;
};

/** One, and no more. */
const make = () => {
  const runsDir = temporaryDirectory();
  const home = join(runsDir, ".spare");
  let made = 0;
  const spare = new SpareDirectories(runsDir, async (dir, names) => ++made === 1 && makeFiles(dir, names));
  onTestFinished(() => spare.close());
  const prepared = async (): Promise<string> => {
    spare.prepare();
    await until(() => spare.isReady, "the spare is ready");
    return join(home, readdirSync(home)[0] as string);
  };
  return { runsDir, home, spare, prepared, dir: join(runsDir, "W", "1") };
};

test("is moved once, with files of its user alone, also to a worker that has no directory yet", async () => {
  const { spare, prepared, dir } = make();
  expect(spare.take(dir)).toBe(false);
  await prepared();
  expect(spare.take(dir)).toBe(true);
  expect(readdirSync(dir).sort()).toEqual(SPARE_FILES.toSorted());
  expect(statSync(dir).mode & 0o777).toBe(0o700);
  for (const file of readdirSync(dir)) expect(statSync(join(dir, file)).mode & 0o777).toBe(0o600);
  expect(spare.take(join(dir, "../2"))).toBe(false);
});

test("one more is kept ready after each start that found none, up to a bound", async () => {
  const runsDir = temporaryDirectory();
  let made = 0;
  const spare = new SpareDirectories(runsDir, async (dir, names) => {
    await makeFiles(dir, names);
    made += 1;
    return true;
  });
  onTestFinished(() => spare.close());
  let run = 0;
  /** Takes all that are ready, and asks for one that is missing. */
  const takeAll = (): number => {
    for (let taken = 0; ; taken += 1) if (!spare.take(join(runsDir, "W", String(++run)))) return taken;
  };
  expect(takeAll()).toBe(0);
  for (let n = 1; n <= SPARE_DIRECTORIES_MAX + 2; n += 1) {
    const wanted = made + Math.min(n, SPARE_DIRECTORIES_MAX);
    spare.prepare();
    await until(() => made === wanted, "all are made");
    expect(takeAll()).toBe(Math.min(n, SPARE_DIRECTORIES_MAX));
  }
});

test("never takes the place of a directory, even of an empty one: that incarnation was begun", async () => {
  const { spare, prepared, dir } = make();
  await prepared();
  mkdirSync(dir, { recursive: true });
  expect(spare.take(dir)).toBe(false);
  expect(readdirSync(dir)).toEqual([]);
});

test.each([
  ["writes to a file of it", (spare: string) => writeFileSync(join(spare, "stdout"), "forged")],
  ["keeps a name of a file of it", (spare: string) => linkSync(join(spare, "stderr"), `${spare}.link`)],
  ["puts a link in a place of it", (spare: string) => relink(join(spare, "run.json"))],
  ["removes it", (spare: string) => rmSync(spare, { recursive: true })],
  ["puts a link in its place", (spare: string) => relink(spare)],
])("is not used if somebody %s", async (_sin, tamper) => {
  const { spare, prepared, dir } = make();
  tamper(await prepared());
  expect(spare.take(dir)).toBe(false);
  expect(existsSync(dir)).toBe(false);
});

const relink = (path: string): void => {
  rmSync(path, { recursive: true });
  symlinkSync("/tmp", path);
};

test("of a daemon that was killed is removed by the next one, and its own by its end", async () => {
  const { runsDir, home, spare } = make();
  mkdirSync(join(home, "run-1-1"), { recursive: true });
  spare.prepare();
  await until(() => !existsSync(join(home, "run-1-1")), "the old one is gone");
  await spare.close();
  expect(readdirSync(runsDir)).toEqual([]);
});

test("that is being made when its daemon ends is removed too", async () => {
  for (let n = 0; n < CLOSES; n += 1) {
    const { runsDir, spare } = make();
    spare.prepare();
    await spare.close();
    expect(readdirSync(runsDir)).toEqual([]);
  }
});

describe.skipIf(theReaper() === undefined)("a start", () => {
  test("takes the spare, and its agent writes to the files of it", async () => {
    const { launch, runsDir, spawner } = makeBench();
    const home = join(runsDir, ".spare");
    const inode = (path: string): number => statSync(path).ino;
    let hasTaken = false;
    for (let n = 0; n < STARTS_MAX && !hasTaken; n += 1) {
      const spares = (existsSync(home) ? readdirSync(home) : []).map((name) => inode(join(home, name)));
      const run = await launch(["echo", String(n)]);
      await run.exited;
      expect(printed(run)).toBe(`${n}\n`);
      hasTaken = spares.includes(inode(dirname(run.spool("stdout"))));
    }
    expect(hasTaken).toBe(true);
    await spawner.close();
    expect(existsSync(home)).toBe(false);
  });
});
