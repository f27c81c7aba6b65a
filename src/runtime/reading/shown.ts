/** A worker as answers show it: its row, the reason for a wait or a pause, and its open question. */

import { holdOf, NO_HOLDS } from "../../protocol/holds.ts";
import { isEnded } from "../../protocol/worker.ts";
import { WAITS_FOR_MESSAGE } from "../../protocol/worker-status.ts";
import type { WorkerRow } from "../../store/views.ts";
import { queueReason } from "../../supervisor/admission/seats.ts";
import { causesOf, pauseSentence } from "../../supervisor/holds/pause.ts";
import { grantStep, type PausedWorker, pauseSuggestion } from "../../supervisor/holds/standing-still.ts";
import { type TreeState, workersBelow } from "../../supervisor/tree/state.ts";
import type { ShownParts } from "../api.ts";
import type { Core } from "../core.ts";
import type { Heartbeats } from "../heartbeats.ts";
import type { PauseView, TreeSupervisor, WorkerView } from "../replies.ts";
import type { Forest } from "../trees/forest.ts";
import { supervisorWindow, treeOf, viewOf, windowOf, withFibers } from "./views.ts";

export class WorkerPresenter {
  private readonly core: Core;
  private readonly forest: Pick<Forest, "trees" | "treeOf">;
  private readonly heartbeats: Heartbeats;

  constructor(core: Core, forest: Pick<Forest, "trees" | "treeOf">, heartbeats: Heartbeats) {
    this.core = core;
    this.forest = forest;
    this.heartbeats = heartbeats;
  }

  /** The view of a worker, with its current place in the queue, its open question, and the reasons for a pause. */
  readonly view = (row: WorkerRow, { resources = false }: ShownParts = {}): WorkerView => {
    const view = viewOf(row, this.heartbeats.at(row.id));
    if (isEnded(row.state)) return view;
    const queue = this.core.admission.placeOf(row.id);
    const approvals = this.approvalsOf(row.id);
    return {
      ...view,
      reason: this.reasonOf(row),
      ...(resources ? { resources: this.live(row.id)?.resources() } : {}),
      ...(approvals === 0 ? {} : { approvals }),
      ...(queue === undefined ? {} : { queue }),
      ...this.pausedOf(row.id),
      ...this.askedBy(row.id),
    };
  };

  tree(): TreeSupervisor {
    const { core, forest } = this;
    const rows = this.inTree().map((row) => ({
      ...row,
      reason: this.reasonOf(row),
      ...this.pausedOf(row.id),
      ...this.askedBy(row.id),
    }));
    const trees = forest.trees().map((tree) => tree.state());
    const budgetOf = (path: string) => core.accounts.views(path)[0];
    return withFibers(
      core.roster.fibers(),
      treeOf(rows, trees, (row) => this.windowNow(row), budgetOf, core.monoMs()),
    );
  }

  /** The current restart window: its supervisor's for a worker of a file, else its own. */
  windowNow(row: WorkerRow) {
    const { core, forest } = this;
    const above = forest.treeOf(row.supervisor)?.state().supervisors.get(row.supervisor);
    const own = () => core.roster.live.get(row.id)?.child().restarts ?? [];
    return above === undefined ? windowOf(row, own(), core.monoMs()) : supervisorWindow(above, core.monoMs());
  }

  reasonOf({ id, kind, reason }: WorkerRow): string {
    const { services, admission, accounts, wallMs, monoMs } = this.core;
    if (services.adapterFor(kind) === undefined)
      return `kind ${kind} is not loaded, so its output is not read: see agent doctor`;
    const queue = admission.placeOf(id);
    if (queue !== undefined) return queueReason(queue);
    const approvals = this.approvalsOf(id);
    if (approvals > 0)
      return `it waits for ${approvals === 1 ? "a permission" : `${approvals} permissions`}: agent approvals`;
    if (accounts.isWaiting(id)) return `waits: ${accounts.spentFor(id)?.sentence}`;
    const worker = this.live(id);
    const { due_ms: due = null, rate_limits = 0, holds = NO_HOLDS } = worker?.child() ?? {};
    if (rate_limits > 0 && due !== null)
      return `rate limited until ${new Date(wallMs() + due - monoMs()).toISOString()}`;
    const causes = causesOf({ holds });
    if (causes.length > 0) return pauseSentence(causes);
    if (holdOf(holds, "stall") !== undefined) return "it may be stuck; a person is asked";
    return worker?.mail?.isWaiting() === true ? WAITS_FOR_MESSAGE : reason;
  }

  suggestionFor({ id, name }: WorkerRow): string | undefined {
    const { about } = this.askedBy(id).question ?? {};
    if (about === "interrupted")
      return `say whether it should continue: agent answer ${name ?? id} continue|fresh|stop`;
    if (about === "stall") return `decide what to do with it: agent answer ${name ?? id} wait|restart|kill`;
    // A worker that waits for the budget before a turn is not paused.
    const otherwise = about === "budget" ? grantStep(name ?? id) : undefined;
    return pauseSuggestion(name ?? id, true, this.standing(id)) ?? otherwise;
  }

  standingBelow(tree: TreeState, path: string): readonly PausedWorker[] {
    return workersBelow(tree, path).flatMap(({ child }) => this.standing(child.worker_id));
  }

  private live(id: string) {
    return this.core.roster.live.get(id);
  }

  private approvalsOf(id: string): number {
    return this.live(id)?.approvals?.waiting() ?? 0;
  }

  private standing(id: string): readonly PausedWorker[] {
    const child = this.live(id)?.child();
    if (child?.open !== true) return [];
    return [{ ref: this.core.services.views.worker(id)?.name ?? id, causes: causesOf(child) }];
  }

  private pausedOf(id: string): { readonly paused?: readonly PauseView[] } {
    const causes = causesOf(this.live(id)?.child() ?? { holds: NO_HOLDS });
    return causes.length === 0 ? {} : { paused: causes };
  }

  /** The open question of a living worker. */
  private askedBy(id: string): Pick<WorkerView, "question"> {
    const worker = this.live(id);
    if (worker === undefined) return {};
    const budget = this.core.accounts.spentFor(id)?.question_id;
    if (budget !== undefined) return { question: { question_id: budget, about: "budget" } };
    const { holds } = worker.child();
    const asked = holdOf(holds, "stall") ?? holdOf(holds, "interrupted");
    return asked === undefined ? {} : { question: { question_id: asked.id, about: asked.reason } };
  }

  /** Workers that live or belong to a tree, and ended ones that the agents of living workers spawned. */
  private inTree(): readonly WorkerRow[] {
    const { views } = this.core.services;
    const rows = new Map(views.living().map((row) => [row.id, row]));
    const add = (id: string): void => {
      const row = rows.has(id) ? undefined : views.worker(id);
      if (row !== undefined) rows.set(id, row);
    };
    for (const tree of this.forest.trees())
      for (const { children } of tree.state().supervisors.values())
        for (const { worker_id } of children) if (worker_id !== null) add(worker_id);
    for (const id of this.core.roster.live.keys()) for (const spawned of views.spawnedBy(id)) add(spawned);
    return [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
