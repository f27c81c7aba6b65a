/** The fork server: what a launcher is given, what is told of its end, and a server that dies or hangs. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  ForkError,
  type ForkRequest,
  ForkServer,
  forkAlone,
  type LauncherListener,
} from "../../../src/adapters/process/fork-server.ts";
import { isAlive, readStat } from "../../../src/adapters/process/identity.ts";
import { theReaper } from "../../../src/adapters/process/reaper.ts";
import { SPARE_CLAIM } from "../../../src/adapters/process/run-directory.ts";
import { until } from "./support.ts";

const reaper = theReaper();
let dir: string;
let lost: Error[];
let server: ForkServer;
let files = 0;

/** Without a bound of its own it has the daemon's, which a busy machine keeps. */
const serve = (answerMaxMs?: number): void => {
  if (reaper === undefined) return;
  server?.close();
  server = new ForkServer(reaper.perl, reaper.calls, (cause) => lost.push(cause), answerMaxMs);
};
const SHORT_ANSWER_MS = 2_000;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-fork-"));
  lost = [];
  serve();
});
afterEach(() => {
  server?.close();
  rmSync(dir, { recursive: true, force: true });
});

const request = (script: string, over: Partial<ForkRequest> = {}): ForkRequest => {
  const name = String(++files);
  const [stdout, stderr] = [join(dir, `${name}.out`), join(dir, `${name}.err`)];
  return {
    cwd: dir,
    claimed: join(dir, `${name}.claimed`),
    program: "/bin/sh",
    args: ["-c", script],
    env: {},
    stdin: "/dev/null",
    stdout,
    stderr,
    ...over,
  };
};

/** Opens a FIFO for writing without waiting, which fails if nobody reads there. */
const isRead = (pipe: string): boolean => {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (cause) {
    expect(cause).toMatchObject({ code: "ENXIO" });
    return false;
  }
};

/** Collects the words of a launcher's parent. */
const follow = () => {
  const told: (number | null | "orphaned")[] = [];
  const follower: LauncherListener = {
    ended: (code) => told.push(code),
    orphaned: () => told.push("orphaned"),
  };
  return { told, follower };
};

const outcomeOf = async (asked: ForkRequest) => {
  const { told, follower } = follow();
  const launcher = await server.start(asked, follower);
  await until(() => told.length > 0, "the end is told");
  return { launcher, told, stdout: readFileSync(asked.stdout, "utf8") };
};

describe.skipIf(reaper === undefined)("a launcher of the fork server", () => {
  test("has its arguments, its environment and its files, and nothing else", async () => {
    writeFileSync(join(dir, "in"), "read\n");
    const env = { A: "b=c\nd", PERL5LIB: "/nowhere", EMPTY: "" };
    const asked = request(
      'cat; echo "$A|$PERL5LIB|$EMPTY|$1"; pwd; ls /proc/self/fd; tr "\\0" "\\n" </proc/$$/environ',
      {
        env,
        stdin: join(dir, "in"),
      },
    );
    const { stdout, told } = await outcomeOf({ ...asked, args: [...asked.args, "name", "ö ü"] });
    expect(told).toEqual([0]);
    // `ls` opens the directory itself, as its fourth descriptor.
    expect(stdout).toBe(
      `read\nb=c\nd|/nowhere||ö ü\n${dir}\n0\n1\n2\n3\nA=b=c\nd\n${stdout.includes("PERL5LIB=/nowhere\nEMPTY=") ? "PERL5LIB=/nowhere\nEMPTY=" : "EMPTY=\nPERL5LIB=/nowhere"}\n`,
    );
  });

  test("leads a session, and is the parent of what its own children leave", async () => {
    const asked = request('(setsid sh -c "sleep 0.3; ps -o ppid= -p \\$\\$" &) ; sleep 1; echo $$');
    const { launcher, stdout } = await outcomeOf(asked);
    const [orphan, self] = stdout.trim().split("\n").map(Number);
    expect([orphan, self]).toEqual([launcher.pid, launcher.pid]);
  });

  test.each([
    ["exit 7", 7],
    ["kill -9 $$", null],
    ["exit 0", 0],
  ])("tells how it ended: %s", async (script, code) => {
    expect((await outcomeOf(request(script))).told).toEqual([code]);
  });

  test("claims its run before its program begins; a run that is claimed already begins nothing", async () => {
    const asked = request("");
    const { launcher, stdout } = await outcomeOf({
      ...asked,
      args: ["-c", 'cat "$0"; cut -d " " -f 1,22 /proc/$$/stat', asked.claimed],
    });
    expect(stdout).toBe(`${launcher.pid} ${launcher.start_time}\n`.repeat(2));
    const again = request("echo began", { claimed: asked.claimed });
    const { told, follower } = follow();
    expect(await server.start(again, follower).catch((cause) => cause)).toMatchObject({ code: "EEXIST" });
    expect(existsSync(again.stdout)).toBe(false);
    expect(told).toEqual([]);
  });

  test("claims its run by a second name of a file that is there, which one that is claimed never gets", async () => {
    const own = join(dir, "run");
    const claimed = join(own, "claimed");
    expect(await server.makeFiles(own, [SPARE_CLAIM])).toBe(false);
    const begun = await server.start(request("true"), follow().follower);
    await until(() => !isAlive(begun), "the first one is over");
    expect(await server.makeFiles(own, [SPARE_CLAIM, "pid"])).toBe(true);
    expect(await server.makeFiles(own, ["other"])).toBe(false);
    expect(readdirSync(own).sort()).toEqual([SPARE_CLAIM, "pid"].sort());
    expect([own, claimed.replace("claimed", "pid")].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o600,
    ]);
    const asked = request("", { claimed });
    const { launcher, stdout } = await outcomeOf({ ...asked, args: ["-c", 'cat "$0"', claimed] });
    expect(stdout).toBe(`${launcher.pid} ${launcher.start_time}\n`);
    expect([readdirSync(own), statSync(claimed).nlink]).toEqual([["claimed", "pid"], 1]);

    writeFileSync(join(own, SPARE_CLAIM), "");
    const again = request("echo began", { claimed });
    const refused = await server.start(again, follow().follower).catch((cause) => cause);
    expect(refused).toMatchObject({ code: "EEXIST" });
    expect(existsSync(again.stdout)).toBe(false);
    expect(lost).toEqual([]);
  });

  test("makes its claim anew if something else has the name of the file that is there", async () => {
    for (const put of [
      (path: string) => symlinkSync("/dev/null", path),
      (path: string) => void execFileSync("mkfifo", [path]),
      (path: string) => mkdirSync(path),
    ]) {
      const own = mkdtempSync(join(dir, "run-"));
      put(join(own, SPARE_CLAIM));
      const claimed = join(own, "claimed");
      const { launcher } = await outcomeOf(request("true", { claimed }));
      expect(readFileSync(claimed, "utf8")).toBe(`${launcher.pid} ${launcher.start_time}\n`);
    }
  });

  test("that cannot begin is told by the system's name for it", async () => {
    const { follower } = follow();
    const failed = (over: Partial<ForkRequest>) =>
      server.start(request("", over), follower).catch((cause) => cause);
    expect(await failed({ program: join(dir, "none") })).toMatchObject({ code: "ENOENT" });
    expect(await failed({ cwd: join(dir, "none") })).toBeInstanceOf(ForkError);
    expect(await failed({ args: ["-c", "x".repeat(200_000)] })).toMatchObject({ code: "E2BIG" });
    for (const take of [
      (path: string) => writeFileSync(path, "text"),
      (path: string) => symlinkSync("/dev/null", path),
      (path: string) => void execFileSync("mkfifo", [path]),
    ]) {
      const taken = request("");
      take(taken.stdout);
      expect(await server.start(taken, follower).catch((cause) => cause)).toMatchObject({ code: "EEXIST" });
    }
    const empty = request("exit 0");
    writeFileSync(empty.stdout, "");
    expect((await outcomeOf(empty)).told).toEqual([0]);
    expect(lost).toEqual([]);
  });

  test("fifty at once all begin, each with an end of its own", async () => {
    const ends = await Promise.all(Array.from({ length: 50 }, (_, n) => outcomeOf(request(`exit ${n}`))));
    expect(ends.map(({ told }) => told)).toEqual(Array.from({ length: 50 }, (_, n) => [n]));
    expect(new Set(ends.map(({ launcher }) => launcher.pid)).size).toBe(50);
  });
});

describe.skipIf(reaper === undefined)("a fork server", () => {
  test("that is killed leaves its launchers alive, says so, and has a next one", async () => {
    const { told, follower } = follow();
    const launcher = await server.start(request(`while [ ! -e ${dir}/go ]; do sleep 0.05; done`), follower);
    process.kill(server.pid!, "SIGKILL");
    await until(() => told.length > 0, "the end is told");
    expect(told).toEqual(["orphaned"]);
    expect(lost.map(({ message }) => message)).toEqual([
      "The fork server has ended; the next start has another one.",
    ]);
    expect(isAlive(launcher)).toBe(true);
    expect((await outcomeOf(request("exit 3"))).told).toEqual([3]);
    writeFileSync(join(dir, "go"), "");
    await until(() => !isAlive(launcher), "it has ended");
  });

  test("that hangs costs the start that it was asked for, which begins nothing later", async () => {
    serve(SHORT_ANSWER_MS);
    await outcomeOf(request("exit 0"));
    const hung = server.pid!;
    process.kill(hung, "SIGSTOP");
    const asked = request(`echo begun >${dir}/late`);
    await expect(server.start(asked, follow().follower)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(lost).toHaveLength(1);
    await until(() => readStat(hung) === undefined, "it is gone");
    expect((await outcomeOf(request("exit 0"))).told).toEqual([0]);
    expect(existsSync(join(dir, "late"))).toBe(false);
  });

  test("that is lost while it makes a launcher takes that along", async () => {
    serve(SHORT_ANSWER_MS);
    const pipe = join(dir, "pipe");
    execFileSync("mkfifo", [pipe]);
    // Nobody writes there: the child waits for its stdin, and its server for the child.
    const asked = request(`echo begun >${dir}/late`, { stdin: pipe });
    await expect(server.start(asked, follow().follower)).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect((await outcomeOf(request("exit 0"))).told).toEqual([0]);
    // A killed process dies when the kernel gets to it.
    await until(() => !isRead(pipe), "nobody reads there any more");
    expect(existsSync(join(dir, "late"))).toBe(false);
  });

  test("ends with the process that has begun it, and leaves its launchers", async () => {
    const { follower } = follow();
    const launcher = await server.start(request("sleep 30"), follower);
    const { pid } = server;
    server.close();
    await until(() => readStat(pid!) === undefined, "it is gone");
    expect(isAlive(launcher)).toBe(true);
    process.kill(launcher.pid, "SIGKILL");
  });
});

test("the daemon forks by itself if there is no perl, and the same is told", async () => {
  const { told, follower } = follow();
  const asked = request("cat; exit 4", { env: { A: "b" } });
  const launcher = await forkAlone(asked, follower);
  await until(() => told.length > 0, "the end is told");
  expect({ told, pid: launcher.pid > 0 }).toEqual({ told: [4], pid: true });
  const failed = forkAlone(request("", { program: join(dir, "none") }), follower);
  await expect(failed).rejects.toMatchObject({ code: "ENOENT" });
});
