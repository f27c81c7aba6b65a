/**
 * Failures that users of other supervisors of agents have reported in public (docs/compared.md), each reproduced against the
 * daemon that is shipped. A title begins with the report that it answers.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { RecordType } from "../../src/protocol/records.ts";
import { nextVersion } from "../support/versions.ts";
import {
  AGENT,
  child,
  type Daemon,
  launchedDaemon,
  lives,
  makeCanary,
  makeLedger,
  marked,
  startDaemon,
  temporaryDirectory,
  until,
} from "./support.ts";
import { endedLater, upgrade } from "./upgrading.ts";

const fixture = (name: string): string => join(import.meta.dirname, "../fixtures/agents", name);
const COUNTS = 'i=0; while :; do i=$((i+1)); echo "line $i"; sleep 0.05; done';
const sh = (script: string): readonly string[] => ["sh", "-c", script];

const storeOf = async (daemon: Daemon): Promise<string> =>
  (await daemon.request<{ store_id: string }>("daemon/status", {})).store_id;
const isIn = (daemon: Daemon, id: string, state: string, incarnation = 1) =>
  until(`${id} is ${state} in incarnation ${incarnation}`, async () => {
    const now = await daemon.info(id);
    return now.state === state && now.incarnation === incarnation;
  });
/** Requests of one `agent wait`: the wait, and its watch for requests for permission. */
const REQUESTS_A_WAIT = 2;
/** They have reached the daemon; one that has not when the daemon dies is refused, and may be asked again. */
const areHeard = (daemon: Daemon, waits: number) =>
  until("the waits have reached the daemon", async () => {
    const { requests_in_flight } = await daemon.request<{ requests_in_flight: number }>("daemon/status", {});
    return requests_in_flight === waits * REQUESTS_A_WAIT + 1;
  });
/** Answers of `agent wait` in JSON, whatever became of the worker. */
const waiting = (daemon: Daemon, id: string): Promise<string> =>
  daemon.agentSays("wait", id, "-o", "json").then(
    ({ stdout }) => stdout,
    ({ stdout }: { stdout: string }) => stdout,
  );
/** Records of these workers so far; a history of named workers would wait for their end. */
const recordsOf = async <T extends RecordType>(
  daemon: Pick<Daemon, "history">,
  type: T,
  ids: readonly string[],
) => (await daemon.history([type])).filter(({ worker_id }) => ids.includes(worker_id ?? ""));

test("claude-code#79569: daemons that race and die one after the other drop no worker, and whoever waits is told of each end", async () => {
  const first = await startDaemon();
  const { stateDir } = first;
  const dir = temporaryDirectory();
  const go = join(dir, "go");
  const living = await Promise.all([1, 2, 3, 4].map(() => first.spawn(sh(COUNTS), { restart: "permanent" })));
  const once = await Promise.all(
    [1, 2].map(() => first.spawn(sh(`until [ -e ${go} ]; do sleep 0.02; done; exit 3`))),
  );
  const again = await Promise.all(
    [1, 2].map((n) => {
      const script = `[ -e ${go} ] && exec sleep 1000; until [ -e ${go} ]; do sleep 0.02; done; exit ${n}`;
      return first.spawn(sh(script), { restart: "transient" });
    }),
  );
  const all = [...living, ...once, ...again];
  await Promise.all(all.map((id) => isIn(first, id, "running")));
  const pids = new Map(await Promise.all(all.map(async (id) => [id, (await first.info(id)).pid!] as const)));
  const told = once.map((id) => waiting(first, id));
  await areHeard(first, told.length);

  let daemon: Daemon = first;
  for (let round = 1; round <= 5; round += 1) {
    await daemon.kill9();
    if (round === 2) {
      writeFileSync(go, "");
      await until("they have died alone", () => [...once, ...again].every((id) => !lives(pids.get(id)!)));
    }
    // As three clients do that each start a daemon: one wins, and the losers harm nobody.
    const racing = [1, 2, 3].map(() => launchedDaemon(stateDir));
    const answers = await Promise.all(racing.map((one) => one.answers()));
    expect(answers.filter(Boolean)).toHaveLength(1);
    daemon = racing[answers.indexOf(true)]!;
  }

  for (const id of living)
    expect(await daemon.info(id)).toMatchObject({ state: "running", incarnation: 1, pid: pids.get(id) });
  // A daemon that is killed before it has started an agent again leaves that to the next, in an incarnation of its own.
  await until("they run again", async () =>
    (await Promise.all(again.map((id) => daemon.info(id)))).every(
      ({ state, incarnation }) => state === "running" && incarnation > 1,
    ),
  );
  for (const id of once) expect(await daemon.info(id)).toMatchObject({ state: "failed" });
  for (const text of await Promise.all(told)) expect(text).toMatch(/"status":"failed".*"exit_code":3/);
  for (const id of [...once, ...again]) {
    const exits = await recordsOf(daemon, "worker_exited", [id]);
    expect(exits.filter(({ payload }) => payload.reason !== "start_failed")).toHaveLength(1);
  }
  for (const id of once) expect(await recordsOf(daemon, "worker_spawned", [id])).toHaveLength(1);
  for (const id of again) expect(await recordsOf(daemon, "worker_spawned", [id])).toHaveLength(2);
});

test("claude-code#87891: an upgrade takes up what lives, and neither what has ended nor what sleeps has a process", async () => {
  const daemon = await startDaemon();
  const storeId = await storeOf(daemon);
  endedLater(daemon.stateDir, storeId);
  const dir = temporaryDirectory();
  const canaries = Array.from({ length: 16 }, () => makeCanary(dir));
  const ended = await Promise.all(canaries.map(({ path }) => daemon.spawn([child("leaves-child.sh"), path])));
  const living = await Promise.all([1, 2, 3].map(() => daemon.spawn(sh(COUNTS))));
  const ledger = makeLedger(dir);
  const sleeping = await daemon.spawn([], {
    kind: "claude_code",
    interactive: true,
    passivate_ms: 100,
    env: { CLAUDE_BINARY: fixture("converses.mjs"), LEDGER: ledger.path },
  });
  await daemon.request("agent/send", { id: sleeping, text: "hello" });
  await daemon.wait(ended);
  await isIn(daemon, sleeping, "waiting");
  await Promise.all(living.map((id) => isIn(daemon, id, "running")));

  const owners = () => [...new Set(marked(storeId).map(({ worker }) => worker))].sort();
  const next = nextVersion();
  for (const agent of [next, AGENT, next]) {
    expect(await upgrade(agent, daemon.stateDir)).toMatchObject({ exit: 0, data: { effect: "updated" } });
    expect(owners()).toEqual([...living].sort());
  }
  expect(canaries.filter((canary) => canary.isHeld())).toEqual([]);
  expect(await recordsOf(daemon, "worker_adopted", [...ended, sleeping])).toEqual([]);
  // It sleeps, and is not forgotten.
  await daemon.request("agent/send", { id: sleeping, text: "again" });
  await until("it is awake", () => ledger.all().some(([, , , text]) => text === "again"));
});

test("claude-code#75540: workers that were killed by name stay dead over daemons, upgrades and lists", async () => {
  const daemon = await startDaemon();
  const storeId = await storeOf(daemon);
  endedLater(daemon.stateDir, storeId);
  const always = { restart: "permanent" } as const;
  const runs = await daemon.spawn(sh(COUNTS), always);
  const paused = await daemon.spawn(sh(COUNTS), always);
  const rests = await daemon.spawn(["false"], {
    ...always,
    backoff_min_ms: 600_000,
    backoff_max_ms: 600_000,
  });
  await Promise.all([runs, paused].map((id) => isIn(daemon, id, "running")));
  await isIn(daemon, rests, "backing_off");
  await daemon.request("agent/pause", { ids: [paused] });
  const killed = [runs, paused, rests];
  await daemon.kill(killed);

  const stayDead = async (one: Pick<Daemon, "list" | "history">) => {
    const workers = (await one.list()).filter(({ id }) => killed.includes(id));
    expect(workers.map(({ state, pid }) => [state, pid])).toEqual(killed.map(() => ["cancelled", null]));
    expect(await recordsOf(one, "worker_spawned", killed)).toHaveLength(killed.length);
    expect(marked(storeId)).toEqual([]);
  };
  await stayDead(daemon);
  await daemon.kill9();
  const second = await startDaemon(daemon.stateDir);
  await stayDead(second);
  await upgrade(nextVersion(), daemon.stateDir);
  await stayDead(second);
});

test("claude-code#92187: the session of a killed worker is free at once, and the next daemon takes it up for nobody", async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const env = { CLAUDE_BINARY: fixture("remembers.mjs"), CLAUDE_CONFIG_DIR: join(dir, "sessions") };
  const program = join(dir, "holds");
  writeFileSync(program, "#!/bin/sh\nexec sleep 1000\n", { mode: 0o755 });
  const spec = { kind: "claude_code", restart: "transient", env } as const;
  const id = await daemon.spawn([], { ...spec, prompt: "one" });
  await daemon.wait([id]);
  const { session_id } = await daemon.request<{ session_id: string }>("agent/info", { id });
  const holder = await daemon.spawn([], {
    ...spec,
    interactive: true,
    session: session_id,
    env: { ...env, CLAUDE_BINARY: program },
  });
  await isIn(daemon, holder, "running");
  const taken = daemon.request("agent/resume", { id, prompt: "two" });
  await expect(taken).rejects.toThrow(holder);
  await daemon.kill([holder]);
  await daemon.kill9();

  const next = await startDaemon(daemon.stateDir);
  expect(await next.info(holder)).toMatchObject({ state: "cancelled", pid: null, incarnation: 1 });
  const resumed = await next.agent("resume", id, "two", "--wait", "-o", "json");
  expect(resumed).toContain('"status":"completed"');
  const { id: successor } = (JSON.parse(resumed) as { data: { id: string } }).data;
  expect(await next.output(successor)).toBe("one / two");
  expect(await recordsOf(next, "worker_spawned", [holder])).toHaveLength(1);
});

test("claude-code#82963: a daemon that dies in the middle of a kill brings nobody back: the next one ends the kill", async () => {
  const daemon = await startDaemon();
  const canary = makeCanary(temporaryDirectory());
  const stubborn = `exec 9<>${canary.path}; trap "" TERM INT HUP; echo ready; while :; do sleep 0.05; done`;
  const id = await daemon.spawn(sh(stubborn), { restart: "permanent" });
  await until("it ignores", async () => (await daemon.output(id).catch(() => "")).includes("ready"));
  daemon.kill([id], 3_000).catch(() => undefined);
  await until("the kill is on record", async () => (await daemon.info(id)).state === "stopping");
  await daemon.kill9();
  expect(canary.isHeld()).toBe(true);

  const next = await startDaemon(daemon.stateDir);
  await next.wait([id]);
  expect(await next.info(id)).toMatchObject({ state: "cancelled", incarnation: 1 });
  expect(canary.isHeld()).toBe(false);
  expect(await recordsOf(next, "worker_spawned", [id])).toHaveLength(1);
});

test("claude-code#73631: a spawn waits for no agent and for no memory, and no other request waits for a spawn", async () => {
  const REPORTED_MS = 15_000;
  const daemon = await startDaemon();
  const go = join(temporaryDirectory(), "go");
  const took: number[] = [];
  const timed = async <T>(request: Promise<T>): Promise<T> => {
    const began = performance.now();
    const value = await request;
    took.push(performance.now() - began);
    return value;
  };
  const slow = await timed(daemon.spawn(sh(`until [ -e ${go} ]; do sleep 0.02; done; echo late`)));
  const others = await Promise.all(
    Array.from({ length: 24 }, () => timed(daemon.spawn(sh("echo here; exec sleep 1000")))),
  );
  await Promise.all(Array.from({ length: 24 }, () => timed(daemon.list())));
  const said = async (id: string): Promise<string> => daemon.output(id).catch(() => "");
  await until("all others have begun", async () => (await Promise.all(others.map(said))).every(Boolean));
  expect(await said(slow)).toBe("");
  writeFileSync(go, "");
  await until("the slow one speaks", async () => (await said(slow)) === "late\n");

  // The stall was a shortage of memory that was none. Here even a real one is told in the answer, and waited for in a queue.
  const poor = await startDaemon(join(temporaryDirectory(), "state"), {
    env: { HOLDFAST_MEM_MIN: "1000000G" },
  });
  const queued = await timed(poor.spawn(sh("echo here")));
  expect(await timed(poor.info(queued))).toMatchObject({ state: "pending", pid: null });
  expect((await poor.info(queued)).reason).toContain("waits for memory");
  expect(Math.max(...took)).toBeLessThan(REPORTED_MS);
});

test("openclaw#79355: an agent that exits before its last event has ended, for whoever waits, asks or comes later", async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const acp = (name: string, over: object) =>
    daemon.spawn([process.execPath, fixture("acp-agent.mjs")], {
      kind: "acp",
      env: { LEDGER: join(dir, name), HOME: join(dir, `${name}.home`) },
      ...over,
    });
  // It dies in the middle of its only turn.
  const dies = await acp("dies", { prompt: "die" });
  expect(await waiting(daemon, dies)).toContain('"status":"failed"');
  // It dies in a turn that somebody waits for.
  const asked = await acp("asked", { interactive: true });
  await isIn(daemon, asked, "running");
  const answer = await daemon.agentSays("ask", asked, "die", "-o", "json").catch((failed) => failed);
  expect(answer.stdout).toContain('"ok":false');
  // It ends well by its exit code, and has said nothing of the end of its turn.
  const program = join(dir, "claude");
  writeFileSync(program, '#!/bin/sh\necho \'{"type":"system","subtype":"init","session_id":"s"}\'\n', {
    mode: 0o755,
  });
  const silent = await daemon.spawn([], {
    kind: "claude_code",
    prompt: "hi",
    env: { CLAUDE_BINARY: program },
  });
  expect(await waiting(daemon, silent)).toContain('"status":"failed"');
  // It dies while no daemon is there to hear it, and a child of it keeps its stdout open.
  const canary = makeCanary(dir);
  const alone = await acp("alone", {
    prompt: "hang",
    argv: sh(`setsid sleep 1000 9<>${canary.path} & exec sleep 1000`),
  });
  await isIn(daemon, alone, "running");
  const told = waiting(daemon, alone);
  await areHeard(daemon, 1);
  const { pid } = await daemon.info(alone);
  await daemon.kill9();
  process.kill(pid!, "SIGKILL");
  await until("it is gone", () => !lives(pid!));
  const next = await startDaemon(daemon.stateDir);
  expect(await told).toContain('"status":"failed"');
  expect(await next.info(alone)).toMatchObject({ state: "failed" });
  expect(canary.isHeld()).toBe(false);
  for (const id of [dies, asked, silent, alone])
    expect(await recordsOf(next, "worker_exited", [id])).toHaveLength(1);
});

test("trinity#2433: no clock runs before the agent does, and a success after a watchdog's word is kept", async () => {
  const daemon = await startDaemon(undefined, { env: { HOLDFAST_MAX_RUNNING: "1" } });
  const dir = temporaryDirectory();
  const go = join(dir, "go");
  // It is admitted and waits for its slot, longer than any of its clocks allow.
  const first = await daemon.spawn(sh(`until [ -e ${go} ]; do sleep 0.02; done`));
  await isIn(daemon, first, "running");
  const clocks = { timeout_ms: 2_000, stall_ms: 1_000 };
  const began = performance.now();
  const queued = await daemon.spawn(sh("echo done"), clocks);
  await until("its clocks would have run out", () => performance.now() - began > 1.5 * clocks.timeout_ms);
  expect(await daemon.info(queued)).toMatchObject({ state: "pending", incarnation: 0 });
  writeFileSync(go, "");
  await daemon.wait([queued]);
  expect(await daemon.info(queued)).toMatchObject({ state: "completed", incarnation: 1 });

  // The watchdog takes it for stuck and asks; then it succeeds.
  const late = join(dir, "late");
  const quiet = await daemon.spawn(sh(`until [ -e ${late} ]; do sleep 0.02; done; echo result`), {
    stall_ms: 2_500,
  });
  await until(
    "it is asked about",
    async () => (await recordsOf(daemon, "worker_question", [quiet])).length > 0,
  );
  writeFileSync(late, "");
  await daemon.wait([quiet]);
  expect(await daemon.info(quiet)).toMatchObject({ state: "completed", incarnation: 1 });
  expect(await daemon.output(quiet)).toBe("result\n");

  // It is stopped for its time, and has its answer in its grace: the verdict says why it was stopped, the answer is there.
  const told = join(dir, "told");
  const hurried = await daemon.spawn(
    sh(`trap 'echo result; exit 0' TERM; touch ${told}; while :; do sleep 0.02; done`),
    { timeout_ms: 1_000, grace_ms: 60_000 },
  );
  await daemon.wait([hurried]);
  expect(existsSync(told)).toBe(true);
  expect(await daemon.output(hurried)).toBe("result\n");
  expect(await daemon.info(hurried)).toMatchObject({ state: "failed" });
});

test("orca#8459: live agents are no orphans, whoever has started them and however often orphans are looked for", async () => {
  const here = await startDaemon();
  const there = await startDaemon();
  const dir = temporaryDirectory();
  const canaries = [here, there].map(() => makeCanary(dir));
  // Busy, with a child in a session of its own, and with nobody who watches.
  const ids = await Promise.all(
    [here, there].map((daemon, at) => daemon.spawn([child("new-session.sh"), canaries[at]!.path])),
  );
  await until("they have their children", async () => {
    const texts = await Promise.all(
      [here, there].map((daemon, at) => daemon.output(ids[at]!).catch(() => "")),
    );
    return texts.every((text) => text.includes("ready"));
  });
  const stores = await Promise.all([here, there].map(storeOf));
  const before = stores.map((id) => marked(id).length);
  let daemon: Daemon = here;
  for (let boots = 1; boots <= 4; boots += 1) {
    await daemon.kill9();
    daemon = await startDaemon(here.stateDir);
  }
  // Another daemon, whose agents have lost theirs for a while, sees what it does not know.
  await there.kill9();
  const third = await startDaemon();
  onTestFinished(() => third.kill9());
  const last = await startDaemon(there.stateDir);
  expect(stores.map((id) => marked(id).length)).toEqual(before);
  expect(canaries.map((canary) => canary.isHeld())).toEqual([true, true]);
  for (const [one, id] of [
    [daemon, ids[0]!],
    [last, ids[1]!],
  ] as const) {
    expect(await one.info(id)).toMatchObject({ state: "running", incarnation: 1 });
    expect(await one.history(["run_orphaned", "worker_signal_sent"])).toEqual([]);
  }
  expect(await third.history(["run_orphaned"])).toEqual([]);
});
