/** The tick, once a second: checks gaps in time, waiting workers, and only those workers whose clocks are due. */
import { Effect, Schedule, type Scope } from "effect";
import { attempt } from "../actors/machine/attempt.ts";
import { CLOCK_TICK_MS } from "../base/limits.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { Core } from "./core.ts";
import type { Heartbeats } from "./heartbeats.ts";

/** No check delays the next tick: whatever waits for the store waits by itself. */
export const forkTicks = (core: Core, heartbeats: Heartbeats): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { gaps, disk, admission, roster } = core;
    const { contain, tell } = core.services.defects;
    const lookAtStore = storeWatch(core);
    gaps.begin();
    admission.look();
    const tick = Effect.sync(() => {
      contain("the tick: gaps in time", gaps.look);
      contain("the tick: the disk", disk.look);
      contain("the tick: who waits", admission.look);
      contain("the tick: the store", lookAtStore);
      contain("the tick: budgets", core.accounts.tick);
      const now = core.monoMs();
      const room = disk.view();
      // Avoid a closure and a string for each of ten thousand workers each second.
      for (const worker of roster.live.values())
        try {
          worker.tick(now, room);
        } catch (cause) {
          tell(`the tick: worker ${worker.id}`, cause);
        }
      contain("the tick: the runs", () => core.services.spawner.posix?.ticked());
      contain("the tick: heartbeats", () => heartbeats.look());
      contain("the tick: its listener", () => core.services.onTick?.());
    });
    yield* Effect.forkScoped(Effect.repeat(tick, Schedule.spaced(CLOCK_TICK_MS)));
  });

/** Reports a trouble of the store once, and its end once. */
const storeWatch = ({ services }: Core): (() => void) => {
  const { log, upkeep, report } = services;
  let told: string | undefined;
  return () => {
    upkeep.look();
    const trouble = log.trouble();
    if (trouble?.code === told) return;
    told = trouble?.code;
    report(trouble?.message ?? "the event log takes records again", trouble);
  };
};

/** Reads the gaps that earlier daemons of this boot saw, so that no timeout counts them. */
export const rememberGaps = ({ services, gaps }: Core): Effect.Effect<void, HoldfastError> =>
  attempt(() => {
    const { log, boot_id } = services;
    for (const { type, payload } of log.daemonStream(["daemon_resumed"])) {
      if (type !== "daemon_resumed" || payload.clock.boot_id !== boot_id) continue;
      const at_ms = Number(BigInt(payload.clock.mono_ns) / 1_000_000n);
      gaps.remember({ at_ms, counted_ms: payload.counted_ms });
    }
  });
