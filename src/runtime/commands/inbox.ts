/** The inbox: every open hold of all workers and trees, with its question, its answers and its deadline. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { formatDuration } from "../../base/durations.ts";
import { HOLDS_READ_AT_ONCE } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { answersOf, type Hold, holdNameOf } from "../../protocol/holds.ts";
import { workerOf } from "../../protocol/records.ts";
import { argumentOf } from "../../protocol/tool-arguments.ts";
import type { HoldRow, WorkerRow } from "../../store/views.ts";
import { interruptedSentence } from "../../supervisor/child/interruption.ts";
import { breachSentence } from "../../supervisor/child/stop-errors.ts";
import { causesOf, isPaused, pauseSentence } from "../../supervisor/holds/pause.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import type { HoldView } from "../replies.ts";
import { type Forest, findSupervisor } from "../trees/forest.ts";
import type { Approvals } from "./approvals.ts";

/** The id of a hold. That of an approval is unique by itself; others are unique only within their worker or supervisor. */
export class Inbox {
  private readonly core: Core;
  private readonly forest: Forest;
  private readonly approvals: Approvals;

  constructor(core: Core, forest: Forest, approvals: Approvals) {
    this.core = core;
    this.forest = forest;
    this.approvals = approvals;
  }

  readonly inbox: RuntimeApi["inbox"] = ({ id, all = false, limit, cursor = "0" }) =>
    Effect.gen({ self: this }, function* () {
      const subject = id === undefined ? undefined : yield* this.subjectOf(id);
      const found = yield* attempt(() => this.page(limit + 1, Number(cursor), all, subject));
      const page = found.slice(0, limit);
      const holds = page.map(({ view }) => view);
      return found.length > limit ? { holds, cursor: String(page.at(-1)!.seq) } : { holds };
    });

  /** Resolves a reference to a worker's id or a supervisor's path. */
  private subjectOf(ref: string): Effect.Effect<string, HoldfastError> {
    return findSupervisor(this.forest, ref) === undefined
      ? Effect.map(this.core.find(ref), (row) => row.id)
      : Effect.succeed(ref);
  }

  private page(
    limit: number,
    after: number,
    all: boolean,
    subject: string | undefined,
  ): readonly { readonly seq: number; readonly view: HoldView }[] {
    const found: { readonly seq: number; readonly view: HoldView }[] = [];
    for (let from = after; found.length < limit; ) {
      const rows = this.core.services.views.holds(from, HOLDS_READ_AT_ONCE);
      for (const row of rows) {
        const view = this.viewOf(row);
        const isMeant = subject === undefined || subject === view?.worker_id || subject === view?.supervisor;
        if (view === undefined || !isMeant || (!all && view.answers.length === 0)) continue;
        // Each worker of a budget of the cluster has its question in its own stream.
        const { shared_id } = view;
        const isShown = shared_id !== undefined && found.some((one) => one.view.shared_id === shared_id);
        if (!isShown) found.push({ seq: row.seq, view });
      }
      const last = rows.at(-1);
      if (last === undefined) break;
      from = last.seq;
    }
    return found.slice(0, limit);
  }

  /** The view of a hold; undefined if nobody waits for it any more because all that counted in its budget have ended. */
  private viewOf({ stream, hold, incarnation, since }: HoldRow): HoldView | undefined {
    const budget = hold.reason === "budget" ? this.core.accounts.askedBy(hold.id) : undefined;
    if (hold.reason === "budget" && budget === undefined) return undefined;
    const shared_id = budget?.leased?.shared_id;
    const worker_id = workerOf(stream) ?? null;
    const supervisor = hold.reason === "budget" && worker_id === null ? hold.owner : null;
    const row = worker_id === null ? undefined : this.core.services.views.worker(worker_id);
    const view = {
      id: holdNameOf(worker_id ?? supervisor ?? stream, hold),
      reason: hold.reason,
      worker_id,
      worker: row?.name ?? null,
      supervisor,
      incarnation: worker_id === null ? null : incarnation,
      question: questionOf(hold, worker_id),
      answers: answersOf(hold),
      since,
      expires_at: null,
      otherwise: null,
      ...(hold.reason === "budget" ? { limit: hold.limit } : {}),
      ...(shared_id === undefined ? {} : { shared_id }),
    };
    if (hold.reason === "approval") return this.withRequest(view, hold.id);
    if (hold.reason === "stall") return this.withDeadline(view, row, hold.within_ms);
    return view;
  }

  private withRequest(view: HoldView, approval_id: string): HoldView {
    const asked = this.approvals.view(approval_id);
    if (asked === undefined) return view;
    const { tool, input, title, expires_at, otherwise } = asked;
    const question = `may it use ${tool ?? "a tool"}? ${argumentOf(input) ?? title}`;
    return { ...view, question, tool, input, expires_at, otherwise: expires_at === null ? null : otherwise };
  }

  /** A paused worker has no deadline, because no clock counts a pause. */
  private withDeadline(view: HoldView, row: WorkerRow | undefined, within_ms: number): HoldView {
    const worker = row === undefined ? undefined : this.core.roster.live.get(row.id);
    if (worker !== undefined && isPaused(worker.child())) return view;
    const expires_at = new Date(Date.parse(view.since) + within_ms).toISOString();
    return { ...view, expires_at, otherwise: "stop" };
  }
}

/** The question for a person. */
export const questionOf = (hold: Hold, worker_id: string | null): string => {
  switch (hold.reason) {
    case "approval":
      return `may it use ${hold.tool ?? "a tool"}? ${hold.title}`;
    case "stall":
      return `is it stuck? it has made no progress for ${formatDuration(hold.idle_ms)}`;
    case "interrupted":
      return `should it go on? ${interruptedSentence(hold.tools)}`;
    case "budget":
      return `may it spend more? ${breachSentence(hold.owner === worker_id ? undefined : hold.owner, hold.limit, hold.bound)}`;
    case "pause":
      return pauseSentence(causesOf({ holds: [hold] }));
    case "passivated":
      return "it rests until a message comes";
    case "placement":
      return `where should it run? no node of the cluster has its labels: ${labelsOf(hold.needs)}`;
  }
};

const labelsOf = (needs: Readonly<Record<string, string>>): string =>
  Object.entries(needs)
    .map(([label, value]) => `${label}=${value}`)
    .join(", ");
