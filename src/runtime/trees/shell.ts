/**
 * The shell of one file's tree: one decision at a time for all of its supervisors and workers, recorded in one transaction and
 * only then carried out. An input that the store refuses has changed nothing.
 */
import { Effect, Semaphore } from "effect";
import { typed } from "../../actors/machine/attempt.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { AppendOptions } from "../../store/port.ts";
import { decideTree } from "../../supervisor/tree/decide.ts";
import { mayHoldTree } from "../../supervisor/tree/holding.ts";
import type { TreeCommand, TreeDecision, TreeInput } from "../../supervisor/tree/inputs.ts";
import type { TreeState } from "../../supervisor/tree/state.ts";
import type { Core } from "../core.ts";

export interface Tree {
  readonly name: string;
  readonly state: () => TreeState;
  /** Fails with what the decision refuses or the store does; nothing has changed then. */
  input(
    input: TreeInput,
    extra?: readonly RecordDraft[],
    options?: AppendOptions,
  ): Effect.Effect<TreeDecision, HoldfastError>;
  /**
   * An input that is made from the state as it is when its turn comes. `specs` are those of workers that the tree does not
   * know yet.
   */
  change(
    make: (state: TreeState) => Effect.Effect<TreeInput, HoldfastError>,
    specs?: ReadonlyMap<string, WorkerSpec>,
  ): Effect.Effect<TreeDecision, HoldfastError>;
}

export const makeTree = (
  core: Core,
  initial: TreeState,
  /** Carries out what was decided; called in the order of the decisions. */
  carryOut: (command: TreeCommand, tree: Tree) => void,
  /** Told of each decision that is on record. */
  onDecided: (input: TreeInput, tree: Tree) => void,
): Tree => {
  const deciding = Semaphore.makeUnsafe(1);
  let state = initial;
  const noSpecs: ReadonlyMap<string, WorkerSpec> = new Map();

  const decided = (
    input: TreeInput,
    extra: readonly RecordDraft[],
    options: AppendOptions | undefined,
    specs: ReadonlyMap<string, WorkerSpec>,
  ): Effect.Effect<TreeDecision, HoldfastError> =>
    Effect.gen(function* () {
      const now = core.now();
      const decision = decideTree(state, input, now, (id) => {
        const spec = specs.get(id);
        if (spec === undefined) throw new Error(`no spec of worker ${id}`);
        return spec;
      });
      const drafts = [...extra, ...decision.events];
      const how = mayHoldTree(state, input, decision.commands) ? { ...options, holds: true } : options;
      if (drafts.length > 0) yield* core.commit(drafts, how);
      state = decision.tree;
      if (decision.events.length > 0) {
        core.services.trace?.({
          tree: initial.name,
          worker_id: input.type === "worker" ? input.worker_id : null,
          input: input.type === "worker" ? input.input.type : input.type,
          events: decision.events,
          at: BigInt(now.clock.mono_ns),
        });
      }
      for (const command of decision.commands) carryOut(command, tree);
      onDecided(input, tree);
      return decision;
    });

  const change: Tree["change"] = (make, specs = noSpecs) =>
    deciding.withPermits(1)(
      Effect.uninterruptible(
        typed(
          Effect.flatMap(
            Effect.suspend(() => make(state)),
            (input) => decided(input, [], undefined, specs),
          ),
        ),
      ),
    );

  const tree: Tree = {
    name: initial.name,
    state: () => state,
    input: (input, extra = [], options) =>
      deciding.withPermits(1)(Effect.uninterruptible(typed(decided(input, extra, options, noSpecs)))),
    change,
  };
  return tree;
};
