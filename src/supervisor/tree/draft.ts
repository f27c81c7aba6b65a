/** A decision in progress: each record that it writes changes the tree on which it continues. */
import { type EndCause, type RecordDraft, treeStream } from "../../protocol/records.ts";
import { RESTART_BY_SUPERVISOR, RESTART_BY_USER } from "../../protocol/restart-cause.ts";
import type { SupervisorPhase } from "../../protocol/tree.ts";
import type { SupervisorOperation } from "../../protocol/tree-records.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { ChildCommand } from "../child/inputs.ts";
import { recorder } from "../child/recorder.ts";
import type { Now } from "../clocks/now.ts";
import { evolveTree, type SpecOf } from "./evolve.ts";
import type { TreeCommand, TreeDecision } from "./inputs.ts";
import {
  type Member,
  memberOf,
  type SupervisorState,
  supervisorOf,
  type TreeState,
  workersBelow,
} from "./state.ts";

type SupervisorRecord = Extract<
  RecordDraft,
  { type: `supervisor_${string}` | "tree_applied" | "tree_removed" }
>;

export class Draft {
  tree: TreeState;
  readonly now: Now;
  private readonly specOf: SpecOf;
  private readonly events: RecordDraft[] = [];
  private readonly commands: TreeCommand[] = [];

  constructor(tree: TreeState, now: Now, specOf: SpecOf) {
    this.tree = tree;
    this.now = now;
    this.specOf = specOf;
  }

  record(draft: RecordDraft): void {
    this.events.push(draft);
    this.tree = evolveTree(this.tree, draft, this.now.mono_ms, this.specOf);
  }

  tell(workerId: string, command: ChildCommand): void {
    this.commands.push({ type: "tell", worker_id: workerId, command });
  }

  command(command: TreeCommand): void {
    this.commands.push(command);
  }

  decision(): TreeDecision {
    return { events: this.events, commands: this.commands, tree: this.tree };
  }

  supervisor(path: string): SupervisorState {
    return supervisorOf(this.tree, path);
  }

  note<T extends SupervisorRecord["type"]>(
    type: T,
    payload: Extract<SupervisorRecord, { type: T }>["payload"],
  ): void {
    this.record({ type, stream: treeStream(this.tree.name), payload } as SupervisorRecord);
  }

  /** Moves a supervisor to its next phase, with its operation. */
  move(path: string, to: SupervisorPhase, reason: string, operation?: SupervisorOperation): void {
    this.note("supervisor_state_changed", {
      supervisor: path,
      from: this.supervisor(path).phase,
      to,
      reason,
      ...(operation === undefined ? {} : { operation }),
      clock: this.now.clock,
    });
  }

  /** Begins a worker's next incarnation in a shell of its own. */
  start(workerId: string, reason: string, asked = false): void {
    const { child } = memberOf(this.tree, workerId);
    // A worker that has ended needs a record of the restart first, even if it never began.
    if (child.incarnation > 0 || isEnded(child.state)) {
      this.record(
        recorder(child)("worker_restart_scheduled", {
          delay_ms: 0,
          restarts_in_window: 0,
          max_restarts: child.max_restarts,
          period_ms: child.period_ms,
          cause: asked ? RESTART_BY_USER : RESTART_BY_SUPERVISOR,
          reason: asked ? RESTART_BY_USER : reason,
          clock: this.now.clock,
        }),
      );
    }
    this.launch(workerId);
  }

  /** Gives a worker a new shell, which begins its next incarnation. */
  launch(workerId: string): void {
    this.tree = { ...this.tree, launching: new Set(this.tree.launching).add(workerId) };
    this.command({ type: "start", worker_id: workerId });
  }

  /** Keeps a worker down until its supervisor starts it. */
  hold({ child }: Member, reason: string): void {
    this.record(
      recorder(child)("worker_state_changed", {
        from: child.state,
        to: "pending",
        reason,
        clock: this.now.clock,
      }),
    );
    this.tell(child.worker_id, { type: "end", state: "held" });
  }

  end(
    { child }: Member,
    state: "completed" | "failed" | "cancelled" | "parked",
    reason: string,
    cause?: EndCause,
  ): void {
    const why = cause === undefined ? {} : { cause };
    this.record(recorder(child)("worker_ended", { state, reason, ...why }));
    this.tell(child.worker_id, { type: "end", state });
  }

  /** Ends all workers below a supervisor for good. */
  endBelow(path: string, state: "failed" | "cancelled" | "parked", reason: string, cause?: EndCause): void {
    for (const member of workersBelow(this.tree, path))
      if (!isEnded(member.child.state)) this.end(member, state, reason, cause);
  }
}
