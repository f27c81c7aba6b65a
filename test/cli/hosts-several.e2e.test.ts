/** One command on several hosts: state directories of this machine, each behind a program, as a host is. Real processes. */
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT } from "../support/built.ts";
import { type Commands, type Ended, makeCommands, type Running, until } from "./support/commands.ts";
import { Screen } from "./support/screen.ts";

let here: Commands;
let build: Commands;
let box: Commands;
/** Its daemon is away at first. */
let late: Commands;
const CUTS = 6;
const CUTTER = join(import.meta.dirname, "../fixtures/hosts/cuts.mjs");

/** `agent` is a word of the path there. */
const addressOf = ({ home }: Commands): string => {
  mkdirSync(join(home, "bin"));
  symlinkSync(AGENT, join(home, "bin/agent"));
  return `env HOLDFAST_HOME=${home} PATH=${join(home, "bin")}:${process.env.PATH}`;
};

beforeAll(async () => {
  [here, build, box, late] = [makeCommands(), makeCommands(), makeCommands(), makeCommands()];
  const [atBuild, atBox] = [addressOf(build), addressOf(box)];
  mkdirSync(join(here.home, "cutting"));
  const cutting = `${process.execPath} ${CUTTER} ${join(here.home, "cutting")} ${CUTS} ${atBox}`;
  writeFileSync(
    join(here.home, "config.yaml"),
    `hosts:\n  build: "exec:${atBuild}"\n  box: "exec:${atBox}"\n  cut: "exec:${cutting}"\n  late: "exec:${addressOf(late)}"\n`,
  );
  await Promise.all(
    [here, build, box].map(async (each, at) => {
      await each.agent("spawn", "--name", "runs", "--", "sleep", "1000");
      await each.agent("spawn", "--name", "counts", "--", "sh", "-c", `seq ${10 * (at + 1)}; exit 3`);
      await each.agent("wait", "counts");
    }),
  );
});
afterAll(async () => {
  await Promise.all([here, build, box, late].map((each) => each.close()));
});

interface HostRecord {
  readonly host: string;
  readonly cursor: string;
  readonly seq: number;
  readonly id: string;
  readonly type: string;
}
const recordsOf = ({ stdout }: Pick<Ended, "stdout">): readonly HostRecord[] =>
  stdout
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line))
    .filter(({ status, data }) => status === "progress" && data.seq !== undefined)
    .map(({ data }) => data);
const idsOf = (records: readonly HostRecord[], host: string): readonly string[] =>
  records.flatMap((record) => (record.host === host ? [record.id] : []));
const seqsOf = (watch: Running, host: string): readonly number[] =>
  recordsOf({ stdout: watch.out() }).flatMap((record) => (record.host === host ? [record.seq] : []));

describe("a read of several hosts", () => {
  it("has a row of each with its host, this machine's too", async () => {
    const { exit, data } = await here.agent("--host", "local,build", "--host", "box", "list");
    expect(exit).toBe(0);
    expect(data).toMatchObject(
      ["local", "build", "box"].map((host) => ({ host, name: "runs", state: "running" })),
    );
    const { stdout } = await here.text("--host", "box,local", "list");
    expect(stdout.split("\n").map((line) => line.split(/ +/)[0])).toEqual(["HOST", "box", "local", ""]);
    const quiet = await here.text("--host", "build,box", "list", "-q");
    expect(quiet.stdout).toMatch(/^build\/[0-9A-Z]{26}\nbox\/[0-9A-Z]{26}\n$/);
  });

  it.each(["tree", "usage", "inbox", "approvals", "capabilities", "daemon status", "skills list"])(
    "is possible by agent %s",
    async (words) => {
      const { exit, data } = await here.agent("--host", "build,box", ...words.split(" "));
      expect(exit).toBe(0);
      expect(Array.isArray(data)).toBe(true);
      expect((await here.text("--host", "build,box", ...words.split(" "))).exit).toBe(0);
    },
  );

  it("tells which one cannot be reached, and shows the others", async () => {
    const asked = ["--host", "build,exec:/nonexistent", "list"];
    const { exit, error, meta } = await here.agent(...asked);
    expect([exit, error?.code]).toEqual([2, "PARTIAL_FAILURE"]);
    expect(meta).toMatchObject({
      partial: { workers: [{ host: "build", name: "runs" }] },
      details: { hosts: [{ host: "exec:/nonexistent", code: "UNAVAILABLE" }] },
    });
    const shown = await here.text(...asked);
    expect([shown.exit, shown.stdout]).toEqual([2, expect.stringContaining("build  ")]);
    expect(shown.stderr).toContain("1 of 2 hosts failed. exec:/nonexistent:");
    expect((await here.agent("--host", "exec:false,", "--host", "exec:true", "list")).exit).toBe(12);
  });
});

describe("a worker as HOST/NAME", () => {
  it("is shown and killed there, as one of several hosts", async () => {
    const { data } = await here.agent("--host", "all", "info", "box/counts");
    expect(data).toEqual(expect.objectContaining({ name: "counts", state: "failed" }));
    const { error } = await here.agent("--host", "all", "info", "box/nobody");
    expect(error).toMatchObject({
      message: expect.stringMatching(/^box: .*nobody/),
      suggestion: expect.stringContaining("agent --host box list"),
    });
    await Promise.all(
      [build, box].map((each) => each.agent("spawn", "--name", "doomed", "--", "sleep", "1000")),
    );
    const { exit } = await here.agent("--host", "build,box", "kill", "build/doomed", "box/doomed");
    expect(exit).toBe(0);
    for (const each of [build, box])
      expect((await each.agent("info", "doomed")).data).toMatchObject({ state: "cancelled" });
  });

  it("is waited for, and the failures of all are the failure", async () => {
    const waited = await here.agent("--host", "build,box", "wait", "build/counts", "box/counts");
    expect([waited.exit, waited.error?.code]).toEqual([2, "AGENT_FAILED"]);
    expect(waited.meta).toMatchObject({
      partial: { hosts: [{ host: "build" }, { host: "box", results: [{ name: "counts" }] }] },
    });
  });

  it("has its lines in the logs of several", async () => {
    const { stdout } = await here.text("--host", "build,box", "logs", "build/counts", "box/counts");
    expect(stdout.match(/build\/counts\.1 +│ \d+$/gm)).toHaveLength(20);
    expect(stdout.match(/box\/counts\.1 +│ \d+$/gm)).toHaveLength(30);
  });
});

describe("a watch of several hosts", () => {
  it("continues all of them by the cursor of any record, without loss and double", async () => {
    const words = ["-o", "ndjson", "--host", "local,build,box", "watch", "--from"];
    const whole = here.start([...words, "0"]);
    const expected = [here, build, box].map(async (each) => {
      const { data } = await each.agent("daemon", "status");
      return data.head as number;
    });
    const total = (await Promise.all(expected)).reduce((a, b) => a + b);
    await until(() => recordsOf({ stdout: whole.out() }).length >= total);
    const all = recordsOf({ stdout: whole.out() });
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const middle = Math.floor(total / 2);
    const rest = here.start([...words, all[middle]!.cursor]);
    await until(() => recordsOf({ stdout: rest.out() }).length >= total - middle - 1);
    for (const running of [whole, rest]) running.child.kill("SIGINT");
    await Promise.all([whole.ended, rest.ended]);
    const resumed = recordsOf({ stdout: rest.out() });
    for (const host of ["local", "build", "box"])
      expect([...idsOf(all.slice(0, middle + 1), host), ...idsOf(resumed, host)]).toEqual(idsOf(all, host));
  });

  it(`goes on where it was after one link is cut ${CUTS} times`, async () => {
    const words = ["watch", "--from", "0", "-o", "ndjson"];
    const [alone, cut] = await Promise.all([
      box.start([...words, "counts"]).ended,
      here.start(["--host", "build,cut", ...words, "build/counts", "cut/counts"]).ended,
    ]);
    expect(idsOf(recordsOf(cut), "cut")).toEqual(recordsOf(alone).map(({ id }) => id));
    expect(idsOf(recordsOf(cut), "build").length).toBeGreaterThan(0);
    expect(cut.exit).toBe(alone.exit);
    const cuts = readFileSync(join(here.home, "cutting/cuts"), "utf8");
    expect(cuts.trimEnd().split("\n").length).toBeGreaterThan(1);
  });

  it("is joined by a host that was away: all of it since the watch began, or since its cursor", async () => {
    const words = ["-o", "ndjson", "--host", "build,late", "watch"];
    const isTold = (watch: Running) => () => watch.err().includes("Its records follow once it answers");
    const has = (watch: Running, host: string, type: string) => () =>
      recordsOf({ stdout: watch.out() }).some((record) => record.host === host && record.type === type);
    const first = here.start(words);
    await until(isTold(first));
    await late.agent("spawn", "--name", "early", "--", "true");
    await until(has(first, "late", "worker_ended"));
    expect(seqsOf(first, "late")).toEqual(seqsOf(first, "late").map((_, at) => at + 1));
    const { cursor, seq } = recordsOf({ stdout: first.out() }).findLast(({ host }) => host === "late")!;
    first.child.kill("SIGINT");
    await late.agent("daemon", "stop", "--kill-agents");
    const second = here.start([...words, "--from", cursor]);
    await until(isTold(second));
    await build.agent("spawn", "--name", "meanwhile", "--", "true");
    await until(has(second, "build", "worker_ended"));
    const placeOfLate = cursor.split(",").find((place) => place.endsWith(`:${seq}`));
    for (const record of recordsOf({ stdout: second.out() }))
      expect(record.cursor.split(",")).toContain(placeOfLate);
    await late.agent("daemon", "start");
    await until(has(second, "late", "daemon_started"));
    second.child.kill("SIGINT");
    expect(seqsOf(second, "late")).toEqual(seqsOf(second, "late").map((_, at) => seq + 1 + at));
    expect((await here.agent("--host", "exec:false", "--host", "exec:true", "watch")).exit).toBe(12);
    await Promise.all([first.ended, second.ended]);
  });

  it("refuses two names of one daemon", async () => {
    const { exit, meta } = await here.agent(
      "--host",
      "box,cut",
      "watch",
      "--from",
      "0",
      "box/counts",
      "cut/counts",
    );
    expect(exit).not.toBe(0);
    expect(JSON.stringify(meta.details)).toContain("are the same daemon");
  });
});

describe("agent top over several hosts", () => {
  it("shows the workers of each by HOST/NAME, and kills one where it runs", async () => {
    await Promise.all(
      [build, box].map((each) => each.agent("spawn", "--name", "victim", "--", "sleep", "1000")),
    );
    const screen = new Screen(here.home, "--host", "build,box", "top");
    await screen.shows(/build\/victim +running/);
    await screen.shows(/box\/victim +running/);
    screen.press("/box/vic\r");
    await screen.shows(/▸ box\/victim/);
    screen.press("k");
    await screen.shows(/Kill box\/victim\? y: yes/);
    screen.press("y");
    await screen.shows(/agent kill box\/victim/);
    expect((await box.agent("info", "victim")).data.status).toBe("cancelled");
    expect((await build.agent("info", "victim")).data.status).toBe("running");
    screen.press("/\x7f\x7f\x7f\x7f\x7f\x7f\x7fbuild/vic\r");
    await screen.shows(/▸ build\/victim/);
    await box.killDaemon();
    await screen.shows(/box: The daemon is gone/);
    screen.press("w");
    await screen.shows(/agent why build\/victim/);
    screen.press("qq");
    expect(await screen.ended).toBe(0);
    // Its agents go on without it: the next daemon ends them with the others.
    await box.agent("daemon", "start");
  });
});
