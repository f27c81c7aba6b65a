/**
 * The decider of one file's tree. It makes one decision at a time for all supervisors and workers of the tree, which is
 * recorded in one transaction and only then carried out.
 */
import { Effect } from "effect";
import type { DeciderPorts } from "../../actors/deciding/decider.ts";
import { JoiningDecider } from "../../actors/deciding/joining.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RecordDraft } from "../../protocol/records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { AppendOptions } from "../../store/event-log.ts";
import type { Now } from "../../supervisor/clocks/now.ts";
import { decideTree } from "../../supervisor/tree/decide.ts";
import { mayHoldTree } from "../../supervisor/tree/holding.ts";
import type { TreeCommand, TreeDecision, TreeInput } from "../../supervisor/tree/inputs.ts";
import type { TreeState } from "../../supervisor/tree/state.ts";
import type { Core } from "../core.ts";

export interface Tree {
  readonly name: string;
  readonly state: () => TreeState;
  /** Decides and records an input. Fails if the decision or the store refuses, and then nothing has changed. */
  input(
    input: TreeInput,
    extra?: readonly RecordDraft[],
    options?: AppendOptions,
    then?: (decision: TreeDecision) => TreeInput | undefined,
  ): Effect.Effect<unknown, HoldfastError>;
  /**
   * Decides an input that `make` builds from the current state when its turn comes. `specs`: specs of workers that are new
   * to the tree.
   */
  change(
    make: (state: TreeState) => Effect.Effect<TreeInput, HoldfastError>,
    specs?: ReadonlyMap<string, WorkerSpec>,
  ): Effect.Effect<TreeDecision, HoldfastError>;
}

interface TreeRequest {
  readonly input: TreeInput;
  /** Specs of workers that are new to the tree. */
  readonly specs: ReadonlyMap<string, WorkerSpec>;
}

class TreeDecider extends JoiningDecider<TreeState, TreeRequest, TreeDecision> {
  private readonly name: string;
  /** Carries out the commands of a decision, then reports it. Called in the order of the decisions. */
  private readonly done: (input: TreeInput, commands: readonly TreeCommand[]) => void;

  constructor(ground: DeciderPorts, initial: TreeState, done: TreeDecider["done"]) {
    super(ground, initial);
    this.name = initial.name;
    this.done = done;
  }

  protected decide(state: TreeState, { input, specs }: TreeRequest, now: Now): TreeDecision {
    return decideTree(state, input, now, specIn(specs));
  }

  protected evolve(_: TreeState, decision: TreeDecision): TreeState {
    return decision.tree;
  }

  protected mayHold(state: TreeState, { input }: TreeRequest, { commands }: TreeDecision): boolean {
    return mayHoldTree(state, input, commands);
  }

  protected carryOut({ input }: TreeRequest, { commands }: TreeDecision): void {
    this.done(input, commands);
  }

  protected about({ input }: TreeRequest) {
    return {
      tree: this.name,
      worker_id: input.type === "worker" ? input.worker_id : null,
      input: input.type === "worker" ? input.input.type : input.type,
    };
  }
}

export const makeTree = (
  { services: { log, trace }, now }: Core,
  initial: TreeState,
  /** Carries out a command. Called in the order of the decisions. */
  carryOut: (command: TreeCommand, tree: Tree) => void,
  /** Called for each recorded decision. */
  onDecided: (input: TreeInput, tree: Tree) => void,
): Tree => {
  const decider = new TreeDecider({ log, trace, now }, initial, (input, commands) => {
    for (const command of commands) carryOut(command, tree);
    onDecided(input, tree);
  });
  const tree: Tree = {
    name: initial.name,
    state: () => decider.state(),
    input: (input, extra, options, then) => {
      const next = then && ((decision: TreeDecision) => requestOf(then(decision)));
      return decider.input({ input, specs: NO_SPECS }, extra, options, next);
    },
    change: (make, specs = NO_SPECS) =>
      Effect.map(
        decider.change((state) => Effect.map(make(state), (input) => ({ input, specs }))),
        (decision) => decision as TreeDecision,
      ),
  };
  return tree;
};

const NO_SPECS: ReadonlyMap<string, WorkerSpec> = new Map();

const requestOf = (input: TreeInput | undefined): TreeRequest | undefined =>
  input && { input, specs: NO_SPECS };

const specIn =
  (specs: ReadonlyMap<string, WorkerSpec>) =>
  (id: string): WorkerSpec => {
    const spec = specs.get(id);
    if (spec === undefined) throw new Error(`no spec of worker ${id}`);
    return spec;
  };
