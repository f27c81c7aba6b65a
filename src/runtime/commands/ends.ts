/** Waits for the end of a worker, which the living worker tells, or the supervisor that may start it again. */
import { Effect } from "effect";
import { HoldfastError } from "../../protocol/errors.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Core } from "../core.ts";
import type { Forest } from "../trees/forest.ts";

export class Ends {
  private readonly core: Pick<Core, "roster" | "admission" | "rowOf">;
  private readonly forest: Pick<Forest, "treeWith" | "next">;

  constructor(core: Pick<Core, "roster" | "admission" | "rowOf">, forest: Pick<Forest, "treeWith" | "next">) {
    this.core = core;
    this.forest = forest;
  }

  /** Resolves with the worker's row once it has ended. */
  untilEnded(id: string): Effect.Effect<WorkerRow, HoldfastError> {
    const { roster, admission, rowOf } = this.core;
    return Effect.gen({ self: this }, function* () {
      for (;;) {
        yield* roster.ended(id);
        const row = yield* rowOf(id);
        if (isEnded(row.state)) return row;
        // It was started again meanwhile: wait for that life too.
        if (roster.live.has(id)) continue;
        if (admission.isClosed()) return yield* Effect.fail(shutDown(id));
        // Its supervisor has it: the next decision about the tree may end it or start it again.
        const tree = this.forest.treeWith(row);
        if (tree === undefined) return yield* Effect.fail(unsupervised(id));
        yield* this.forest.next(tree);
      }
    });
  }

  /** Resolves when the life that a kill ends is over, even if the worker was started again since. */
  untilKilled(id: string): Effect.Effect<WorkerRow, HoldfastError> {
    const { roster, rowOf } = this.core;
    return Effect.flatMap(roster.ended(id), () => (roster.live.has(id) ? rowOf(id) : this.untilEnded(id)));
  }
}

const shutDown = (id: string): HoldfastError =>
  new HoldfastError("UNAVAILABLE", `The runtime was shut down before worker ${id} ended.`);

const unsupervised = (id: string): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `Worker ${id} is not under supervision: the daemon could not take it over.`,
    { suggestion: "See why in its daemon.log, fix that, then: agent daemon upgrade --force" },
  );
