/**
 * Kills workers, supervisors with all below them, subtrees, or everything. Each call returns after the end that it reports.
 */
import { constants } from "node:os";
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { KillOptions, RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import { withDescendants } from "../descendants.ts";
import { checkedBy, nothingDone, ofSupervisor, perWorker } from "../reading/views.ts";
import type { PerWorker } from "../replies.ts";
import { type Forest, findSupervisor, type SupervisorPlace } from "../trees/forest.ts";
import type { ForEachRef } from "./each.ts";
import type { Ends } from "./ends.ts";
import { killAll } from "./kill-all.ts";

type KillEffect = Effect.Effect<PerWorker, HoldfastError>;

export class Killing {
  private readonly core: Core;
  private readonly forest: Forest;
  private readonly ends: Ends;
  private readonly each: ForEachRef;

  constructor(core: Core, forest: Forest, ends: Ends, each: ForEachRef) {
    this.core = core;
    this.forest = forest;
    this.ends = ends;
    this.each = each;
  }

  readonly kill: RuntimeApi["kill"] = (how) =>
    Effect.suspend(() => {
      const { signal, ids, all, subtree } = how;
      if (signal !== undefined && !Object.hasOwn(constants.signals, signal))
        return Effect.fail(noSignal(signal));
      const { forest } = this;
      const { roster, services } = this.core;
      if (all === true)
        return killAll(
          { forest, live: roster.live, views: services.views },
          (refs) => this.some(refs, how),
          how,
        );
      const isOfTrees = ids.every((ref) => findSupervisor(forest, ref) !== undefined);
      return subtree === true && !isOfTrees ? this.subtrees(ids, how) : this.some(ids, how);
    });

  /** Kills one worker and waits for the end of its current life. */
  worker(row: WorkerRow, how: KillOptions): KillEffect {
    const { core, ends, forest } = this;
    return Effect.gen(function* () {
      if (isEnded(row.state)) return perWorker(row, "noop");
      const worker = core.roster.live.get(row.id);
      const tree = forest.treeWith(row);
      if (worker === undefined && tree === undefined)
        return perWorker(yield* ends.untilEnded(row.id), "noop");
      if (how.dry_run === true) return perWorker(row, "would_delete");
      const { reason = "killed", grace_ms = row.spec.grace_ms, signal = "SIGTERM" } = how;
      const by = yield* asker(core.authority.permit, how, "kill", row);
      const input = { type: "kill", by, reason, grace_ms, signal } as const;
      // A worker between two starts does not live; only its tree can be told.
      if (worker !== undefined) yield* worker.input(input);
      else if (tree !== undefined) yield* tree.input({ type: "worker", worker_id: row.id, input });
      const killed = perWorker(yield* ends.untilKilled(row.id), "deleted");
      const checked_by = yield* attempt(() => checkedBy(core.services.log, row.id));
      return checked_by === undefined ? killed : { ...killed, checked_by };
    });
  }

  /** Kills a supervisor with all below it and waits for its end. */
  private supervisor({ tree, supervisor }: SupervisorPlace, how: KillOptions): KillEffect {
    const { core, forest } = this;
    return Effect.gen(function* () {
      const phaseNow = () => tree.state().supervisors.get(supervisor);
      if (how.dry_run === true) return ofSupervisor(supervisor, "would_delete", "running");
      const before = phaseNow();
      if (before?.tombstone === true && before.phase === "terminated")
        return ofSupervisor(supervisor, "noop", "cancelled");
      const { reason = "killed", grace_ms, signal } = how;
      const by = yield* asker(core.authority.permitOn, how, "kill", supervisor);
      const asked = {
        ...(grace_ms !== undefined && { grace_ms }),
        ...(signal !== undefined && { signal }),
      };
      const isAsked = Object.keys(asked).length > 0;
      yield* forest.ask(tree, supervisor, "kill", by, reason, isAsked ? asked : undefined);
      for (;;) {
        const { phase, tombstone = false } = phaseNow() ?? { phase: "terminated" };
        // Without a tombstone, it was started again since.
        if (phase === "terminated" || phase === "parked" || !tombstone) break;
        yield* forest.next(tree);
      }
      return ofSupervisor(supervisor, "deleted", "cancelled");
    });
  }

  private some(refs: readonly string[], how: KillOptions): Effect.Effect<readonly PerWorker[]> {
    return this.each(
      refs,
      (row) => this.worker(row, how),
      (place) => this.supervisor(place, how),
    );
  }

  /** Kills workers with everything that their agents spawned. One that is not known takes nothing from the others. */
  private subtrees(
    refs: readonly string[],
    how: KillOptions,
  ): Effect.Effect<readonly PerWorker[], HoldfastError> {
    const { find, services } = this.core;
    return Effect.gen({ self: this }, function* () {
      const replies = new Map<string, PerWorker>();
      const unknown = (ref: string, error: HoldfastError) =>
        Effect.suspend(() => {
          if (error.code === "STORE_FAILED") return Effect.fail(error);
          replies.set(ref, nothingDone(ref, error));
          return Effect.undefined;
        });
      const rows = yield* Effect.forEach(refs, (ref) =>
        Effect.catch(find(ref), (error) => unknown(ref, error)),
      );
      const roots = rows.flatMap((row) => (row === undefined ? [] : [row.id]));
      // Repeat until nothing is new: a spawn that was under way is in the log by now.
      for (;;) {
        const all = yield* attempt(() => withDescendants(services.views, roots));
        const found = all.filter((id) => !replies.has(id));
        if (found.length === 0) return [...replies.values()];
        for (const reply of yield* this.each(found, (row) => this.worker(row, how)))
          replies.set(reply.id, reply);
      }
    });
  }
}

const noSignal = (signal: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `There is no signal "${signal}".`, {
    suggestion: "Use a name such as SIGTERM or SIGINT.",
  });
