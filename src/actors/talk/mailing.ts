/**
 * Hands messages to one worker's agent, one after the other. `messages.ts` decides; this file writes and records. The queue
 * is in the log: only the accounted length of the newest incarnation's stdin is kept here.
 */

import { Effect, Semaphore } from "effect";
import type { MessageProtocol } from "../../adapters/adapter.ts";
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { CANCEL_BY_PROTOCOL_MAX_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { ulidOf } from "../../protocol/ids.ts";
import type { MessageRow } from "../../protocol/message-row.ts";
import type { LinePurpose, RecordDraft } from "../../protocol/records.ts";
import { RESTART_BY_USER, restartCause } from "../../protocol/restart-cause.ts";
import { isEnded } from "../../protocol/worker.ts";
import { isPaused } from "../../supervisor/holds/pause.ts";
import {
  handOver,
  isBegunBy,
  isLate,
  isUnderWay,
  isWaiting,
  lastWords,
  lineDraft,
  messageDraft,
  nextMessage,
  outlived,
  owedTo,
  promptId,
} from "../../supervisor/messages/messages.ts";
import type { Alarm } from "../machine/alarms.ts";
import { type Conversation, takesInput } from "./conversation.ts";
import { awaitBackground, endLingering } from "./lingering.ts";
import { MessageTexts } from "./message-texts.ts";
import type { Speaker } from "./speaker.ts";

export class Mailing {
  private readonly worker: Speaker;
  private readonly protocol: MessageProtocol;
  private readonly lock = Semaphore.makeUnsafe(1);
  private readonly texts: MessageTexts;
  /** The id of the prompt, which is a message too. */
  private prompt: string | undefined;
  private run: Conversation | undefined;
  private end = 0;
  /** The open turn. */
  private turn: number | undefined;
  /** The head of the log when this daemon attached to the run. */
  private attachedAt = 0;
  private waits = false;
  private waiting_since_ms = 0;
  private failed = false;
  /** A message waits until the agent can take it, as the next records may show. */
  private isHeld = false;
  /** Called when the interrupted turn ends. */
  private onTurnEnd: (() => void) | undefined;
  /** The run that is watched for an exit after the end of its input. */
  private lingering: Conversation | undefined;
  /** Ends the input of an agent whose only prompt is answered. */
  private background: Alarm | undefined;

  constructor(worker: Speaker, protocol: MessageProtocol) {
    this.worker = worker;
    this.protocol = protocol;
    this.texts = new MessageTexts(worker);
  }

  /** True if the agent needs a message to go on. Never true for a kind that does not report its turns. */
  isWaiting(): boolean {
    return this.waits && this.worker.spec.interactive && this.run !== undefined;
  }

  /** Since when the agent waits, in monotonic milliseconds; undefined while it has work. */
  waitsSince(): number | undefined {
    return this.isWaiting() ? this.waiting_since_ms : undefined;
  }

  /**
   * Begins to serve an agent that was started or found by a boot. Resolves when all that can be handed over has been. Its
   * output is read after that, so that no acknowledgement is recorded before its delivery.
   */
  attach(run: Run): Effect.Effect<void> {
    if (!takesInput(run)) return Effect.void;
    return Effect.andThen(this.lock.withPermits(1)(this.attached(run)), this.deliver());
  }

  private attached(run: Conversation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id, spec } = this.worker;
      if (this.protocol.acknowledges && spec.prompt !== undefined)
        yield* this.acceptPrompt(spec.prompt, run.incarnation);
      const known = yield* journal.ask(({ views }) => views.openMessages(id));
      const gone = outlived(known, run.incarnation);
      if (gone.length > 0) yield* journal.note(gone);
      const open = known.filter(({ bound }) => bound === null || bound === run.incarnation);
      const end = yield* journal.ask(({ views }) => views.messagesEnd(id, run.incarnation));
      const [turn] = yield* journal.ask(({ views }) => views.turns(id, 1));
      this.end = Math.max(run.input.stdin_start, end ?? 0);
      const isOurs = turn?.incarnation === run.incarnation;
      this.turn = isOurs && turn.ended_at === null ? turn.turn : undefined;
      this.attachedAt = yield* journal.ask(({ log }) => log.head());
      this.run = run;
      yield* this.forgetClosing(open, run);
      if (run.input.isStdinClosed()) this.watchEnd(run);
      else if (isOurs && this.turn === undefined) this.awaitBackground();
    });
  }

  detach(): void {
    this.run = undefined;
    this.waits = false;
    this.background?.disarm();
    this.onTurnEnd?.();
  }

  canInterrupt(): boolean {
    return this.protocol.interrupt !== undefined;
  }

  /** True if nothing more can be written to the agent. */
  hasInputEnded(): boolean {
    return this.run?.input.isStdinClosed() === true;
  }

  /** Asks the agent by its own protocol to end its turn; false if no turn is open or the agent cannot be reached. */
  interrupt(by?: string): Effect.Effect<boolean, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id } = this.worker;
      const run = this.run;
      const state = yield* this.state();
      const turn = this.turn;
      if (run === undefined || state === undefined || turn === undefined || this.hasInputEnded())
        return false;
      const text = this.protocol.interrupt?.(state);
      if (text === undefined) return false;
      const { incarnation } = run;
      // Interrupt a turn once: agents apply a second interrupt to the next turn. One that was never written does not count.
      let key = `${id} ${incarnation} interrupt ${turn} ${text}`;
      const said = () => journal.ask(({ views }) => views.message(id, ulidOf(key)));
      let known = yield* said();
      for (; known?.state === "undeliverable"; known = yield* said()) key += " again";
      const draft = lineDraft(id, ulidOf(key), { text, purpose: "interrupt", turn, by });
      if (known === undefined) yield* journal.commit([{ ...draft, incarnation }]);
      yield* this.deliver();
      return (yield* said())?.state !== "undeliverable";
    });
  }

  /** Before a signal: ends the turn by the agent's own protocol, for CANCEL_BY_PROTOCOL_MAX_MS at most. */
  endTurn(): Effect.Effect<void> {
    const isOver = () => !this.canInterrupt() || this.turn === undefined || this.run === undefined;
    const turnEnd = Effect.callback<void>((resume) => {
      if (isOver()) return resume(Effect.void);
      this.onTurnEnd = () => resume(Effect.void);
    });
    // If the store refuses now, the stop does not wait: the agent is asked as soon as there is room.
    const asked = this.worker.inScope(this.worker.tried("interrupting its turn", this.interrupt(), false));
    const ended = Effect.flatMap(asked, (isAsked) => (isAsked === true ? turnEnd : Effect.void));
    const forget = Effect.sync(() => {
      this.onTurnEnd = undefined;
    });
    const inTime = Effect.asVoid(Effect.timeoutOption(ended, CANCEL_BY_PROTOCOL_MAX_MS));
    return Effect.suspend(() => (isOver() ? Effect.void : Effect.ensuring(inTime, forget)));
  }

  /** Tries again to write a message that could not be written. */
  tick(): void {
    if (!this.failed) return;
    this.failed = false; // one try at a time, even if it waits long for the store
    this.worker.fork(this.deliver());
  }

  /** Hands over the waiting messages. */
  deliver(): Effect.Effect<void> {
    return this.lock.withPermits(1)(
      Effect.gen({ self: this }, function* () {
        this.failed = false;
        for (let run = this.run; run !== undefined && run === this.run; )
          if (!(yield* this.deliverNext(run))) return;
      }),
    );
  }

  /** Closes the open messages of an ended worker. If the store refuses, it is asked again on the period. */
  ended(): Effect.Effect<void> {
    const { services, journal, id } = this.worker;
    const work = async () => {
      const open = services.views.openMessages(id);
      if (open.length > 0) await services.log.commit(lastWords(open), { holds: true });
    };
    return Effect.suspend(() =>
      isEnded(journal.child().state)
        ? this.worker.call("recording the end of its messages", work, undefined)
        : Effect.void,
    );
  }

  /** Takes records of the agent's output once they are durable. */
  onRecords(drafts: readonly RecordDraft[]): void {
    let isNews = false;
    let isDue = this.isHeld;
    for (const { type, payload } of drafts) {
      if (type === "turn_started") {
        this.turn = payload.turn;
        this.background?.disarm();
      } else if (type === "turn_completed") {
        this.turn = undefined;
        this.awaitBackground();
        this.onTurnEnd?.();
      } else if (type === "worker_message") {
        if (payload.state === "accepted") isDue = true;
        else this.texts.drop(payload.message_id);
      } else continue;
      isNews = true;
    }
    if (isDue) this.worker.fork(this.deliver());
    if (isNews) this.worker.fork(Effect.asVoid(this.lock.withPermits(1)(this.look())));
  }

  /** Gives the prompt, which is on record with the spec, its place among the messages. */
  private acceptPrompt(prompt: string, incarnation: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id, spec } = this.worker;
      const message_id = promptId(id, prompt, spec.interactive ? undefined : incarnation);
      this.prompt = message_id;
      const known = yield* journal.ask(({ views }) => views.message(id, message_id));
      const wasTaken = known !== undefined && known.state !== "undeliverable" && known.state !== "unknown";
      if (wasTaken) return;
      // If the prompt was never taken in, a restart by name begins with it again, under a new key.
      const key = `message:${message_id}:prompt${known === undefined ? "" : `:${incarnation}`}`;
      const accepted = messageDraft(id, message_id, {
        state: "accepted",
        bytes: Buffer.byteLength(prompt),
        ...(spec.interactive ? {} : { bound: true }),
      });
      yield* journal.note([{ ...accepted, incarnation, id: key }]);
    });
  }

  /** Drops an end of input that was meant for the agent before a restart by name: the user wants this one to run. */
  private forgetClosing(open: readonly MessageRow[], run: Conversation): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id } = this.worker;
      const closing = open.find((row) => row.closes && row.incarnation !== run.incarnation);
      if (closing === undefined) return;
      const scheduled = yield* journal.ask(({ log }) => log.stream(id, ["worker_restart_scheduled"]).at(-1));
      if (scheduled?.type !== "worker_restart_scheduled") return;
      if (restartCause(scheduled.payload) !== RESTART_BY_USER) return;
      // A request after the restart is meant for this agent.
      if (closing.seq > scheduled.seq) return;
      const reason = "The worker was restarted by name, and its input is open again.";
      yield* journal.note([
        messageDraft(this.worker.id, closing.message_id, { state: "undeliverable", reason }),
      ]);
    });
  }

  /** Hands over the next message; false if there is nothing to do now. */
  private deliverNext(run: Conversation): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      const open = yield* this.look();
      const begun = yield* this.begun(run, open);
      const row = begun ?? nextMessage(open, run.incarnation, this.prompt);
      if (row === undefined) return false;
      const isEarly =
        this.protocol.one_at_a_time === true &&
        (isUnderWay(open, run.incarnation) || (row.closes && this.turn !== undefined));
      // The agent takes one message at a time: wait until it has said something.
      this.isHeld = isEarly && !row.line;
      if (this.isHeld) return false;
      if (row.closes) return yield* this.close(run, row);
      if (!row.line && begun === undefined && !this.takesTurn(open, run.incarnation)) return false;
      const accepted = row.line ? yield* this.texts.accepted(row) : undefined;
      if (row.line && begun === undefined) {
        if (accepted !== undefined && isLate(accepted, row.seq <= this.attachedAt, this.turn))
          return yield* this.givesUp(row, "It was an interrupt of a turn that is over.");
        // The input has ended: its author has been told, or the agent goes on without an answer.
        if (run.input.isStdinClosed()) return yield* this.givesUp(row, "The agent's input has ended.");
      }
      const text = row.line ? accepted?.text : yield* this.texts.textOf(row, this.prompt);
      if (text === null) {
        this.failed = true;
        return false;
      }
      if (text === undefined) return yield* this.givesUp(row, "Its text is not kept any more.");
      const framed = row.line ? text : yield* this.frame(row.message_id, text);
      this.isHeld = framed === undefined;
      if (framed === undefined) return false;
      const bytes = Buffer.from(framed);
      const next = handOver(bytes.length, this.end, run.input.stdinBytes(), run.process() !== "dead");
      if (next.type === "keep") return false;
      const missing = next.type === "write" ? bytes.subarray(next.written) : undefined;
      const handed = this.handed(run, row, bytes.length, missing, accepted?.purpose);
      return yield* this.worker.incarnation?.intake.before(handed) ?? handed;
    });
  }

  /** Writes the missing bytes of a message and records its delivery, before any answer to it is recorded. */
  private handed(
    run: Conversation,
    row: MessageRow,
    length: number,
    missing: Uint8Array | undefined,
    purpose: LinePurpose = "protocol",
  ): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      crashPoint("message-before-write");
      if (missing !== undefined && !(yield* this.write(run, missing))) return false;
      this.end += length;
      crashPoint("message-before-record");
      yield* this.delivered(run, row, row.line ? purpose : undefined);
      return true;
    });
  }

  /** False if the budget allows no more turns: the message is tried again on each tick, until a person allows more. */
  private takesTurn(open: readonly MessageRow[], incarnation: number): boolean {
    const { shared } = this.worker;
    const isBusy = this.turn !== undefined || isUnderWay(open, incarnation);
    if (shared.accounts.takesTurn(this.worker, isBusy ? 1 : 0)) return true;
    this.isHeld = true;
    this.failed = true;
    return false;
  }

  private givesUp({ message_id }: MessageRow, reason: string): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id } = this.worker;
      yield* journal.note([messageDraft(id, message_id, { state: "undeliverable", reason })]);
      return true;
    });
  }

  /**
   * Finds a half-written message, to finish it first: its bytes are in the stdin file, but no record says so. They may
   * belong to a message that cannot be read or framed now; then nothing else is written. Bytes of no owed message belong to
   * one that the agent acknowledged before its delivery was on record.
   */
  private begun(run: Conversation, open: readonly MessageRow[]): Effect.Effect<MessageRow | undefined> {
    return Effect.gen({ self: this }, function* () {
      if (run.input.stdinBytes() <= this.end) return undefined;
      const there = run.input.stdinFrom(this.end);
      let unknown: MessageRow | undefined;
      for (const row of owedTo(open, run.incarnation, this.prompt)) {
        const text = row.closes ? undefined : yield* this.texts.textOf(row, this.prompt);
        const framed = typeof text !== "string" || row.line ? text : yield* this.frame(row.message_id, text);
        if (typeof framed === "string" && isBegunBy(there, Buffer.from(framed))) return row;
        if (typeof framed !== "string" && !row.closes) unknown ??= row;
      }
      if (unknown === undefined) this.end += there.length;
      return unknown;
    });
  }

  /** The state of the decoder of the agent's output. */
  private state(): Effect.Effect<unknown> {
    return Effect.suspend(() => this.worker.incarnation?.intake.state() ?? Effect.undefined);
  }

  private frame(message_id: string, text: string): Effect.Effect<string | undefined> {
    return Effect.map(this.state(), (state) =>
      state === undefined ? undefined : this.protocol.frame(message_id, text, state),
    );
  }

  private write(run: Conversation, bytes: Uint8Array): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      const put = () => run.input.write(bytes).then(() => true);
      const isWritten = yield* this.worker.call("writing a message", put, false);
      this.failed = !isWritten;
      return isWritten;
    });
  }

  private close(run: Conversation, row: MessageRow): Effect.Effect<boolean> {
    return Effect.gen({ self: this }, function* () {
      // The end of input counts at once; the agent may take long to read all before it.
      if (!run.input.isStdinClosed())
        this.worker.fork(this.worker.call("ending its input", () => run.input.closeStdin(), undefined));
      this.failed = !run.input.isStdinClosed();
      if (this.failed) return false;
      this.watchEnd(run);
      crashPoint("input-ended");
      yield* this.delivered(run, row);
      return true;
    });
  }

  private watchEnd(run: Conversation): void {
    if (this.protocol.may_linger !== true || this.lingering === run) return;
    this.lingering = run;
    endLingering(this.worker, run, () => this.turn !== undefined);
  }

  private awaitBackground(): void {
    const worker = this.worker;
    const run = this.run;
    this.background?.disarm();
    if (worker.spec.interactive || run === undefined) return;
    this.background = awaitBackground(worker, run, () => {
      if (isPaused(worker.child()) || (worker.approvals?.waiting() ?? 0) > 0) this.awaitBackground();
      else worker.fork(this.endInput(run));
    });
  }

  private endInput({ incarnation }: Run): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const { id, journal } = this.worker;
      const message_id = ulidOf(`${id} ${incarnation} end of input`);
      const draft = lineDraft(id, message_id, { closes: true });
      yield* journal.note([{ ...draft, incarnation, id: `message:${message_id}` }]);
      yield* this.deliver();
    });
  }

  private delivered(
    { incarnation }: Run,
    { message_id, closes, line }: MessageRow,
    purpose?: LinePurpose,
  ): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      // The worker's end acknowledges the end of its input, for every kind.
      const acknowledges = (this.protocol.acknowledges && !line) || closes;
      const step = {
        state: "delivered",
        end: this.end,
        acknowledges,
        ...(purpose === undefined ? {} : { purpose }),
        ...(closes ? { closes } : {}),
      } as const;
      yield* this.worker.journal.note([{ ...messageDraft(this.worker.id, message_id, step), incarnation }]);
      if (!acknowledges) this.texts.drop(message_id);
    });
  }

  /** Reads the open messages and sets whether the agent is idle, which stops the stall clock. */
  private look(): Effect.Effect<readonly MessageRow[]> {
    return Effect.gen({ self: this }, function* () {
      const { journal, id, activityClock } = this.worker;
      const open = yield* journal.ask(({ views }) => views.openMessages(id));
      const waits = this.protocol.acknowledges && isWaiting(open, this.turn !== undefined);
      if (waits && !this.waits) this.waiting_since_ms = journal.now();
      this.waits = waits;
      activityClock.waits("message", this.waits, journal.now());
      return open;
    });
  }
}
