/**
 * `npm run chaos -- --minutes M --seed S`: the real daemon with twenty agents and their clients, faults from one seed, and
 * then the history checker (docs/explanation/chaos.md). It starts itself again in a mount namespace, where the state directory is a small
 * file system that can be filled; where none can be made that one fault is left out, and said so.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { daemonLogPath } from "../../../src/daemon/paths.ts";
import { randomOf } from "../../sim/random.ts";
import { figure } from "../../support/figures.ts";
import { endMarked, sleep, until } from "../client.ts";
import { Fleet } from "../fleet.ts";
import { checkHistory } from "../history.ts";
import { Nemesis } from "./faults.ts";
import { mayMount, mount } from "./namespace.ts";
import { FAULTS, type Fault, type FaultName, scheduleOf } from "./schedule.ts";
import { World } from "./world.ts";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    seed: { type: "string" },
    inside: { type: "string" },
    quiet: { type: "boolean", default: false },
  },
});
const minutes = Number(values.minutes);
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

if (values.inside === undefined) {
  const way = mayMount() ?? [];
  const given = ["--minutes", String(minutes), "--seed", String(seed), ...(values.quiet ? ["--quiet"] : [])];
  const inside = ["--inside", way.length === 0 ? "no-mount" : "mount"];
  const argv = [...way, process.execPath, fileURLToPath(import.meta.url), ...given, ...inside];
  process.exit(spawnSync(argv[0] as string, argv.slice(1), { stdio: "inherit" }).status ?? 1);
}

/** While nothing disables the daemon, work that is asked for is done within this time, on a busy machine too. */
const PROGRESS_MAX_MS = 60_000;
const PROBE_EVERY = 8;
/** Room for what a run of this length records, and not for much more. */
const DISK_MIB = Math.round(64 + 40 * minutes);
const CLIENTS = 3;
const CLIENT_PAUSE_MS = 200;

const canFill = values.inside === "mount";
const dir = mkdtempSync(join(tmpdir(), "holdfast-nemesis-"));
const stateDir = join(dir, "state");
const runsDir = join(dir, "runs");
for (const one of [stateDir, runsDir]) mkdirSync(one, { mode: 0o700 });
if (canFill) {
  mount("-t", "tmpfs", "-o", `size=${DISK_MIB}m,mode=700`, "holdfast", stateDir);
  mkdirSync(join(stateDir, "runs"), { mode: 0o700 });
  mount("--bind", runsDir, join(stateDir, "runs"));
}

const faults = scheduleOf(seed, minutes);
say(
  `nemesis: ${minutes} minutes from seed ${seed}, ${faults.length} faults${canFill ? "" : "; fill-disk is left out: nothing can be mounted here"}`,
);

const fleet = new Fleet(dir);
const world = await World.open(stateDir);
const nemesis = new Nemesis(world, fleet, canFill);
const failures: string[] = [];

const founded = async (): Promise<readonly string[]> => {
  for (let n = 0; n < 4; n += 1) await fleet.counter(world.daemon, 2);
  for (let n = 0; n < 4; n += 1) await fleet.restartedCounter(world.daemon, 2);
  for (let n = 0; n < 6; n += 1) await fleet.stubborn(world.daemon);
  const crashing = [await fleet.crasher(world.daemon), await fleet.crasher(world.daemon)];
  for (const tree of ["shop", "crew"]) await fleet.apply(world.daemon, tree);
  for (let n = 0; n < 2; n += 1) await fleet.talker(world.daemon);
  return crashing;
};

/** The work of clients all the time, whatever happens to the daemon under them. */
let isOver = false;
const client = async (n: number): Promise<void> => {
  const random = randomOf(seed + n);
  while (!isOver) {
    const { daemon } = world;
    const asked = async (): Promise<unknown> => {
      switch (random.weighted({ turn: 6, job: 2, kill: 1, restart: 1 })) {
        case "turn":
          return daemon.wait([await fleet.turn(daemon)]);
        case "job":
          return daemon.wait([await fleet.job(daemon, ["seq", "5"])]);
        case "kill":
          return fleet.kill(daemon, await fleet.stubborn(daemon));
        case "restart":
          return fleet.restart(daemon, random.pick(fleet.lasting));
      }
    };
    // A daemon that was killed hangs up; one that is stopped answers when it goes on.
    await asked().catch(() => undefined);
    await sleep(CLIENT_PAUSE_MS);
  }
};

/** Between disabling faults what is asked for is done; a refusal, of a disk that was full a moment ago, is asked again. */
const probe = async (after: Fault): Promise<void> => {
  let last = "no answer";
  let done = false;
  let given = false;
  const trying = async (): Promise<void> => {
    while (!done && !given) {
      try {
        await world.daemon.wait([await fleet.job(world.daemon, ["true"])]);
        done = true;
      } catch (cause) {
        last = (cause as Error).message;
        await sleep(CLIENT_PAUSE_MS);
      }
    }
  };
  void trying();
  await until("a job is done", () => done, PROGRESS_MAX_MS).catch(() =>
    failures.push(
      `no progress within ${PROGRESS_MAX_MS} ms after ${after.name} at ${after.at_ms} ms: ${last}`,
    ),
  );
  given = true;
};

const torment = async (): Promise<void> => {
  const began = performance.now();
  const lifting = new Set<Promise<void>>();
  let disabling = 0;
  for (const [n, fault] of faults.entries()) {
    await sleep(Math.max(0, fault.at_ms - (performance.now() - began)));
    if (!values.quiet && fault.name !== "none") say(`${String(fault.at_ms).padStart(7)} ms  ${fault.name}`);
    const lift = await nemesis.strike(fault);
    const disables = "isDisabling" in FAULTS[fault.name];
    if (disables) disabling += 1;
    const over = sleep(fault.hold_ms)
      .then(lift)
      .finally(() => {
        if (disables) disabling -= 1;
        lifting.delete(over);
      });
    lifting.add(over);
    if (n % PROBE_EVERY === 0 && disabling === 0) await probe(fault);
  }
  await Promise.all(lifting);
  // A waiter for a restart of the daemon gets it.
  await nemesis.replaceDaemon();
};

const concluded = async (crashing: readonly string[]): Promise<readonly string[]> => {
  const { daemon } = world;
  await fleet.unpause(daemon);
  await fleet.workedOff(daemon);
  for (const id of crashing) await fleet.kill(daemon, id);
  for (const tree of ["shop", "crew"]) await fleet.down(daemon, tree);
  await fleet.stopCounting(daemon);
  const lasts = async () => (await daemon.list()).filter(({ state }) => state === "running");
  await until("who shall last runs", async () => {
    const running = new Set((await lasts()).map(({ id }) => id));
    return fleet.lasting.every((id) => running.has(id));
  });
  const minimum = {
    records: Math.round(2_000 * minutes),
    acknowledged: Math.round(20 * minutes),
    ends: Math.round(20 * minutes),
    lines: Math.round(500 * minutes),
  };
  const standing = await fleet.history(daemon, minimum);
  const meanwhile = checkHistory(standing);
  await fleet.apply(daemon, "last");
  const turns = standing.records.filter(({ type }) => type === "turn_completed").length;
  // The kill of everything comes while a tree is being taken down.
  await Promise.all([fleet.down(daemon, "last"), daemon.request("agent/kill", { all: true, grace_ms: 200 })]);
  const over = await fleet.history(daemon, minimum, true);
  const check = await daemon.request<{ ok: boolean; findings: readonly string[] }>("db/check", {});
  const { kills, notes, done } = nemesis;
  const late = kills.inRestart / Math.max(1, kills.calm + kills.inRestart);
  say(
    `records ${over.records.length}, acknowledged ${fleet.acknowledged.length}, turns ${turns}, daemons ${world.starts}, kills of daemons ${notes.daemonKills}, of children ${kills.calm} and ${kills.inRestart} in a restart, refused on a full disk ${notes.refusals}, stopped on one ${notes.stops}, sockets made again ${notes.socketsMadeAgain}, upgrades ${notes.upgrades}, pauses ${notes.pauses}, records removed by retention ${notes.removed}, run directories tampered with ${notes.tampered}`,
  );
  const left = (Object.keys(FAULTS) as FaultName[]).filter((name) => (done.get(name) ?? 0) === 0);
  return [
    ...meanwhile,
    ...checkHistory(over),
    ...(check.ok ? [] : check.findings),
    ...nemesis.findings,
    ...left.map((name) => `the fault ${name} was not done`),
    ...(turns < 10 * minutes
      ? [`${turns} turns in ${minutes} minutes, at least ${10 * minutes} are asked for`]
      : []),
    ...(minutes >= 10 && notes.daemonKills < 2 * minutes
      ? [`only ${notes.daemonKills} kills of the daemon`]
      : []),
    ...(kills.calm + kills.inRestart >= 10 && (late < 0.35 || late > 0.65)
      ? [
          `${Math.round(late * 100)} % of the child kills fell into a restart of the daemon, about half is asked for`,
        ]
      : []),
  ];
};

const kept = (): string => {
  const keep = mkdtempSync(join(tmpdir(), "holdfast-nemesis-failed-"));
  for (const name of ["holdfast.db", "holdfast.db-wal"]) {
    try {
      copyFileSync(join(stateDir, name), join(keep, name));
    } catch {
      // It was not made.
    }
  }
  copyFileSync(`${stateDir}.said`, join(keep, "daemon.log"));
  // The logs of daemons that came by an upgrade.
  if (existsSync(daemonLogPath(stateDir))) copyFileSync(daemonLogPath(stateDir), join(keep, "upgraded.log"));
  return keep;
};

try {
  const crashing = await founded();
  const clients = Array.from({ length: CLIENTS }, (_, n) => client(n + 1));
  await torment();
  isOver = true;
  await Promise.all(clients);
  failures.push(...(await concluded(crashing)));
} catch (cause) {
  failures.push(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause));
} finally {
  isOver = true;
  if (failures.length > 0) {
    for (const failure of failures.slice(0, 20)) say(`FAILED ${failure}`);
    say(`  the log and what the daemons said: ${kept()}`);
    say(`  npm run chaos -- --minutes ${minutes} --seed ${seed}`);
  }
  await world.daemon.kill9();
  endMarked(world.storeId);
  fleet.close();
  if (canFill) spawnSync("umount", ["-R", stateDir]);
  rmSync(dir, { recursive: true, force: true });
}
figure("R9", {
  rounds: faults.length,
  failures: failures.length,
  note: `faults of ${minutes} minutes of nemesis, seed ${seed}`,
});
say(
  failures.length === 0
    ? "nothing was lost, nothing was done twice, nothing is left"
    : `${failures.length} findings`,
);
process.exit(failures.length === 0 ? 0 : 1);
