/** Lists and answers agents' requests for permission. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { argumentOf } from "../../protocol/tool-arguments.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { ApprovalRow, Views, WorkerRow } from "../../store/views.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import type { RuntimeApi } from "../api.ts";
import { asker } from "../authority/asker.ts";
import type { Core } from "../core.ts";
import type { ApprovalView } from "../replies.ts";
import { ambiguous, PREFIX_FOUND_MAX, PREFIX_MIN_CHARS, resolveRef, TOO_SHORT } from "../resolve.ts";

export class Approvals {
  private readonly core: Core;
  private readonly views: Views;

  constructor(core: Core) {
    this.core = core;
    this.views = core.services.views;
  }

  readonly approvals: RuntimeApi["approvals"] = ({ id, all = false, limit, cursor = "0" }) =>
    Effect.gen({ self: this }, function* () {
      const of = id === undefined ? undefined : yield* this.meant(id);
      if (of !== undefined && "approval_id" in of) return { approvals: [this.viewOf(of)] };
      const rows = yield* attempt(() => this.views.approvals(Number(cursor), limit + 1, !all, of?.id));
      const page = rows.slice(0, limit);
      const approvals = yield* attempt(() => page.map((row) => this.viewOf(row)));
      return rows.length > limit ? { approvals, cursor: String(page.at(-1)!.seq) } : { approvals };
    });

  /** The id of the request with this id or unique prefix; undefined if a worker is meant or nothing is found. */
  named(ref: string): Effect.Effect<string | undefined, HoldfastError> {
    return Effect.match(this.meant(ref), {
      onSuccess: (found) => ("approval_id" in found ? found.approval_id : undefined),
      onFailure: () => undefined,
    });
  }

  view(approval_id: string): ApprovalView | undefined {
    const row = this.views.approval(approval_id);
    return row && this.viewOf(row);
  }

  readonly approve: RuntimeApi["approve"] = (ref, decision, { message, ...how } = {}) =>
    Effect.gen({ self: this }, function* () {
      const row = yield* this.asked(ref);
      const { approval_id, worker_id, tool, input, title } = row;
      const by = yield* asker(this.core.authority.permit, how, "approve", yield* this.core.rowOf(worker_id));
      const told = { approval_id, worker_id, decision, tool, what: argumentOf(input) ?? title };
      const same = decision === "allow" ? "allowed" : "denied";
      if (row.state === same) return { ...told, effect: "noop" as const };
      if (row.state !== "open") return yield* Effect.fail(isOver(row));
      const approvals = this.core.roster.live.get(row.worker_id)?.approvals;
      if (approvals === undefined)
        return yield* Effect.fail(
          new HoldfastError("UNAVAILABLE", `Worker ${row.worker_id} is not under supervision yet.`),
        );
      const verdict = { decision, by, ...(message === undefined ? {} : { message }) };
      yield* approvals.answer(row.approval_id, verdict);
      return { ...told, effect: "updated" as const };
    });

  readonly cancel: RuntimeApi["cancel"] = (ref, how = {}) =>
    Effect.gen({ self: this }, function* () {
      const row = yield* this.core.find(ref);
      const by = yield* asker(this.core.authority.permit, how, "cancel", row);
      const worker = this.core.roster.live.get(row.id);
      const mail = worker?.mail;
      if (!row.spec.interactive || worker === undefined || mail === undefined || !mail.canInterrupt())
        return yield* Effect.fail(noTurnToCancel(row, mail !== undefined));
      if (mail.hasInputEnded()) return yield* Effect.fail(noInput(row));
      const isSent = yield* worker.inScope(mail.interrupt(by));
      return { id: row.id, effect: isSent === true ? ("updated" as const) : ("noop" as const) };
    });

  /** Finds a request by its id, a worker by its id or name, or either by a unique prefix. */
  private meant(ref: string): Effect.Effect<ApprovalRow | WorkerRow, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const id = ref.toUpperCase();
      const row = yield* attempt(() => this.views.approval(id));
      if (row !== undefined) return row;
      const worker = yield* attempt(() => resolveRef(this.views, ref));
      const begun = yield* attempt(() => this.views.approvalsWithPrefix(id, PREFIX_FOUND_MAX));
      const rows = ref.length < PREFIX_MIN_CHARS ? [] : begun;
      const isNamed = !(worker instanceof HoldfastError) && (worker.id === id || worker.name === ref);
      const isUnknown = worker instanceof HoldfastError && worker.code === "WORKER_NOT_FOUND";
      const [first] = rows;
      if (first === undefined && isUnknown)
        return yield* Effect.fail(isNeither(ref, worker, begun.length > 0));
      if (first === undefined || isNamed)
        return worker instanceof HoldfastError ? yield* Effect.fail(worker) : worker;
      if (rows.length === 1 && isUnknown) return first;
      if (worker instanceof HoldfastError && !isUnknown) return yield* Effect.fail(worker);
      const found = [
        ...rows.map(({ approval_id }) => approval_id),
        ...(isUnknown ? [] : [(worker as WorkerRow).id]),
      ];
      return yield* Effect.fail(ambiguous(ref, found));
    });
  }

  /** Finds one request; for a worker, its only open one. */
  private asked(ref: string): Effect.Effect<ApprovalRow, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const found = yield* this.meant(ref);
      if ("approval_id" in found) return found;
      const [first, ...more] = yield* attempt(() => this.views.openApprovals(found.id));
      if (first === undefined) return yield* Effect.fail(asksNothing(found));
      if (more.length > 0) return yield* Effect.fail(asksMore(found, [first, ...more]));
      return first;
    });
  }

  private viewOf({ reply: _, ...row }: ApprovalRow): ApprovalView {
    const worker = this.views.worker(row.worker_id);
    const within_ms = worker?.spec.approval_within_ms ?? 0;
    const living = this.core.roster.live.get(row.worker_id);
    const counts =
      row.state === "open" && within_ms > 0 && !(living !== undefined && isPaused(living.child()));
    const left = living?.approvals?.left(row.approval_id);
    const at = left === undefined ? Date.parse(row.requested_at) + within_ms : this.core.wallMs() + left;
    return {
      ...row,
      worker: worker?.name ?? null,
      expires_at: counts ? new Date(at).toISOString() : null,
      otherwise: worker?.spec.approval_default ?? "deny",
    };
  }
}

/** `begins`: a request's id begins with `ref`. */
const isNeither = (ref: string, { code, info }: HoldfastError, begins: boolean): HoldfastError => {
  const hint = info.suggestion ?? (begins ? TOO_SHORT : undefined);
  return new HoldfastError(code, `No request has the id "${ref}", and no worker has that id or name.`, {
    suggestion: [...(hint === undefined ? [] : [hint]), "See what waits: agent approvals"].join(" "),
  });
};

const asksNothing = (worker: WorkerRow): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Worker ${worker.name ?? worker.id} waits for no permission.`, {
    suggestion: "See what waits: agent approvals",
  });

const asksMore = (worker: WorkerRow, rows: readonly ApprovalRow[]): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `Worker ${worker.name ?? worker.id} waits for ${rows.length} permissions: ${rows.map((one) => one.approval_id).join(", ")}.`,
    { suggestion: "Name one of them by its id." },
  );

const isOver = ({ approval_id, state, by }: ApprovalRow): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `The request ${approval_id} was already ${state}${by === null ? "" : ` by ${by}`}.`,
    { suggestion: "See all: agent approvals --all", details: { state, ...(by === null ? {} : { by }) } },
  );

const noInput = (row: WorkerRow): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `The input of worker ${row.id} has ended: nothing more reaches its agent.`,
    {
      suggestion: `End it: agent kill ${row.name ?? row.id}`,
    },
  );

const noTurnToCancel = (row: WorkerRow, isLive: boolean): HoldfastError => {
  if (isEnded(row.state))
    return new HoldfastError("INVALID_STATE", `Worker ${row.id} has ended: it has no turn to cancel.`, {
      suggestion: `See what it did: agent logs ${row.name ?? row.id}`,
    });
  const suggestion = `End it instead: agent kill ${row.name ?? row.id}`;
  if (!isLive)
    return new HoldfastError("INVALID_STATE", `Worker ${row.id} has no agent that takes messages.`, {
      suggestion,
    });
  return row.spec.interactive
    ? new HoldfastError("UNSUPPORTED_CAPABILITY", `Kind ${row.kind} cannot end a turn and continue.`, {
        suggestion,
      })
    : new HoldfastError("INVALID_STATE", `Worker ${row.id} has one turn only, and ends with it.`, {
        suggestion,
      });
};
