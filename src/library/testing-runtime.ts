/** `openForTest`: a runtime without processes. Its agents are scripts, and the test moves its clock. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Context, Effect, Layer, Scope } from "effect";
import { TestClock as Clock } from "effect/testing";
import { TEST_CLOCK_STEP_MS, TEST_QUIET_TURNS, TEST_SETTLE_TURNS_MAX } from "../base/limits.ts";
import { VERSION } from "../base/version.ts";
import { openRuntime } from "../runtime/open.ts";
import { type MemorySpawner, makeMemorySpawner } from "./memory-spawner.ts";
import type { OpenOptions } from "./options.ts";
import { promised } from "./promises.ts";
import { Runtime } from "./runtime.ts";
import { type Scripts, stage } from "./testing-agents.ts";

export interface TestOptions extends Scripts, Pick<OpenOptions, "limits" | "report"> {
  /** Random numbers from 0 to 1 for the jitter of backoffs. Default: always 0, the shortest wait. */
  readonly random?: () => number;
}

export interface TestClock {
  /** Milliseconds since the runtime was opened. */
  now(): number;
  /** Advances the clock, a second at a time. Everything that is due happens in between: backoffs, timeouts, stalls, `sleep` of agents. */
  advance(ms: number): Promise<void>;
}

export interface TestRuntime extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly clock: TestClock;
  /** The runs: their requests, signals and input; `failNext` makes launches fail. */
  readonly spawner: MemorySpawner;
  /** Resolves when nothing more happens until the clock advances. */
  settled(): Promise<void>;
  /** Ends all agents and removes the log with its directory. */
  close(): Promise<void>;
}

/** Starts no process and writes only a log, in a temporary directory of its own. */
export const openForTest = async (options: TestOptions = {}): Promise<TestRuntime> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-test-"));
  const scope = Scope.makeUnsafe();
  const { limits, report = () => undefined, random = () => 0 } = options;
  const clocks = Clock.layer({ warningDelay: "365 days" });
  const context = await Effect.runPromise(Scope.provide(Layer.build(clocks), scope));
  const run = onClock(context);
  await run(Clock.setTime(Date.now()));
  const memory = makeMemorySpawner();
  const sleep = (ms: number): Promise<void> => run(Effect.sleep(ms));
  const { spawner, registry } = stage({ scripts: options, memory, sleep, report });
  const machine = { uptimeMs: () => undefined, memAvailableBytes: () => undefined };
  const world = { spawner, machine, random };
  const api = await run(
    Scope.provide(openRuntime({ stateDir: dir, version: VERSION, registry, report, limits, world }), scope),
  );
  const runtime = Runtime.over({ api, registry, isOwner: true, scope, run, report });
  let passed = 0;
  const step = (ms: number): Promise<void> => {
    passed += ms;
    return run(Clock.adjust(ms));
  };
  const close = async (): Promise<void> => {
    let isClosed = false;
    const closed = runtime.close().finally(() => {
      isClosed = true;
    });
    // The clock continues during the close, so that graces and delays of a stop pass.
    for (await settled(); !isClosed; await settled()) await step(TEST_CLOCK_STEP_MS);
    await closed;
    rmSync(dir, { recursive: true, force: true });
  };
  return {
    runtime,
    spawner: memory,
    settled,
    clock: {
      now: () => passed,
      advance: async (ms) => {
        await settled();
        for (let left = ms; left > 0; left -= TEST_CLOCK_STEP_MS) {
          await step(Math.min(left, TEST_CLOCK_STEP_MS));
          await settled();
        }
      },
    },
    close,
    [Symbol.asyncDispose]: close,
  };
};

const onClock =
  (context: Context.Context<Clock.TestClock>): typeof promised =>
  (effect, signal) =>
    promised(Effect.provideContext(effect, context), signal);

/**
 * Waits until nothing runs that does not wait for the clock. Such work uses turns of the event loop, or file requests; the
 * runtime is at rest when both have paused for a while.
 */
const settled = async (): Promise<void> => {
  for (let turn = 0, quiet = 0; turn < TEST_SETTLE_TURNS_MAX && quiet < TEST_QUIET_TURNS; turn += 1) {
    const isBusy = process.getActiveResourcesInfo().some((name) => name.startsWith("FSReq"));
    quiet = isBusy ? 0 : quiet + 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
};
