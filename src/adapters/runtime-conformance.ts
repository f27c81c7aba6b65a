/**
 * The duties of every runtime, as cases for any test runner: `for (const c of runtimeConformance(open)) test(c.title,
 * c.check)`. `check` rejects if the runtime breaks the duty. `open` gives each case a runtime of its own, and says how a run
 * of it is made to print, to fail, to wait or to be deaf. A runtime that cannot do a thing declares the lack, and the case then
 * holds it to the lack: nothing is skipped.
 */
import assert from "node:assert/strict";
import { type DutyCase, dutyCases } from "../base/duties.ts";
import { CONFORMANCE_POLL_MS, CONFORMANCE_WAIT_MS } from "../base/limits.ts";
import type { RunExit } from "../protocol/incarnation.ts";
import type { SpoolName } from "./adapter.ts";
import type { LaunchRequest, ObservedRun, Run, RunId, RuntimeSpawner } from "./spawner.ts";

/** The behaviour of a run of a case. */
export type RunBehaviour =
  /** Prints these lines to its stdout, and ends with this code. */
  | { readonly does: "prints"; readonly lines: readonly string[]; readonly code: number }
  /** Prints `ready`, and runs until TERM ends it. */
  | { readonly does: "waits" }
  /** Prints `ready`, and runs on whatever it is asked; only `kill` ends it. */
  | { readonly does: "is_deaf" }
  /** Prints what its open input says, and ends with code 0 at the end of it. Only for the ability `input`. */
  | { readonly does: "echoes" };

/** A thing that a runtime may lack. `outliving`: a run lives on when its daemon is gone, and the next one finds it. */
export type RuntimeLack = "pause" | "input" | "outliving";

export interface RuntimeConformanceOptions {
  /** Things that the runtime does not claim. Default: none. */
  readonly lacks?: readonly RuntimeLack[];
}

/** `opens_with`: the text with which the open input of a run begins. Default: it has an input only if it echoes. */
export type BenchRequest = Pick<LaunchRequest, "argv" | "cwd" | "env"> & { readonly opens_with?: string };

export interface RuntimeBench {
  readonly runtime: RuntimeSpawner;
  /** The code of a run that fails, for a runtime that knows only one. Default: 3. */
  readonly failure_code?: number;
  /** The part of a request that makes a run do this. All lines are JSON. */
  request(behaviour: RunBehaviour): BenchRequest;
  /** Closes the runtime, and gives what the next daemon has: another one over the same runs. */
  reopen(): Promise<RuntimeSpawner>;
  /** Called at the end of a case: ends what is left. */
  close(): Promise<void>;
}

export type RuntimeCase = DutyCase;

export const runtimeConformance = (
  open: () => Promise<RuntimeBench>,
  { lacks = [] }: RuntimeConformanceOptions = {},
): readonly RuntimeCase[] =>
  dutyCases({ cases: CASES, lacks: LACKS }, lacks, async ({ check, needs, isLacked }) => {
    const bench = await open();
    try {
      if (needs !== undefined) claims(bench.runtime, needs, isLacked);
      await check(new CaseBench(bench));
    } finally {
      await bench.close();
    }
  });

/** The abilities of the runtime and its declared lacks say the same. */
const claims = ({ abilities }: RuntimeSpawner, needs: RuntimeLack, isLacked: boolean): void => {
  if (needs === "outliving") return;
  if (isLacked)
    assert(!abilities.has(needs), `the runtime has the ability ${needs}, and declares to lack it`);
  else
    assert(
      abilities.has(needs),
      `the runtime has no ability ${needs}: declare it with runtimeConformance(open, { lacks: ["${needs}"] })`,
    );
};

const ID: RunId = { worker_id: "conformance", incarnation: 1 };

class CaseBench {
  readonly bench: RuntimeBench;
  runtime: RuntimeSpawner;

  constructor(bench: RuntimeBench) {
    this.bench = bench;
    this.runtime = bench.runtime;
  }

  launch(behaviour: RunBehaviour): Promise<Run> {
    const { opens_with, ...request } = this.bench.request(behaviour);
    const text = opens_with ?? (behaviour.does === "echoes" ? "" : undefined);
    const stdin = text === undefined ? ({ kind: "empty" } as const) : ({ kind: "open", text } as const);
    return this.runtime.launch({ ...ID, ...request, stdin });
  }

  /** A run that has said that it is ready. */
  async ready(behaviour: RunBehaviour): Promise<Run> {
    const run = await this.launch(behaviour);
    await until("the run prints `ready`", () => printed(run, "stdout").includes("ready"));
    return run;
  }

  /** The next daemon comes: all that it knows is what was on record. */
  async reopen(run: Run): Promise<ObservedRun> {
    run.dispose();
    this.runtime = await this.bench.reopen();
    return this.observe(run);
  }

  observe({ posix, ref }: Run): Promise<ObservedRun> {
    const processes = posix && { agent: posix.agent, launcher: posix.launcher };
    return this.runtime.observe({ ...ID, processes, ref });
  }

  async lives(): Promise<boolean> {
    return (await this.runtime.living()).some(isTheRun);
  }
}

const isTheRun = ({ worker_id, incarnation }: RunId): boolean =>
  worker_id === ID.worker_id && incarnation === ID.incarnation;

const until = async (what: string, condition: () => boolean | Promise<boolean>): Promise<void> => {
  const deadline = performance.now() + CONFORMANCE_WAIT_MS;
  while (!(await condition())) {
    assert(performance.now() < deadline, `not within ${CONFORMANCE_WAIT_MS} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, CONFORMANCE_POLL_MS));
  }
};

/** All output, read in steps of so many bytes. */
const printed = (run: Run, stream: SpoolName, step = 65_536): string => {
  const opened = run.source(stream).open();
  if (opened === undefined) return "";
  try {
    const parts: Buffer[] = [];
    for (let at = 0; at < opened.size; ) {
      const part = opened.read(at, Buffer.alloc(Math.min(step, opened.size - at)));
      assert(part.length > 0, `there is nothing at offset ${at} of ${opened.size}`);
      parts.push(Buffer.from(part));
      at += part.length;
    }
    return Buffer.concat(parts).toString();
  } finally {
    opened.close();
  }
};

const exited = async (run: Run): ReturnType<typeof exitOf> => {
  await until("the run has ended", () => Promise.race([run.exited.then(() => true), later(false)]));
  return exitOf(run);
};
const exitOf = (run: Run) => run.exited;
const later = <A>(value: A): Promise<A> => new Promise((resolve) => setImmediate(() => resolve(value)));

const LINES = ["one", "two: ünïcode", "x".repeat(10_000)].map((text) => JSON.stringify(text));
const TEXT = LINES.map((line) => `${line}\n`).join("");

/** Rejects if the runtime breaks it. */
type Duty = (bench: CaseBench) => Promise<void>;

const starts: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  assert.deepEqual([run.worker_id, run.incarnation], [ID.worker_id, ID.incarnation]);
  assert.equal(run.process(), "running");
  assert(await bench.lives(), "`living` does not name it");
};

const startsOnce: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  await assert.rejects(bench.launch({ does: "waits" }), "a second launch of the same run succeeded");
  assert.equal((await bench.runtime.living()).filter(isTheRun).length, 1);
  assert.equal(run.process(), "running");
};

const beats: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  for (let look = 0; look < 3; look += 1) assert.equal(run.process(), "running");
  let isTold = false;
  run.onOutput(() => {
    isTold = true;
  });
  await run.kill();
  await exited(run);
  assert.equal(run.process(), "dead");
  await until("`onOutput` calls its listener at the exit", () => isTold);
};

const prints: Duty = async (bench) => {
  const run = await bench.launch({ does: "prints", lines: LINES, code: 0 });
  await exited(run);
  assert.equal(printed(run, "stdout"), TEXT);
  assert.equal(printed(run, "stdout", 7), TEXT, "the same offsets give other bytes in small steps");
  assert.equal(run.source("stdout").size(), Buffer.byteLength(TEXT));
  assert.equal(await run.source("stdout").tail(4), 'xx"\n');
};

const completes: Duty = async (bench) => {
  const { exit_code, signal, reason } = await exited(
    await bench.launch({ does: "prints", lines: [], code: 0 }),
  );
  assert.deepEqual({ exit_code, signal, reason }, { exit_code: 0, signal: null, reason: "exited" });
  await until("`living` no longer names it", async () => !(await bench.lives()));
};

const FAILURE_CODE = 3;

const fails: Duty = async (bench) => {
  const { failure_code: code = FAILURE_CODE } = bench.bench;
  const { exit_code, reason } = await exited(await bench.launch({ does: "prints", lines: [], code }));
  assert.deepEqual({ exit_code, reason }, { exit_code: code, reason: "exited" });
};

const cancels: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  assert.notEqual((await run.signal("SIGTERM")).length, 0, "the signal has reached nothing");
  const exit = await exited(run);
  assert.notEqual(exit.exit_code, 0, "a run that was ended by a signal is told as completed");
  assert.deepEqual(await run.signal("SIGTERM"), [], "a signal after the end has reached something");
  assert.deepEqual(await run.kill(), [], "a kill after the end has reached something");
};

const kills: Duty = async (bench) => {
  const run = await bench.ready({ does: "is_deaf" });
  await run.signal("SIGTERM");
  assert.equal(run.process(), "running");
  await run.kill();
  assert.notEqual((await exited(run)).exit_code, 0);
};

/** A run that has ended is observed with the same end and the same output. */
const endsAs = async (seen: ObservedRun, exit: RunExit): Promise<void> => {
  assert.equal(seen.kind, "finished", `a run that has ended is observed as ${seen.kind}`);
  if (seen.kind !== "finished") return;
  assert.deepEqual(seen.exit, exit);
  assert.deepEqual(await exited(seen.run), exit);
  assert.equal(printed(seen.run, "stdout"), TEXT);
  seen.run.dispose();
};

const isTerminal: Duty = async (bench) => {
  const { failure_code: code = FAILURE_CODE } = bench.bench;
  const run = await bench.launch({ does: "prints", lines: LINES, code });
  const exit = await exited(run);
  await endsAs(await bench.observe(run), exit);
  await endsAs(await bench.observe(run), exit);
  await assert.rejects(bench.launch({ does: "waits" }), "a run that has ended was launched again");
  // The process that writes the exit down ends after it: `living` may name the run for a moment more.
  await until("`living` no longer names it", async () => !(await bench.lives()));
};

const staysTerminal: Duty = async (bench) => {
  const run = await bench.launch({ does: "prints", lines: LINES, code: 0 });
  const exit = await exited(run);
  await endsAs(await bench.reopen(run), exit);
  await endsAs(await bench.observe(run), exit);
  await assert.rejects(bench.launch({ does: "waits" }), "a run that has ended was launched again");
};

/** A run of an earlier daemon is over, and the next one says so. */
const isLost: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  const seen = await bench.reopen(run);
  assert(
    seen.kind === "lost" || seen.kind === "finished",
    `an earlier daemon's run is observed as ${seen.kind}`,
  );
  assert.notEqual((await exited(seen.run)).exit_code, 0, "a run that was cut off is told as completed");
  assert(!(await bench.lives()), "`living` names a run of an earlier daemon");
  seen.run.dispose();
};

const hasNoPause: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  assert.deepEqual([run.pause, run.unpause], [undefined, undefined], "a run can be paused after all");
};

const hasNoInput: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  assert.equal(run.input, undefined, "a run has an input after all");
};

const isObserved: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  const before = printed(run, "stdout");
  const seen = await bench.reopen(run);
  assert.equal(seen.kind, "running", `a living run is observed as ${seen.kind}`);
  if (seen.kind !== "running") return;
  assert.equal(seen.run.process(), "running");
  assert.equal(printed(seen.run, "stdout"), before, "the output from its first byte on is another one");
  await seen.run.signal("SIGTERM");
  const exit = await exited(seen.run);
  seen.run.dispose();
  const after = await bench.observe(run);
  assert(after.kind === "finished", `a run that has ended is observed as ${after.kind}`);
  assert.deepEqual(after.exit, exit, "the same end is told in two ways");
  after.run.dispose();
};

const isUnknown: Duty = async ({ runtime }) =>
  assert.equal((await runtime.observe(ID)).kind, "never_started");

const isLetGo: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  run.dispose();
  assert(await bench.lives(), "a run that was let go has ended");
  const { survivors } = await bench.runtime.end(ID);
  assert.deepEqual(survivors, []);
  await until("`living` no longer names it", async () => !(await bench.lives()));
};

const releases: Duty = async (bench) => {
  const run = await bench.launch({ does: "prints", lines: LINES, code: 0 });
  await exited(run);
  const source = run.source("stdout");
  const size = source.size();
  const half = Math.floor(size / 2);
  const isDone = await source.release(0, half);
  assert.equal(source.size(), size, "a release has moved the offsets");
  assert(!isDone || source.releasedBelow() >= half, "a release is not told by `releasedBelow`");
  const opened = source.open();
  const rest = opened?.read(half, Buffer.alloc(size - half)).toString();
  opened?.close();
  assert.equal(rest, Buffer.from(TEXT).subarray(half).toString(), "a release has changed the bytes after it");
  assert(source.held(size) <= source.held(0), "ingested output holds more than output that is not");
};

const pauses: Duty = async (bench) => {
  const run = await bench.ready({ does: "waits" });
  assert(run.pause !== undefined && run.unpause !== undefined, "a run has no `pause` or no `unpause`");
  await run.pause();
  await run.pause();
  await until("it stands still", () => run.process() === "stopped");
  await run.unpause();
  await until("it goes on", () => run.process() === "running");
  await run.pause();
  await run.signal("SIGTERM");
  await exited(run);
};

const HELLO = '"hello"\n';

const converses: Duty = async (bench) => {
  const run = await bench.launch({ does: "echoes" });
  const { input } = run;
  assert(input !== undefined, "a run has no `input`");
  const start = input.stdin_start;
  await input.write(HELLO);
  assert.equal(input.stdinBytes(), start + HELLO.length);
  assert.equal(Buffer.from(input.stdinFrom(start)).toString(), HELLO);
  await until("it answers", () => printed(run, "stdout") === HELLO);
  assert.equal(input.isStdinClosed(), false);
  await input.closeStdin();
  assert.equal(input.isStdinClosed(), true);
  assert.equal((await exited(run)).exit_code, 0);
};

/** The lack in words, and the duty of a runtime that has it. */
const LACKS: Readonly<Record<RuntimeLack, readonly [string, Duty]>> = {
  pause: ["no run can be paused", hasNoPause],
  input: ["no run has an input", hasNoInput],
  outliving: ["runs end with their daemon", isLost],
};

const CASES: readonly (readonly [string, Duty, RuntimeLack?])[] = [
  ["start: a launched run lives, and is named by `living`", starts],
  ["start: a second launch of the same run starts nothing", startsOnce],
  ["heartbeat: the state of a run is what it is, until it is dead", beats],
  ["output: every byte is there, at an offset that does not change", prints],
  ["output: a release moves no offset and changes no later byte", releases],
  ["completion: a run that ends well has exited with code 0", completes],
  ["failure: a run that ends with a code has that code", fails],
  ["cancel: TERM ends a run that listens, and nothing is reached after the end", cancels],
  ["cancel: `kill` ends a run that is deaf to TERM", kills],
  ["terminal: the end of a run is the same for ever, and nothing reopens it", isTerminal],
  ["terminal: the next daemon finds the same end, and nothing reopens it", staysTerminal, "outliving"],
  [
    "observation: the next daemon finds a living run, its output from the first byte, and one end",
    isObserved,
    "outliving",
  ],
  ["observation: a run that nobody launched was never started", isUnknown],
  ["letting go: a run lives on, and `end` ends it", isLetGo],
  ["pause: a run stands still, goes on, and acts on TERM while paused", pauses, "pause"],
  ["input: what is written is kept and read, up to its end", converses, "input"],
];
