/** Which input met which state: a table that a run must fill. */
import { SupervisorPhase } from "../../src/protocol/tree.ts";
import { WorkerState } from "../../src/protocol/worker.ts";
import type { ChildInput } from "../../src/supervisor/child/inputs.ts";
import type { TreeInput } from "../../src/supervisor/tree/inputs.ts";
import type { TreeState } from "../../src/supervisor/tree/state.ts";
import type { Stored } from "./disk.ts";

/** States that a worker's records give it; the other words are projections of them. */
const STATES = WorkerState.options.filter((state) => !["ready", "waiting", "lost"].includes(state));
const INPUTS: readonly ChildInput["type"][] = [
  "begin",
  "launched",
  "adopted",
  "exited",
  "kill",
  "restart",
  "shutdown",
  "ready",
  "pause",
  "unpause",
  "limit",
  "abandoned",
];
const PHASES = SupervisorPhase.options;
const TREE_INPUTS: readonly TreeInput["type"][] = ["worker", "apply", "add", "ask", "plan"];

export const PAIRS: readonly string[] = [
  ...STATES.flatMap((state) => INPUTS.map((input) => `worker ${state} × ${input}`)),
  ...PHASES.flatMap((phase) => TREE_INPUTS.map((input) => `supervisor ${phase} × ${input}`)),
];

export class Coverage {
  readonly counts = new Map<string, number>();

  note(tree: TreeState, given: TreeInput): void {
    if (given.type === "worker") {
      const member = tree.members.get(given.worker_id);
      if (member === undefined) return;
      this.#count(`worker ${member.child.state} × ${given.input.type}`);
      this.#phase(tree, member.supervisor, given.type);
    } else if (given.type === "ask") this.#phase(tree, given.supervisor, given.type);
    else if (given.type === "add") {
      const { requested } = given;
      if (requested.type === "worker_spawn_requested")
        this.#phase(tree, requested.payload.spec.supervisor, given.type);
    } else for (const path of tree.supervisors.keys()) this.#phase(tree, path, given.type);
  }

  /** A supervisor stops its workers from within a decision: told from what that wrote. */
  noteWritten(committed: readonly Stored[]): void {
    committed.forEach(({ draft }, index) => {
      if (draft.type !== "worker_cancel_requested" || draft.payload.purpose !== "shutdown") return;
      const next = committed[index + 1]?.draft;
      if (next?.type === "worker_state_changed") this.#count(`worker ${next.payload.from} × shutdown`);
    });
  }

  missing(): readonly string[] {
    return PAIRS.filter((pair) => !this.counts.has(pair));
  }

  #phase(tree: TreeState, path: string, input: TreeInput["type"]): void {
    const phase = tree.supervisors.get(path)?.phase;
    if (phase !== undefined) this.#count(`supervisor ${phase} × ${input}`);
  }

  #count(pair: string): void {
    this.counts.set(pair, (this.counts.get(pair) ?? 0) + 1);
  }
}
