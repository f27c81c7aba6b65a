/** Who may begin to live: names are unique among the living, their number is bounded, and nothing begins while all ends. */
import { Effect, Semaphore } from "effect";
import { HoldfastError } from "../protocol/errors.ts";
import { WORKERS_LIVE_MAX } from "../protocol/limits.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { Roster } from "./roster.ts";

export interface Admission {
  /** Runs `begin`, which records the beginning and puts the worker under supervision, wholly or not at all. */
  admit(
    id: string,
    spec: WorkerSpec,
    begin: Effect.Effect<void, HoldfastError>,
  ): Effect.Effect<void, HoldfastError>;
  /** Admits nobody any more; resolves when those who were being admitted live. */
  readonly close: Effect.Effect<void>;
  isClosed(): boolean;
}

export const makeAdmission = (
  { live }: Pick<Roster, "live">,
  liveMax: number = WORKERS_LIVE_MAX,
): Admission => {
  /** Names and places of beginnings that are being recorded: two at once never get the same. */
  const reserved = new Map<string, string | undefined>();
  const doors = Semaphore.makeUnsafe(liveMax);
  let closed = false;

  const refusal = (id: string, { name }: WorkerSpec): HoldfastError | undefined => {
    if (closed) return new HoldfastError("UNAVAILABLE", "The runtime is shutting down.");
    if (reserved.has(id) || live.has(id))
      return new HoldfastError("INVALID_STATE", `Worker ${id} is being started already.`);
    if (live.size + reserved.size >= liveMax) {
      return new HoldfastError(
        "QUEUE_FULL",
        `There are ${liveMax} living workers, which is the most this daemon supervises.`,
      );
    }
    if (name === undefined) return undefined;
    const holder = [...live.values()].find((worker) => worker.spec.name === name)?.id;
    if (holder === undefined && ![...reserved.values()].includes(name)) return undefined;
    return new HoldfastError(
      "ALREADY_EXISTS",
      `A living worker is called "${name}" already${holder === undefined ? "" : `: ${holder}`}.`,
    );
  };

  return {
    admit: (id, spec, begin) =>
      doors.withPermits(1)(
        Effect.suspend(() => {
          const refused = refusal(id, spec);
          if (refused !== undefined) return Effect.fail(refused);
          reserved.set(id, spec.name);
          return Effect.ensuring(
            Effect.uninterruptible(begin),
            Effect.sync(() => reserved.delete(id)),
          );
        }),
      ),
    close: Effect.suspend(() => {
      closed = true;
      return doors.withPermits(liveMax)(Effect.void);
    }),
    isClosed: () => closed,
  };
};
