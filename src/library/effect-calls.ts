/** The calls of the Effect door, made from those of the runtime. */
import { Effect, type Scope, Stream } from "effect";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { RuntimeApi } from "../runtime/api.ts";
import type { SpawnReply, WaitReply } from "../runtime/replies.ts";
import type { LogRecord } from "./events.ts";
import { inProgram } from "./suggestions.ts";

/** A worker of `run`. */
export interface ScopedWorker {
  readonly id: string;
  /** Its records, from its first one to its end. */
  readonly records: Stream.Stream<LogRecord, HoldfastError>;
  /** Succeeds when the worker has ended for good, whatever its status. */
  readonly result: Effect.Effect<WaitReply, HoldfastError>;
}

const toProgram = (error: unknown): HoldfastError => inProgram(asHoldfastError(error));

const translated = (value: unknown): unknown => {
  if (Effect.isEffect(value)) return Effect.mapError(value, toProgram);
  if (Stream.isStream(value)) return Stream.mapError(value, toProgram);
  if (typeof value === "function") return (...args: unknown[]) => translated(value(...args));
  const isGroup =
    typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isGroup ? inPrograms(value) : value;
};

/** The same calls; the next step of each error is a call of the program, beside the command. */
export const inPrograms = <Calls extends object>(calls: Calls): Calls =>
  Object.fromEntries(Object.entries(calls).map(([name, value]) => [name, translated(value)])) as Calls;

/** A closed runtime has done with its workers what it was told to. */
const unlessClosed = (error: HoldfastError): Effect.Effect<void> =>
  error.code === "UNAVAILABLE" ? Effect.void : Effect.die(error);

/** Starts a worker that is killed at the end of the scope, if it still runs. */
export const scopedWorker = (
  api: Pick<RuntimeApi, "kill" | "wait" | "watch">,
  spawn: Effect.Effect<SpawnReply, HoldfastError>,
): Effect.Effect<ScopedWorker, HoldfastError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(spawn, ({ id }) =>
      Effect.catch(api.kill({ ids: [id], reason: "the end of its scope" }), unlessClosed),
    ),
    ({ id }) => ({
      id,
      records: api.watch({ ids: [id], from: 0, follow: false }) as Stream.Stream<LogRecord, HoldfastError>,
      result: Effect.map(api.wait([id]), ([ended]) => ended!),
    }),
  );
