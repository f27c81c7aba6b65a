/** Ends the runtime, with or without its agents. */
import { Effect } from "effect";
import { crashPoint } from "../../base/crash-point.ts";
import { SHUTDOWN_STOPS_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { DAEMON_STREAM } from "../../protocol/records.ts";
import { shutdownOrder } from "../../supervisor/restart/shutdown-order.ts";
import type { RuntimeApi } from "../api.ts";
import { untaken } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import type { Forest } from "../trees/forest.ts";
import type { Killing } from "./kill.ts";

const AT_ONCE = { concurrency: SHUTDOWN_STOPS_MAX, discard: true } as const;

export class Shutdown {
  private readonly core: Core;
  private readonly forest: Forest;
  private readonly killing: Killing;
  private readonly downTree: RuntimeApi["downTree"];
  private readonly failures: HoldfastError[] = [];
  /** The head of the log when everything was stopped. The next record is `daemon_stopped`. */
  private stoppedAt: number | undefined;

  constructor(core: Core, forest: Forest, killing: Killing, downTree: RuntimeApi["downTree"]) {
    this.core = core;
    this.forest = forest;
    this.killing = killing;
    this.downTree = downTree;
  }

  /** True once the last record of this runtime is in the log. */
  isOver(): boolean {
    return this.stoppedAt !== undefined && this.core.services.log.head() > this.stoppedAt;
  }

  /**
   * A worker that cannot be stopped or recorded does not hold up the others; the first failure is returned at the end. If
   * agents that were to be stopped still run, the runtime goes on: nobody else would supervise them.
   */
  readonly shutdown: RuntimeApi["shutdown"] = (agents, reason, by) =>
    Effect.gen({ self: this }, function* () {
      const { admission, roster, services, commit } = this.core;
      this.failures.length = 0;
      yield* admission.close;
      if (agents === "kill") {
        yield* this.stopAll(reason);
        const running = yield* this.running();
        if (running.length > 0) {
          admission.reopen();
          return yield* Effect.fail(stillRunning(running, this.failures[0]));
        }
      }
      yield* roster.clear;
      yield* this.forest.close;
      crashPoint("shutdown");
      this.stoppedAt = services.log.head();
      const payload = by === undefined ? { reason } : { reason, by };
      const stopped = { type: "daemon_stopped", stream: DAEMON_STREAM, payload } as const;
      yield* this.tried(commit([stopped], { holds: true }));
      if (this.failures[0] !== undefined) yield* Effect.fail(this.failures[0]);
    });

  private tried(step: Effect.Effect<unknown, HoldfastError>): Effect.Effect<unknown> {
    return Effect.catch(step, (error) => Effect.sync(() => void this.failures.push(error)));
  }

  private stopAll(reason: string): Effect.Effect<void> {
    const { roster, rowOf } = this.core;
    const how = { ids: [], by: "daemon", reason };
    // A worker counts as running until its fiber has closed, even after its end is on record.
    const stop = ({ id }: { readonly id: string }) =>
      this.tried(
        Effect.flatMap(rowOf(id), (row) =>
          Effect.flatMap(this.killing.worker(row, how), ({ ok }) => (ok ? roster.ended(id) : Effect.void)),
        ),
      );
    const asked = new Set<string>();
    const unasked = (ref: string): boolean => !asked.has(ref) && asked.add(ref).has(ref);
    return Effect.gen({ self: this }, function* () {
      // Repeat until nothing is new: a spawn that was admitted before the close may have begun meanwhile.
      for (;;) {
        const trees = this.forest.trees().filter(({ name }) => unasked(`tree ${name}`));
        yield* Effect.forEach(
          trees,
          ({ name }) => this.tried(this.downTree(name, { by: "daemon" })),
          AT_ONCE,
        );
        const workers = [...roster.live.values()].filter(({ id }) => unasked(id));
        if (trees.length === 0 && workers.length === 0) return;
        for (const wave of shutdownOrder(workers)) yield* Effect.forEach(wave, stop, AT_ONCE);
      }
    });
  }

  /** Ids of workers whose agents still run after the stop. */
  private running(): Effect.Effect<readonly string[]> {
    const { live } = this.core.roster;
    const running = [...live.values()].filter((worker) => worker.child().open).map(({ id }) => id);
    return Effect.as(this.tried(Effect.map(untaken(this.core), (ids) => running.push(...ids))), running);
  }
}

const stillRunning = (running: readonly string[], why: HoldfastError | undefined): HoldfastError =>
  new HoldfastError(
    "AGENTS_RUNNING",
    `${running.length === 1 ? "1 agent could" : `${running.length} agents could`} not be stopped, so the daemon keeps running: ${running.join(", ")}. ${why?.message ?? ""}`.trim(),
    {
      suggestion:
        "See why with `agent why`, then stop the daemon again; `--keep-agents` ends it without them.",
      details: { running },
    },
  );
