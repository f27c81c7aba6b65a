/**
 * Messages to agents. A message is accepted once it is durable, handed over by the living worker (`mailing.ts`), and
 * recorded to its end, even if the worker ended while no daemon ran.
 */
import { Effect, Schedule } from "effect";
import { containing } from "../../actors/defects.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import type { Services } from "../../actors/ports.ts";
import { redactorOf, secretsOf, withoutSecrets } from "../../actors/worker/launching.ts";
import type { MessageProtocol } from "../../adapters/adapter.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { MESSAGES_OPEN_MAX, RECONCILE_PERIOD_MS } from "../../base/limits.ts";
import { byOf, USER } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { MessageRow } from "../../protocol/message-row.ts";
import type { Redactor } from "../../protocol/redact.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Views, WorkerRow } from "../../store/views.ts";
import { isPassivated } from "../../supervisor/child/session-decisions.ts";
import { lastWords, type MessageDraft, messageDraft } from "../../supervisor/messages/messages.ts";
import type { RuntimeApi } from "../api.ts";
import { specOf } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import { keyReused } from "../idempotency.ts";
import type { MessageReply } from "../replies.ts";

/** Records on the period the end of messages whose worker ended before it lived again. */
export const tellingLost = (
  tellLost: Messaging["tellLost"],
  { report, defects }: Pick<Services, "report" | "defects">,
): Effect.Effect<unknown> =>
  Effect.repeat(
    containing(
      defects,
      "telling of lost messages",
      Effect.catch(tellLost, (error) => Effect.sync(() => report("messages wait for the store", error))),
    ),
    Schedule.spaced(RECONCILE_PERIOD_MS),
  );

/** A message, the end of the input, or both. */
interface MessageInput {
  readonly text: string | undefined;
  readonly close: boolean;
  readonly key: string | undefined;
  readonly by: string;
}

export class Messaging {
  private readonly core: Core;
  private readonly log: EventLog;
  private readonly views: Views;
  /** Messages on their way into the log, by worker. They count in the queue already. */
  private readonly arriving = new Map<string, number>();

  constructor(core: Core) {
    this.core = core;
    this.log = core.services.log;
    this.views = core.services.views;
  }

  readonly send: RuntimeApi["send"] = (
    ref,
    text,
    { idempotency_key: key, close = false, caller = USER, by = byOf(caller) } = {},
  ) => Effect.map(this.hand(ref, { text, close, key, by }), ({ seq: _, worker_id: __, ...told }) => told);

  readonly messages: RuntimeApi["messages"] = (ref, { limit, cursor }) =>
    Effect.flatMap(this.core.find(ref), ({ id }) =>
      attempt(() => {
        const before = cursor === undefined ? this.log.head() + 1 : Number(cursor);
        const newest = this.views.messages(id, before, limit + 1);
        if (newest.length <= limit) return { messages: newest };
        const messages = newest.slice(1);
        return { messages, cursor: String((messages[0] as MessageRow).seq) };
      }),
    );

  /** Records the end of each open message whose worker has ended. */
  readonly tellLost: Effect.Effect<void, HoldfastError> = Effect.gen({ self: this }, function* () {
    const lost = yield* attempt(() =>
      this.views.openMessages().filter(({ worker_id }) => {
        const row = this.views.worker(worker_id);
        return row !== undefined && isEnded(row.state);
      }),
    );
    if (lost.length > 0) yield* this.core.commit(lastWords(lost), { holds: true });
  });

  /** Accepts a message and hands it over. Once accepted, it is handed over even if the caller goes away. */
  hand(ref: string, given: MessageInput) {
    return Effect.uninterruptibleMask((restore) => this.handOn(ref, given, restore));
  }

  /** The message protocol of a worker; fails with the reason if nothing can be sent to it. */
  private protocolOf(row: WorkerRow): Effect.Effect<MessageProtocol, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const { messages, sessions_under } = yield* this.core.adapterOf(row.kind);
      const goesOn = `agent resume ${row.name ?? row.id} PROMPT`;
      if (isEnded(row.state))
        return yield* Effect.fail(
          new HoldfastError(
            "INVALID_STATE",
            `Worker ${row.id} has ended, so no message can reach it.`,
            row.session_id === null ? {} : { suggestion: `Go on in its session: ${goesOn}` },
          ),
        );
      if (!row.spec.interactive || messages === undefined)
        return yield* Effect.fail(
          new HoldfastError(
            "STDIN_CLOSED",
            `The stdin of worker ${row.id} was closed after its prompt.`,
            sessions_under === undefined
              ? {}
              : { suggestion: `Once it has ended, continue its session: ${goesOn}` },
          ),
        );
      return messages;
    });
  }

  private checkRoom(row: WorkerRow): void {
    const open = this.views.openMessages(row.id).filter(({ line }) => !line);
    if (open.some(({ closes }) => closes))
      throw new HoldfastError(
        "STDIN_CLOSED",
        `The stdin of worker ${row.id} was closed by \`send --close\`.`,
        {
          suggestion: `Start it again with an open stdin: agent restart ${row.name ?? row.id}`,
        },
      );
    if (open.length + (this.arriving.get(row.id) ?? 0) >= MESSAGES_OPEN_MAX)
      throw new HoldfastError(
        "QUEUE_FULL",
        `${MESSAGES_OPEN_MAX} messages to worker ${row.id} are on their way already.`,
        { suggestion: `Wait until its agent has read some: agent messages ${row.name ?? row.id}` },
      );
  }

  private counted<A>(id: string, work: Effect.Effect<A, HoldfastError>): Effect.Effect<A, HoldfastError> {
    return Effect.acquireUseRelease(
      Effect.sync(() => this.arriving.set(id, (this.arriving.get(id) ?? 0) + 1)),
      () => work,
      () =>
        Effect.sync(() => {
          const left = (this.arriving.get(id) ?? 1) - 1;
          if (left === 0) this.arriving.delete(id);
          else this.arriving.set(id, left);
        }),
    );
  }

  /**
   * Masks the secrets that the agent knows: for a worker that never ran, those that its next incarnation would be given.
   */
  private redactorFor(row: WorkerRow): Effect.Effect<Redactor> {
    const known = this.core.roster.live.get(row.id)?.redact;
    if (known !== undefined && known !== withoutSecrets) return Effect.succeed(known);
    return Effect.gen({ self: this }, function* () {
      const { spec } = yield* specOf(this.core.services, row);
      const adapter = this.core.services.adapterFor(row.kind);
      if (adapter === undefined) return redactorOf([]);
      const prepared = this.core.services.prepare(
        adapter,
        spec,
        Math.max(1, row.incarnation),
        undefined,
        row.id,
      );
      return yield* Effect.match(prepared, {
        onSuccess: ({ secrets }) => redactorOf(secrets),
        onFailure: () => redactorOf(secretsOf(spec, adapter)),
      });
    });
  }

  /** Drafts the record of a message. */
  private draftOf(row: WorkerRow, text: string, by: string) {
    return Effect.gen({ self: this }, function* () {
      const message_id = newId(this.core.wallMs());
      const shown = (yield* this.redactorFor(row)).text(text);
      const masked = shown !== text;
      if (masked) {
        yield* attemptAsync(() => this.core.services.files.saveMessage(row.id, message_id, text));
        crashPoint("message-kept");
      }
      const bytes = Buffer.byteLength(text);
      return messageDraft(row.id, message_id, {
        state: "accepted",
        by,
        bytes,
        text: shown,
        ...(masked ? { masked } : {}),
      });
    });
  }

  private closingOf(row: WorkerRow, by: string): MessageDraft {
    const closing = { state: "accepted", by, bytes: 0, closes: true } as const;
    return messageDraft(row.id, newId(this.core.wallMs()), closing);
  }

  /** Records the text, the end of the input, or both, in one transaction. Resolves with the id of the first of them. */
  private accept(row: WorkerRow, { text, close, key, by }: MessageInput) {
    return Effect.gen({ self: this }, function* () {
      const drafts = [
        ...(text === undefined ? [] : [yield* this.draftOf(row, text, by)]),
        ...(close ? [this.closingOf(row, by)] : []),
      ];
      const [first, ...others] = drafts as [MessageDraft, ...MessageDraft[]];
      const { message_id } = first.payload;
      if (key === undefined) {
        yield* this.core.commit(drafts);
        crashPoint("message-accepted");
        return message_id;
      }
      return yield* Effect.catch(
        Effect.as(this.core.commit([{ ...first, id: this.keyOf(row, key) }, ...others]), message_id),
        (error) =>
          // A message with the same key may have come first.
          Effect.flatMap(this.earlier(row, key, text), (known) =>
            known === undefined ? Effect.fail(error) : Effect.succeed(known),
          ),
      );
    });
  }

  private keyOf(row: WorkerRow, key: string): string {
    return `message:${row.id}:${key}`;
  }

  /** The id of the first message with this key; undefined if there is none. Fails if it has another text. */
  private earlier(row: WorkerRow, key: string | undefined, text: string | undefined) {
    return Effect.gen({ self: this }, function* () {
      if (key === undefined) return undefined;
      const found = yield* attempt(() => this.log.byId(this.keyOf(row, key)));
      if (found?.type !== "worker_message" || found.payload.state !== "accepted") return undefined;
      const { text: first, bytes, masked } = found.payload;
      const shown = text === undefined ? undefined : (yield* this.redactorFor(row)).text(text);
      // A masked text may hold a secret that is no longer known: then only its length is compared.
      const isSame = bytes === Buffer.byteLength(text ?? "") && (masked === true || first === shown);
      return isSame ? found.payload.message_id : yield* Effect.fail(keyReused(key));
    });
  }

  private rowFor(worker_id: string, message_id: string) {
    return attempt(() => this.views.message(worker_id, message_id) as MessageRow);
  }

  private reply(row: WorkerRow, message_id: string, effect: MessageReply["effect"]) {
    return Effect.map(this.rowFor(row.id, message_id), ({ state, seq }) => ({
      worker_id: row.id,
      message_id,
      state,
      effect,
      seq,
    }));
  }

  private handOn(
    ref: string,
    given: MessageInput,
    restore: <A>(waiting: Effect.Effect<A, HoldfastError>) => Effect.Effect<A, HoldfastError>,
  ) {
    const { text, key } = given;
    return Effect.gen({ self: this }, function* () {
      const row = yield* this.core.find(ref);
      const repeated = yield* this.earlier(row, key, text);
      if (repeated !== undefined) return yield* this.reply(row, repeated, "noop");
      const { acknowledges } = yield* this.protocolOf(row);
      if (text !== undefined && acknowledges && text.trim() === "")
        return yield* Effect.fail(new HoldfastError("INVALID_REQUEST", "The message is empty."));
      yield* attempt(() => this.checkRoom(row));
      const message_id = yield* this.counted(row.id, this.accept(row, given));
      // The worker may have ended meanwhile: then nobody else records the end of this message.
      if (isEnded((yield* this.core.rowOf(row.id)).state)) yield* this.tellLost;
      const worker = this.core.roster.live.get(row.id);
      if (worker !== undefined && isPassivated(worker.child())) yield* worker.input({ type: "wake" });
      if (worker?.mail !== undefined) yield* restore(worker.inScope(worker.mail.deliver()));
      return yield* this.reply(row, message_id, "created");
    });
  }
}
