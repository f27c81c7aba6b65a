/** A question to an agent, and its answer: what the agent says in the turn that the message begins. */
import { Effect, Stream } from "effect";
import { movedError } from "../../actors/intake/moved.ts";
import { textBetween } from "../../actors/intake/output.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { failureCode } from "../../protocol/worker-failure.ts";
import type { EventLog, WorkerRow } from "../../store/port.ts";
import { ANSWER_RECORDS, type Answering, foldAnswer, UNANSWERED } from "../../supervisor/messages/answers.ts";
import { secondsUntilReset } from "../../supervisor/restart/rate-limit.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import type { Messaging } from "./messages.ts";

export class Asking {
  private readonly core: Core;
  private readonly log: EventLog;
  private readonly messaging: Messaging;
  private readonly watch: RuntimeApi["watch"];

  constructor(core: Core, messaging: Messaging, watch: RuntimeApi["watch"]) {
    this.core = core;
    this.log = core.services.log;
    this.messaging = messaging;
    this.watch = watch;
  }

  readonly ask: RuntimeApi["ask"] = (ref, text, { idempotency_key, timeout_ms } = {}) =>
    Effect.gen({ self: this }, function* () {
      const row = yield* this.core.find(ref);
      const { messages } = yield* this.core.adapterOf(row.kind);
      if (messages?.acknowledges !== true)
        return yield* Effect.fail(
          new HoldfastError(
            "UNSUPPORTED_CAPABILITY",
            `Kind ${row.kind} does not tell which of its output answers a message.`,
            { suggestion: "Send with `agent send`, and read what it says with `agent logs -f`." },
          ),
        );
      const { message_id, seq } = yield* this.messaging.hand(ref, text, false, idempotency_key);
      const waiting = this.answerTo(row, message_id, seq);
      if (timeout_ms === undefined) return yield* waiting;
      const tooLong = () =>
        Effect.fail(
          new HoldfastError(
            "TIMEOUT",
            "The agent did not answer within the time given; it has the question.",
            {
              suggestion: `See how far it is: agent messages ${row.name ?? row.id}`,
              details: { message_id },
            },
          ),
        );
      return yield* Effect.timeoutOrElse(waiting, { duration: timeout_ms, orElse: tooLong });
    });

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
          (): Answering => UNANSWERED,
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
