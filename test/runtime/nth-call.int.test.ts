/**
 * The n-th call to the store or the spawner fails, for n = 1, 2, 3 and so on until there is none (promise R24; SQLite's
 * moving failure): requests may be refused and are asked again; at the end the history is whole, whichever call it was.
 */
import { it } from "@effect/vitest";
import { Effect, Result, type Scope } from "effect";
import { expect } from "vitest";
import type { MemoryRun } from "../../src/library/memory-spawner.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { checkHistory } from "../chaos/history.ts";
import { type Call, faultyLog, faultySpawner, nthCall } from "../support/faults/ports.ts";
import { figure } from "../support/figures.ts";
import { withProcesses } from "../support/memory-processes.ts";
import { elapse, memoryMachine, settled, spec } from "./memory-runtime.ts";

const TRIES_MAX = 3;
const WAIT_MAX_S = 120;

const eventually = (what: string, isSo: () => boolean) =>
  Effect.gen(function* () {
    for (let waited = 0; !isSo(); waited += 1) {
      if (waited > WAIT_MAX_S) throw new Error(`never: ${what}`);
      yield* settled;
      if (!isSo()) yield* elapse(1);
    }
  });

/** Asked again when the store or the spawner refuses it, and by their errors only. Time goes by while it is answered. */
const asked = <A, R>(
  what: string,
  request: () => Effect.Effect<A, HoldfastError, R>,
): Effect.Effect<A, HoldfastError, R> =>
  Effect.gen(function* () {
    for (let tries = 1; ; tries += 1) {
      let answer: Result.Result<A, HoldfastError> | undefined;
      yield* Effect.forkChild(
        Effect.map(Effect.result(request()), (told) => {
          answer = told;
        }),
      );
      yield* eventually(`an answer to ${what}`, () => answer !== undefined);
      const told = answer as unknown as Result.Result<A, HoldfastError>;
      if (Result.isSuccess(told)) return told.success;
      expect(["DISK_FULL", "UNAVAILABLE"]).toContain(told.failure.code);
      if (tries === TRIES_MAX) return yield* Effect.fail(told.failure);
    }
  });

const MUST_FAIL: readonly Call[] = [
  "log.byId",
  "log.checkpoints",
  "log.commit of a fact",
  "log.commit of a request",
  "log.living",
  "log.stream",
  "log.worker",
  "run.kill",
  "run.signal",
  "run.sweep",
  "run.tail",
  "spawner.launch",
  "spawner.observe",
];

/** A life with all that a life has; answers the call that failed, or undefined when fewer were made. */
const scenario = (n: number): Effect.Effect<Call | undefined, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const machine = yield* memoryMachine;
    const { log, memory } = machine;
    const { failing, failed } = nthCall(n);
    const store = faultyLog(log, failing);
    const ports = {
      log: store,
      views: store,
      upkeep: store,
      spawner: faultySpawner(withProcesses(memory.spawner), failing),
    };
    const acknowledged: Parameters<typeof checkHistory>[0]["acknowledged"][number][] = [];
    const alive = new Set<MemoryRun>();
    // Only KILL ends it: its grace has to pass.
    const signals: NodeJS.Signals[] = [];
    memory.onSignal = (run, signal) => {
      signals.push(signal);
      if (signal === "SIGKILL") run.exit(signal);
    };

    const runOf = (id: string, after = 0) =>
      Effect.gen(function* () {
        const found = () =>
          memory.runs.find((run) => run.request.worker_id === id && run.request.incarnation > after);
        yield* eventually(`an agent of ${id}`, () => found() !== undefined);
        const run = found() as MemoryRun;
        alive.add(run);
        return run;
      });

    const first = yield* asked("a boot", () => machine.boot(ports));
    const spawn = (key: string, over: Parameters<typeof spec>[0]) =>
      Effect.gen(function* () {
        const { id } = yield* asked("a spawn", () =>
          first.runtime.spawn(spec({ name: key, ...over }), { idempotency_key: key }),
        );
        acknowledged.push({ what: "spawn", worker_id: id });
        return id;
      });
    const lasting = yield* spawn("lasting", { restart: "permanent" });
    const short = yield* spawn("short", { restart: "transient" });

    const one = yield* runOf(lasting);
    one.print("stdout", "1\n2\n");
    yield* settled;
    one.print("stdout", "3\n");
    one.exit(5);
    alive.delete(one);
    const two = yield* runOf(lasting, one.request.incarnation);
    two.print("stdout", "1\n");
    const brief = yield* runOf(short);
    brief.print("stdout", "1\n");
    brief.exit(0);
    alive.delete(brief);
    yield* eventually("the short one is over", () => log.worker(short)?.state === "completed");

    // kill -9 of the runtime, with an agent that writes on.
    yield* first.crash;
    two.print("stdout", "2\n");
    const { runtime } = yield* asked("a boot", () => machine.boot(ports));
    two.print("stdout", "3\n");
    yield* eventually("its lines are read", () => machine.printed(lasting).length >= 6);
    yield* asked("a kill", () =>
      Effect.flatMap(runtime.kill({ ids: [lasting] }), ([result]) =>
        result?.error == null
          ? Effect.void
          : Effect.fail(new HoldfastError(result.error.code, result.error.message)),
      ),
    );
    acknowledged.push({ what: "kill", worker_id: lasting });
    alive.delete(two);
    yield* eventually("the other is over", () => log.worker(lasting)?.state === "cancelled");
    expect(signals).toEqual(["SIGTERM", "SIGKILL"]);

    const { records } = log.read(0, 1_000);
    const findings = checkHistory({
      records,
      acknowledged,
      counting: [lasting, short],
      counted: [],
      found: memory.runs.map((run) => ({
        worker_id: run.request.worker_id,
        incarnation: run.request.incarnation,
        alive: alive.has(run),
      })),
      held: [],
      minimum: { records: 25, acknowledged: 3, ends: 3, lines: 7 },
    });
    expect(findings, `call ${n}, ${failed()}`).toEqual([]);
    expect(log.workers()).toHaveLength(2);
    expect(log.check().findings).toEqual([]);
    return failed();
  });

it.effect(
  "a request is done and on record once, whichever call to the store or the spawner fails once",
  () =>
    Effect.gen(function* () {
      const failed: Call[] = [];
      for (let n = 1; ; n += 1) {
        const call = yield* Effect.scoped(scenario(n));
        if (call === undefined) break;
        failed.push(call);
      }
      // A scenario that cannot fail would prove nothing.
      expect(failed).toEqual(expect.arrayContaining([...MUST_FAIL]));
      figure("R24", {
        rounds: failed.length,
        failures: 0,
        note: "calls to store and spawner, each failing once",
      });
    }),
  240_000,
);
