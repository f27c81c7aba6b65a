/** Asks an agent, and waits for its answer: the agent's text in the turn that the message begins. */
import { Effect, Stream } from "effect";
import { textBetween } from "../../actors/intake/final-answer.ts";
import { movedError } from "../../actors/intake/moved.ts";
import { byOf, USER } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { failureCode } from "../../protocol/worker-failure.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { WorkerRow } from "../../store/views.ts";
import {
  ANSWER_RECORDS,
  type AnswerState,
  foldAnswer,
  UNANSWERED,
} from "../../supervisor/messages/answers.ts";
import { secondsUntilReset } from "../../supervisor/restart/rate-limit.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import type { AskingByMailbox, QuestionOptions } from "./asking-by-mailbox.ts";
import type { Messaging } from "./messages.ts";

export class Asking {
  private readonly core: Core;
  private readonly log: EventLog;
  private readonly messaging: Messaging;
  private readonly byMailbox: AskingByMailbox;
  private readonly watch: RuntimeApi["watch"];

  constructor(core: Core, messaging: Messaging, byMailbox: AskingByMailbox, watch: RuntimeApi["watch"]) {
    this.core = core;
    this.log = core.services.log;
    this.messaging = messaging;
    this.byMailbox = byMailbox;
    this.watch = watch;
  }

  /** A conversation answers by its turn; any other worker that polls its mailbox, by a reply. */
  readonly ask: RuntimeApi["ask"] = (ref, text, options = {}) =>
    Effect.gen({ self: this }, function* () {
      const row = yield* this.core.find(ref);
      const { messages } = yield* this.core.adapterOf(row.kind);
      const converses = messages?.acknowledges === true;
      if (converses && row.spec.interactive) return yield* this.askTurn(row, text, options);
      if (yield* this.byMailbox.reads(row)) return yield* this.byMailbox.ask(row, text, options);
      // For a conversation, the refusal of the message is the better error.
      if (converses) return yield* this.askTurn(row, text, options);
      return yield* Effect.fail(
        new HoldfastError(
          "UNSUPPORTED_CAPABILITY",
          `Kind ${row.kind} does not say which output answers a message, and worker ${row.id} does not poll its mailbox.`,
          { suggestion: "Send with `agent send`, and read its output with `agent logs -f`." },
        ),
      );
    });

  private askTurn(
    row: WorkerRow,
    text: string,
    { idempotency_key: key, timeout_ms, caller = USER }: QuestionOptions,
  ) {
    return Effect.gen({ self: this }, function* () {
      const ref = row.id;
      const { message_id, seq } = yield* this.messaging.hand(ref, {
        text,
        close: false,
        key,
        by: byOf(caller),
      });
      const waiting = this.answerTo(row, message_id, seq);
      if (timeout_ms === undefined) return yield* waiting;
      const tooLong = () =>
        Effect.fail(
          new HoldfastError(
            "TIMEOUT",
            "The agent did not answer within the given time; it still has the question.",
            {
              suggestion: `See its state: agent messages ${row.name ?? row.id}`,
              details: { message_id },
            },
          ),
        );
      return yield* Effect.timeoutOrElse(waiting, { duration: timeout_ms, orElse: tooLong });
    });
  }

  private answerTo(row: WorkerRow, message_id: string, seq: number) {
    return Effect.gen({ self: this }, function* () {
      const told = this.watch({
        ids: [row.id],
        from: seq - 1,
        filter: { types: ANSWER_RECORDS },
        follow: true,
      });
      const last = yield* told.pipe(
        Stream.scan(
          (): AnswerState => UNANSWERED,
          (state, record) => foldAnswer(state, record, message_id),
        ),
        Stream.filter(({ type }) => type === "answered" || type === "failed"),
        Stream.take(1),
        Stream.runCollect,
      );
      const [end] = [...last];
      if (end?.type === "failed") return yield* Effect.fail(withId(end.error, message_id));
      if (end?.type !== "answered")
        return yield* Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime was shut down."));
      const { error, usage, duration_ms, turn } = end.turn;
      if (error !== undefined) return yield* Effect.fail(withId(this.turnFailure(error), message_id));
      const said = yield* textBetween(this.log, row.id, end.from, end.to);
      if (said !== undefined && "moved" in said) return yield* Effect.fail(movedError(row.id, said.moved));
      const { text = "", truncated = false } = said ?? {};
      return { id: row.id, message_id, turn, text, truncated, usage, duration_ms };
    });
  }

  private turnFailure(error: WorkerError): HoldfastError {
    const retry_after_s = secondsUntilReset(error, null, this.core.now().wall);
    const wait = error.code === "RATE_LIMITED" && retry_after_s !== undefined ? { retry_after_s } : {};
    return new HoldfastError(failureCode(error), error.message, wait);
  }
}

const withId = (error: HoldfastError, message_id: string): HoldfastError =>
  new HoldfastError(error.code, error.message, {
    ...error.info,
    details: { ...error.info.details, message_id },
  });
