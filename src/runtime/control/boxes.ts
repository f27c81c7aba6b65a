/**
 * All mailboxes of a daemon in memory. Each makes one decision at a time, which is recorded before it is answered, and has
 * an alarm for changes by time alone. `control/mailbox` decides; the log is the truth.
 */
import { Effect, type Scope, Semaphore } from "effect";
import { containing } from "../../actors/defects.ts";
import { type Alarm, type Alarms, makeAlarms } from "../../actors/machine/alarms.ts";
import { attempt, typed } from "../../actors/machine/attempt.ts";
import {
  MAILBOX_INPUTS_AT_ONCE,
  MAILBOX_LOOK_MAX_MS,
  MAILBOX_WAITING_MAX,
  RECONCILE_PERIOD_MS,
} from "../../base/limits.ts";
import type { DecisionTime } from "../../control/lease.ts";
import {
  boxOf,
  decideBox,
  EMPTY_BOX,
  evolveBox,
  hasReadyMail,
  isLookDue,
  type MailBox,
  type MailInput,
  nextChange,
} from "../../control/mailbox/box.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { isOfMail, type MailMessage } from "../../protocol/mail.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { Core } from "../core.ts";

/** One mailbox and the callers that wait for it. */
interface ServedBox {
  readonly name: string;
  readonly lock: Semaphore.Semaphore;
  readonly waiting: Set<() => void>;
  readonly pending: WaitingInput[];
  isDraining: boolean;
  box: MailBox;
  alarm: Alarm | undefined;
}

/** An input that waits for its turn. `make` returns undefined if there is nothing left to do. */
interface WaitingInput {
  readonly make: () => MailInput | undefined;
  readonly resume: (told: Effect.Effect<readonly LogRecord[], HoldfastError>) => void;
}

/** An input for one mailbox of several. */
export interface BoxInput {
  readonly name: string;
  readonly input: MailInput;
}

export class Boxes {
  private readonly core: Core;
  private readonly alarms: Alarms;
  private readonly fork: (work: Effect.Effect<void>) => void;
  private readonly boxes = new Map<string, ServedBox>();
  /** Callers that wait for a record about a message, by its id. */
  private readonly awaited = new Map<string, Set<() => void>>();

  private constructor(core: Core, alarms: Alarms, fork: (work: Effect.Effect<void>) => void) {
    this.core = core;
    this.alarms = alarms;
    this.fork = fork;
  }

  /** Opens all mailboxes from the log. */
  static open(core: Core): Effect.Effect<Boxes, HoldfastError, Scope.Scope> {
    return Effect.gen(function* () {
      const { defects, views } = core.services;
      const alarms = yield* makeAlarms((cause) => defects.tell("an alarm of a mailbox", cause));
      const run = Effect.runForkWith(yield* Effect.context<never>());
      const boxes = new Boxes(core, alarms, (work) => void run(work));
      const byBox = new Map<string, MailMessage[]>();
      for (const message of yield* attempt(() => views.allMail()))
        byBox.set(message.box, [...(byBox.get(message.box) ?? []), message]);
      for (const [name, messages] of byBox) {
        const served = boxes.of(name);
        served.box = boxOf(messages, boxes.time());
        boxes.arm(served);
      }
      return boxes;
    });
  }

  box(name: string): MailBox {
    return this.boxes.get(name)?.box ?? EMPTY_BOX;
  }

  time(): DecisionTime {
    const { clock, mono_ms } = this.core.now();
    return { clock, mono_ms, boot_id: clock.boot_id, wall_ms: this.core.wallMs() };
  }

  /** True if a poll would change anything now. */
  isPollDue(name: string): boolean {
    const box = this.box(name);
    const now = this.core.monoMs();
    return hasReadyMail(box, now) || isLookDue(box, now);
  }

  /**
   * Decides an input when its turn comes, and resolves with its records. Inputs that wait for the store are recorded in one
   * transaction. If the caller goes away before its turn, its input is not decided.
   */
  decide(
    name: string,
    make: () => MailInput | undefined,
  ): Effect.Effect<readonly LogRecord[], HoldfastError> {
    return Effect.callback((resume) => {
      const served = this.of(name);
      const pending: WaitingInput = { make, resume };
      served.pending.push(pending);
      if (!served.isDraining) {
        served.isDraining = true;
        this.fork(containing(this.core.services.defects, "a mailbox", this.drain(served)));
      }
      return Effect.sync(() => {
        const at = served.pending.indexOf(pending);
        if (at >= 0) served.pending.splice(at, 1);
      });
    });
  }

  /** Decides inputs for several mailboxes in one transaction, and completes it even if the caller goes away. */
  decideTogether(
    names: readonly string[],
    make: () => readonly BoxInput[],
  ): Effect.Effect<readonly LogRecord[], HoldfastError> {
    const decided = Effect.suspend(() => {
      const now = this.time();
      const drafts = make().flatMap(({ name, input }) => decideBox(name, this.box(name), input, now));
      return Effect.map(this.core.commit(drafts), (records) => this.onRecord(records));
    });
    // Take the locks in one order, so that two callers with the same mailboxes cannot deadlock.
    return [...new Set(names)]
      .sort()
      .reduceRight<Effect.Effect<readonly LogRecord[], HoldfastError>>(
        (work, name) => this.of(name).lock.withPermits(1)(work),
        Effect.uninterruptible(typed(decided)),
      );
  }

  private drain(served: ServedBox): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      while (served.pending.length > 0)
        yield* served.lock.withPermits(1)(Effect.uninterruptible(this.drainOnce(served)));
      served.isDraining = false;
    });
  }

  /** Decides as many inputs as one transaction takes, each on the mailbox after the one before it. */
  private drainOnce(served: ServedBox): Effect.Effect<void> {
    const now = this.time();
    const drafts: RecordDraft[] = [];
    const taken: { readonly asked: WaitingInput; readonly from: number; readonly to: number }[] = [];
    let { box } = served;
    while (taken.length < MAILBOX_INPUTS_AT_ONCE) {
      const asked = served.pending.shift();
      if (asked === undefined) break;
      const from = drafts.length;
      try {
        const input = asked.make();
        const events = input === undefined ? [] : decideBox(served.name, box, input, now);
        // A repeated message waits until the first is in the log, where it is found.
        if (events.some(({ id }) => id !== undefined && drafts.some((draft) => draft.id === id))) {
          served.pending.unshift(asked);
          break;
        }
        for (const draft of events) box = evolveBox(box, provisional(drafts.push(draft), draft), now);
        taken.push({ asked, from, to: drafts.length });
      } catch (cause) {
        asked.resume(Effect.fail(asHoldfastError(cause)));
      }
    }
    const committed =
      drafts.length === 0 ? Effect.succeed<readonly LogRecord[]>([]) : this.core.commit(drafts);
    return Effect.match(committed, {
      onSuccess: (records) => {
        this.onRecord(records);
        for (const { asked, from, to } of taken) asked.resume(Effect.succeed(records.slice(from, to)));
      },
      onFailure: (error) => {
        for (const { asked } of taken) asked.resume(Effect.fail(error));
      },
    });
  }

  /** Resolves when the next poll could get something. */
  untilReady(name: string): Effect.Effect<void, HoldfastError> {
    return Effect.callback((resume) => {
      if (this.isPollDue(name)) return resume(Effect.void);
      const { waiting } = this.of(name);
      if (waiting.size >= MAILBOX_WAITING_MAX) return resume(Effect.fail(tooMany(name)));
      const wake = () => resume(Effect.void);
      waiting.add(wake);
      return Effect.sync(() => waiting.delete(wake));
    });
  }

  /** Resolves at the next record of one of these messages; at once if `isThere` is true. */
  untilTold(ids: readonly string[], isThere: () => boolean): Effect.Effect<void, HoldfastError> {
    return Effect.suspend(() =>
      Effect.callback<void, HoldfastError>((resume) => {
        if (isThere()) return resume(Effect.void);
        const wake = () => resume(Effect.void);
        for (const id of ids) this.awaited.set(id, (this.awaited.get(id) ?? new Set()).add(wake));
        return Effect.sync(() => {
          for (const id of ids) {
            const all = this.awaited.get(id);
            all?.delete(wake);
            if (all?.size === 0) this.awaited.delete(id);
          }
        });
      }),
    );
  }

  private of(name: string): ServedBox {
    const known = this.boxes.get(name);
    if (known !== undefined) return known;
    const made: ServedBox = {
      name,
      lock: Semaphore.makeUnsafe(1),
      waiting: new Set(),
      pending: [],
      isDraining: false,
      box: EMPTY_BOX,
      alarm: undefined,
    };
    this.boxes.set(name, made);
    return made;
  }

  /** Folds the records of a transaction, then wakes the callers that wait. */
  private onRecord(records: readonly LogRecord[]): readonly LogRecord[] {
    const changed = new Set<ServedBox>();
    const told: (() => void)[] = [];
    for (const record of records) {
      if (!isOfMail(record)) continue;
      const served = this.of(boxNameOf(record.stream));
      served.box = evolveBox(served.box, record, this.time());
      changed.add(served);
      told.push(...(this.awaited.get(record.payload.message_id) ?? []));
    }
    for (const served of changed) this.arm(served);
    for (const wake of told) wake();
    return records;
  }

  /** Wakes the polls that can get something, and sets the alarm for the next change by time. */
  private arm(served: ServedBox): void {
    served.alarm?.disarm();
    served.alarm = undefined;
    const now = this.core.monoMs();
    if (hasReadyMail(served.box, now)) for (const wake of [...served.waiting]) wake();
    const next = nextChange(served.box, now);
    if (next !== Number.POSITIVE_INFINITY) this.ringIn(served, next - now);
  }

  private ringIn(served: ServedBox, delay_ms: number): void {
    // A timer cannot hold a month, and a machine that slept must be checked soon.
    const soon = Math.min(Math.max(0, delay_ms), MAILBOX_LOOK_MAX_MS);
    served.alarm = this.alarms.after(soon, () => this.fork(this.look(served)));
  }

  private look(served: ServedBox): Effect.Effect<void> {
    const { defects, report } = this.core.services;
    const looked = Effect.map(
      this.decide(served.name, () => ({ type: "look" })),
      (records) => {
        if (records.length === 0) this.arm(served);
      },
    );
    const again = (error: HoldfastError) =>
      Effect.sync(() => {
        report("the end of a lease waits for the store", error);
        this.ringIn(served, RECONCILE_PERIOD_MS);
      });
    return Effect.asVoid(containing(defects, "the look at a mailbox", Effect.catch(looked, again)));
  }
}

/** The range of seqs for records that are not in the log yet. No recorded seq is that high. */
const PROVISIONAL_MAX = 1_000_000;
/** A draft as a record with a provisional seq, so that the next decision of the same transaction can build on it. */
const provisional = (n: number, draft: RecordDraft): LogRecord =>
  ({ ...draft, seq: Number.MAX_SAFE_INTEGER - PROVISIONAL_MAX + n, recorded_at: "" }) as LogRecord;

/** The address of a mailbox, from the name of its stream. */
export const boxNameOf = (stream: string): string => stream.slice(stream.indexOf(":") + 1);

const tooMany = (name: string): HoldfastError =>
  new HoldfastError("QUEUE_FULL", `${MAILBOX_WAITING_MAX} polls of the mailbox of ${name} wait already.`, {
    suggestion: "End some of them, or poll without waiting.",
  });
