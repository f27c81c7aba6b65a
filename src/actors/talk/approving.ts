/**
 * Answers the permission requests of one worker's agent: at once if a rule of its spec decides, otherwise by a person
 * or the deadline, whichever is first. The answer and the line that tells it to the agent are one transaction, so
 * neither exists without the other. `mailing.ts` writes the line.
 */

import { Deferred, Effect, Semaphore } from "effect";
import type { MessageProtocol } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { APPROVALS_OPEN_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { permissionFor } from "../../protocol/permission-rules.ts";
import { type RecordDraft, type RecordPayloads, workerStream } from "../../protocol/records.ts";
import type { ApprovalRow } from "../../store/views.ts";
import { pausedMs } from "../../supervisor/holds/pause.ts";
import { lineDraft } from "../../supervisor/messages/messages.ts";
import { ON_RECORD } from "../deciding/journal.ts";
import type { Speaker } from "./speaker.ts";

type RequestedApproval = RecordPayloads["approval_requested"];
type AnsweredApproval = RecordPayloads["approval_answered"];
export type ApprovalDecision = Pick<AnsweredApproval, "decision" | "by" | "message">;

const TOO_MANY = "Too many requests wait for an answer already.";
const REUSED = "An earlier request had the same id, so the two cannot be told apart.";
const TOO_LATE = "Nobody answered in time.";

/** Milliseconds that a request waits for a person; 0 in the spec is for ever. */
const patience = ({ approval_within_ms }: Speaker["spec"]): number =>
  approval_within_ms === 0 ? Number.POSITIVE_INFINITY : approval_within_ms;

export class Approving {
  private readonly worker: Speaker;
  private readonly protocol: MessageProtocol;
  private readonly lock = Semaphore.makeUnsafe(1);
  /** Open requests with their deadlines, in milliseconds of `clock`. */
  private readonly open = new Map<string, { readonly asked: RequestedApproval; readonly due_ms: number }>();

  /** Requests that a rule or the deadline has decided, but not yet on record. */
  private readonly settling = new Set<string>();

  /** Done once the open requests of an earlier daemon have been read. */
  private readonly known = Deferred.makeUnsafe<void>();

  /** `protocol` must have an `answer`. `adopts`: the agent runs already, and `takeOver` will be called. */
  constructor(worker: Speaker, protocol: MessageProtocol, adopts: boolean) {
    this.worker = worker;
    this.protocol = protocol;
    if (!adopts) this.makeKnown();
  }

  /** A boot has found the agent: its open requests stand, each with what is left of its time. */
  takeOver(run: Run): Effect.Effect<void> {
    const known = Effect.sync(() => this.makeKnown());
    return Effect.ensuring(this.readAgain(run), known);
  }

  private makeKnown(): void {
    Deferred.doneUnsafe(this.known, Effect.void);
  }

  private readAgain({ incarnation }: Run): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id, spec, shared } = this.worker;
      const stood = pausedMs(this.worker.child().pause, journal.now());
      const rows = (yield* journal.ask(({ views }) => views.openApprovals(id))).filter(
        (row) => row.incarnation === incarnation,
      );
      const turns = yield* journal.ask(({ log }) =>
        rows.length > 0 ? log.stream(id, ["turn_completed"]) : [],
      );
      // The request's turn has ended, but the earlier daemon died before it recorded the withdrawal.
      const isOver = ({ seq }: ApprovalRow) =>
        this.protocol.asks_beyond_turn !== true && (turns.at(-1)?.seq ?? 0) > seq;
      this.note(rows.filter(isOver));
      for (const row of rows.filter((one) => !isOver(one))) {
        // This also leaves out pauses from before the request: better to answer late than early.
        const waited = Math.max(0, shared.wallMs() - Date.parse(row.requested_at) - stood);
        this.asks(row, Math.max(0, patience(spec) - waited));
      }
    });
  }

  /** The number of open requests. */
  waiting(): number {
    return this.open.size;
  }

  /** Milliseconds until the deadline decides this request; undefined if it is not open. */
  left(approval_id: string): number | undefined {
    const due_ms = this.open.get(approval_id)?.due_ms;
    return due_ms === undefined ? undefined : Math.max(0, due_ms - this.clock());
  }

  /** Monotonic milliseconds without the time that the agent was paused: no deadline counts a pause. */
  private clock(now = this.worker.journal.now()): number {
    return now - pausedMs(this.worker.child().pause, now);
  }

  detach(): void {
    this.makeKnown();
    this.open.clear();
    this.look();
  }

  /** Takes records of the agent's output once they are durable. */
  onRecords(drafts: readonly RecordDraft[]): void {
    for (const { type, payload } of drafts) {
      if (type === "approval_requested") this.asks(payload, patience(this.worker.spec));
      else if (type === "approval_withdrawn") this.closed(payload.approval_id);
      else if (type === "turn_completed" && this.protocol.asks_beyond_turn !== true) this.withdraw();
    }
  }

  tick(now: number): void {
    const at = this.clock(now);
    for (const { asked, due_ms } of this.open.values())
      if (due_ms <= at)
        this.settle(asked, {
          decision: this.worker.spec.approval_default,
          by: "deadline",
          message: TOO_LATE,
        });
  }

  /**
   * Records a person's answer. Fails with INVALID_STATE if the agent does not ask this any more, or with the store's
   * error. If it fails, nothing has changed.
   */
  answer(approval_id: string, verdict: ApprovalDecision): Effect.Effect<void, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      yield* Deferred.await(this.known);
      const asked = this.open.get(approval_id)?.asked;
      if (asked === undefined)
        return yield* Effect.fail(
          new HoldfastError("INVALID_STATE", "The agent no longer waits for this answer."),
        );
      // An answer on record reaches the agent even if the person goes away.
      yield* this.lock.withPermits(1)(Effect.uninterruptible(this.answered(asked, verdict)));
    });
  }

  private asks(asked: RequestedApproval, within_ms: number): void {
    const { spec, journal } = this.worker;
    const { permission, permission_rules } = spec;
    this.open.set(asked.approval_id, { asked, due_ms: this.clock() + within_ms });
    this.look();
    const action = permissionFor(asked, permission_rules, permission);
    if (action !== "ask") this.settle(asked, { decision: action, by: "policy" });
    else if (this.open.size > APPROVALS_OPEN_MAX)
      this.settle(asked, { decision: "deny", by: "policy", message: TOO_MANY });
    else {
      this.worker.fork(this.refuseReused(asked));
      if (within_ms === 0) this.tick(journal.now());
    }
  }

  private answeredBefore({ approval_id }: RequestedApproval): Effect.Effect<never, HoldfastError> {
    return Effect.flatMap(
      this.worker.journal.ask(({ views }) => views.approval(approval_id)),
      (row) => {
        const by = row?.by ?? undefined;
        return Effect.fail(
          new HoldfastError("INVALID_STATE", `It was answered just now by ${by ?? "somebody else"}.`, {
            suggestion: "See all: agent approvals --all",
            details: {
              ...(row === undefined ? {} : { state: row.state }),
              ...(by === undefined ? {} : { by }),
            },
          }),
        );
      },
    );
  }

  /** Denies a request whose id was used before: a person who was shown the earlier request would answer this one. */
  private refuseReused(asked: RequestedApproval): Effect.Effect<void> {
    return Effect.map(
      this.worker.journal.ask(({ views }) => views.approval(asked.approval_id)),
      (row) => {
        if (row !== undefined && row.state !== "open")
          this.settle(asked, { decision: "deny", by: "policy", message: REUSED });
      },
    );
  }

  /** Withdraws all open requests at the end of their turn: the agent would not hear the answers. */
  private withdraw(): void {
    if (this.open.size === 0) return;
    this.note([...this.open.values()].map(({ asked }) => asked));
    this.open.clear();
    this.look();
  }

  /** Records that the requests are withdrawn. */
  private note(requests: readonly Pick<RequestedApproval, "approval_id">[]): void {
    if (requests.length === 0) return;
    const { id: worker_id, journal } = this.worker;
    const of = { stream: workerStream(worker_id), worker_id, incarnation: this.worker.child().incarnation };
    const drafts = requests.map(
      ({ approval_id }): RecordDraft => ({ ...of, type: "approval_withdrawn", payload: { approval_id } }),
    );
    this.worker.fork(journal.note(drafts));
  }

  private settle(asked: RequestedApproval, verdict: ApprovalDecision): void {
    // Record each decision once: the store may refuse it for an hour, and the tick comes each second.
    if (this.settling.has(asked.approval_id)) return;
    this.settling.add(asked.approval_id);
    const { journal } = this.worker;
    const settled = Effect.sync(() => void this.settling.delete(asked.approval_id));
    const decided = Effect.suspend(() =>
      // Another answer may have come first.
      this.open.has(asked.approval_id)
        ? this.record(asked, verdict, (drafts) => journal.note(drafts, ON_RECORD))
        : Effect.void,
    );
    this.worker.fork(Effect.ensuring(this.lock.withPermits(1)(decided), settled));
  }

  private answered(asked: RequestedApproval, verdict: ApprovalDecision): Effect.Effect<void, HoldfastError> {
    return Effect.suspend(() => {
      const { incarnation, journal } = this.worker;
      if (!this.open.has(asked.approval_id)) return this.answeredBefore(asked);
      if (incarnation?.run.input?.isStdinClosed() === true)
        return Effect.fail(
          new HoldfastError("INVALID_STATE", "The agent's input has ended, so no answer can reach it."),
        );
      return this.record(asked, verdict, (drafts) => journal.commit(drafts));
    });
  }

  private record<E>(
    asked: RequestedApproval,
    verdict: ApprovalDecision,
    keep: (drafts: readonly RecordDraft[]) => Effect.Effect<unknown, E>,
  ): Effect.Effect<void, E> {
    return Effect.gen({ self: this }, function* () {
      const { mail } = this.worker;
      crashPoint("approval-before-record");
      yield* keep(this.drafts(asked, verdict));
      crashPoint("approval-after-record");
      this.closed(asked.approval_id);
      if (mail !== undefined) this.worker.fork(mail.deliver());
    });
  }

  private drafts(
    { approval_id, reply }: RequestedApproval,
    { decision, by, message }: ApprovalDecision,
  ): readonly RecordDraft[] {
    const { id: worker_id, services, shared, redact } = this.worker;
    const { incarnation } = this.worker.child();
    const of = { stream: workerStream(worker_id), worker_id, incarnation };
    const why = message === undefined ? {} : { message: redact.text(message) };
    const clock = { boot_id: services.boot_id, mono_ns: String(shared.alarms.now()) };
    const line = this.protocol.answer!(reply, { decision, ...why });
    return [
      { ...of, type: "approval_answered", payload: { approval_id, decision, by, ...why, clock } },
      {
        ...lineDraft(worker_id, newId(shared.wallMs()), { text: line, purpose: "answer" }),
        incarnation,
      },
    ];
  }

  private closed(approval_id: string): void {
    if (this.open.delete(approval_id)) this.look();
  }

  /** Stops the stall clock while the agent waits for a person. */
  private look(): void {
    const { activityClock, journal } = this.worker;
    activityClock.waits("approval", this.open.size > 0, journal.now());
  }
}
