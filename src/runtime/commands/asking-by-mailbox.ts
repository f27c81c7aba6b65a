/** Asks a worker by its mailbox, and waits for its reply. */
import { Effect } from "effect";
import { attemptAsync } from "../../actors/machine/attempt.ts";
import { MAILBOX_ASK_DEFAULT_MS, MAILBOX_FIRST_POLL_MS } from "../../base/limits.ts";
import type { Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { summaryOfBytes } from "../../protocol/summary.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { Mailboxes } from "../control/mailboxes.ts";
import type { Core } from "../core.ts";
import type { AnswerReply } from "../replies.ts";
import type { Ends } from "./ends.ts";

export interface QuestionOptions {
  readonly idempotency_key?: string | undefined;
  readonly timeout_ms?: number | undefined;
  readonly caller?: Caller | undefined;
}

export class AskingByMailbox {
  private readonly core: Core;
  private readonly mailbox: Mailboxes;
  private readonly ends: Ends;

  constructor(core: Core, mailbox: Mailboxes, ends: Ends) {
    this.core = core;
    this.mailbox = mailbox;
    this.ends = ends;
  }

  /** True if the worker polls its mailbox. A new worker is given time for its first poll. */
  reads({ id, state }: WorkerRow): Effect.Effect<boolean, HoldfastError> {
    if (isEnded(state)) return Effect.succeed(false);
    const read = Effect.as(this.mailbox.untilRead(id), true);
    const ended = Effect.as(this.ends.untilEnded(id), false);
    return Effect.timeoutOrElse(Effect.raceFirst(read, ended), {
      duration: MAILBOX_FIRST_POLL_MS,
      orElse: () => Effect.succeed(false),
    });
  }

  ask(
    row: WorkerRow,
    text: string,
    { timeout_ms: ttl_ms = MAILBOX_ASK_DEFAULT_MS, idempotency_key, caller }: QuestionOptions,
  ): Effect.Effect<AnswerReply, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { id } = row;
      const began = this.core.monoMs();
      const { message_id } = yield* this.mailbox.send({
        to: id,
        type: "ask",
        // A mailbox is not read by lines.
        payload: text.replace(/\n$/, ""),
        ttl_ms: Math.max(1, ttl_ms),
        idempotency_key: idempotency_key === undefined ? undefined : `ask ${idempotency_key}`,
        caller,
      });
      const ended = Effect.flatMap(this.ends.untilEnded(id), () => Effect.fail(endedFirst(id, message_id)));
      const waiting = Effect.raceFirst(this.mailbox.untilAnswered(message_id, id), ended);
      const { payload, artifact } = yield* Effect.timeoutOrElse(waiting, {
        duration: ttl_ms,
        orElse: () => Effect.fail(tooLong(message_id)),
      });
      return {
        id,
        message_id,
        turn: null,
        text: typeof payload === "string" ? payload : JSON.stringify(payload),
        truncated: false,
        usage: null,
        duration_ms: this.core.monoMs() - began,
        ...(yield* this.summarised(artifact?.digest)),
      };
    });
  }

  /** protocol-v1.txt, Summary requirements: an artifact comes with its summary. One that is gone is not named. */
  private summarised(digest: string | undefined): Effect.Effect<Pick<AnswerReply, "artifact" | "summary">> {
    const { artifacts } = this.core.services;
    if (digest === undefined || artifacts === undefined) return Effect.succeed({});
    const read = Effect.map(
      attemptAsync(() => artifacts.get(digest)),
      (bytes) => ({ artifact: digest, summary: summaryOfBytes(bytes) }),
    );
    return Effect.orElseSucceed(read, () => ({}));
  }
}

const endedFirst = (id: string, message_id: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Worker ${id} ended before it replied.`, {
    suggestion: `See the question with: agent mailbox show ${message_id}`,
    details: { message_id },
  });

const tooLong = (message_id: string): HoldfastError =>
  new HoldfastError("TIMEOUT", "The agent did not reply within the given time.", {
    suggestion: `See the question with: agent mailbox show ${message_id}`,
    details: { message_id, by: "mailbox" },
  });
