/** Restarts by name: a living worker, an ended one, a member of a tree, or a supervisor. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { askedSession } from "../../protocol/asked-session.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import { startRefusal } from "../../supervisor/tree/refusals.ts";
import type { CallerOptions, RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import { specOf } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import { lateRefusal } from "../late-refusal.ts";
import { ofSupervisor, perWorker } from "../reading/views.ts";
import type { PerWorker } from "../replies.ts";
import { spentRefusal } from "../spent-refusal.ts";
import type { Forest, SupervisorPlace } from "../trees/forest.ts";
import type { Tree } from "../trees/tree-decider.ts";
import type { ForEachRef } from "./each.ts";
import type { Ends } from "./ends.ts";
import type { Spawning } from "./spawn.ts";

export class Restarting {
  private readonly core: Core;
  private readonly forest: Forest;
  private readonly ends: Ends;
  private readonly each: ForEachRef;
  private readonly spawning: Pick<Spawning, "startAgain">;

  constructor(
    core: Core,
    forest: Forest,
    ends: Ends,
    each: ForEachRef,
    spawning: Pick<Spawning, "startAgain">,
  ) {
    this.core = core;
    this.forest = forest;
    this.ends = ends;
    this.each = each;
    this.spawning = spawning;
  }

  readonly restart: RuntimeApi["restart"] = (ids, how = {}) =>
    this.each(
      ids,
      (row) => this.worker(row, how),
      (place) => this.supervisor(place, how),
    );

  private supervisor(
    { tree, supervisor }: SupervisorPlace,
    how: CallerOptions,
  ): Effect.Effect<PerWorker, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const by = yield* asker(this.core.authority.permitOn, how, "restart", supervisor);
      yield* this.forest.ask(tree, supervisor, "restart", by, "");
      return ofSupervisor(supervisor, "updated", "starting");
    });
  }

  private worker(row: WorkerRow, how: CallerOptions): Effect.Effect<PerWorker, HoldfastError> {
    const { core, ends } = this;
    return Effect.gen({ self: this }, function* () {
      const by = yield* asker(core.authority.permit, how, "restart", row);
      if (core.admission.placeOf(row.id) !== undefined) return perWorker(row, "noop");
      yield* this.refuse(row);
      const tree = this.forest.treeWith(row);
      const worker = core.roster.live.get(row.id);
      if (tree !== undefined) yield* restartMember(tree, row, by);
      else if (worker === undefined) yield* this.spawning.startAgain(yield* ends.untilEnded(row.id), by);
      else {
        yield* worker.input({ type: "restart", by, grace_ms: worker.spec.grace_ms });
        const { state, stop } = worker.child();
        if (isEnded(state) || stop?.kind === "kill")
          yield* this.spawning.startAgain(yield* ends.untilEnded(row.id), by);
      }
      return perWorker(yield* core.rowOf(row.id), "updated");
    });
  }

  /** Refuses a restart that could only fail, before the worker is stopped or started. */
  private refuse(row: WorkerRow): Effect.Effect<void, HoldfastError> {
    const { core } = this;
    const { adapterOf, accounts } = core;
    return Effect.gen({ self: this }, function* () {
      yield* adapterOf(row.kind);
      const spent = yield* attempt(() => accounts.spentFor(row.id));
      if (spent !== undefined) return yield* Effect.fail(spentRefusal(row, spent));
      const late = lateRefusal(row.spec, core.wallMs());
      if (late !== undefined) return yield* Effect.fail(late);
      const taken = yield* this.sessionRefusal(row);
      if (taken !== undefined) yield* Effect.fail(taken);
    });
  }

  /** The refusal if another worker now uses the session of an ended one. */
  private sessionRefusal(row: WorkerRow): Effect.Effect<HoldfastError | undefined, HoldfastError> {
    const { services, sessions } = this.core;
    return Effect.gen(function* () {
      const adapter = services.adapterFor(row.kind);
      if (adapter?.sessions_under === undefined || !isEnded(row.state)) return undefined;
      const { spec } = yield* specOf(services, row);
      return sessions.refusal({ id: row.id, spec, adapter }, row.session_id ?? askedSession(spec));
    });
  }
}

/** Restarts a member of a tree. Its supervisor must run, because a stopped one would stop the worker again. */
const restartMember = (tree: Tree, row: WorkerRow, by: string) =>
  tree.change((state) => {
    const refused = startRefusal(state, row.supervisor);
    if (refused !== undefined) return Effect.fail(refused);
    const input = { type: "restart", by, grace_ms: row.spec.grace_ms } as const;
    return Effect.succeed({ type: "worker", worker_id: row.id, input } as const);
  });
