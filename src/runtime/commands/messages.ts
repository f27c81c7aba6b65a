/**
 * Messages to agents, from whoever sends them: accepted once they are durable, handed over by the worker's own shell
 * (`mailing.ts`), and told to their last word, also where their worker ended while no daemon ran.
 */
import { Effect, Schedule, Stream } from "effect";
import { containing } from "../../actors/defects.ts";
import { movedError } from "../../actors/intake/moved.ts";
import { textBetween } from "../../actors/intake/output.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import type { Services } from "../../actors/ports.ts";
import { redactorOf, secretsOf, withoutSecrets } from "../../actors/worker/launching.ts";
import type { MessageProtocol } from "../../adapters/adapter.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { MESSAGES_OPEN_MAX, RECONCILE_PERIOD_MS } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import type { MessageRow } from "../../protocol/message-row.ts";
import type { WorkerError } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import { isEnded } from "../../protocol/worker.ts";
import { failureCode } from "../../protocol/worker-failure.ts";
import type { WorkerRow } from "../../store/port.ts";
import { isPassivated } from "../../supervisor/child/session-decisions.ts";
import { ANSWER_RECORDS, type Answering, foldAnswer, UNANSWERED } from "../../supervisor/messages/answers.ts";
import { lastWords, type MessageDraft, messageDraft } from "../../supervisor/messages/messages.ts";
import { secondsUntilReset } from "../../supervisor/restart/rate-limit.ts";
import type { RuntimeApi } from "../api.ts";
import { specOf } from "../boot/boot.ts";
import type { Core } from "../core.ts";
import type { MessageReply } from "../replies.ts";
import { keyReused } from "./idempotency.ts";

export interface Messaging extends Pick<RuntimeApi, "send" | "ask" | "messages"> {
  /** Told once for each message that is open and whose worker has ended. */
  readonly tellLost: Effect.Effect<void, HoldfastError>;
}

/** On the period: a worker that no shell held has nobody to tell the end of its messages. */
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

export const makeMessaging = (core: Core, watch: RuntimeApi["watch"]): Messaging => {
  const { services, roster, find, rowOf, adapterOf, commit } = core;
  const { log } = services;
  /** Messages on their way into the log, by worker: they count in the queue already. */
  const arriving = new Map<string, number>();

  /** Why nothing can be sent to it; else how it is talked to. */
  const protocolOf = (row: WorkerRow): Effect.Effect<MessageProtocol, HoldfastError> =>
    Effect.gen(function* () {
      const { messages, sessions_under } = yield* adapterOf(row.kind);
      const goesOn = `agent resume ${row.name ?? row.id} PROMPT`;
      if (isEnded(row.state))
        return yield* Effect.fail(
          new HoldfastError(
            "INVALID_STATE",
            `Worker ${row.id} has ended; there is nobody to send to.`,
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
              : { suggestion: `Once it has ended, go on in its session: ${goesOn}` },
          ),
        );
      return messages;
    });

  const checkRoom = (row: WorkerRow): void => {
    const open = log.openMessages(row.id).filter(({ line }) => !line);
    if (open.some(({ closes }) => closes))
      throw new HoldfastError(
        "STDIN_CLOSED",
        `The stdin of worker ${row.id} was closed by \`send --close\`.`,
        {
          suggestion: `Start it anew with an open stdin: agent restart ${row.name ?? row.id}`,
        },
      );
    if (open.length + (arriving.get(row.id) ?? 0) >= MESSAGES_OPEN_MAX)
      throw new HoldfastError(
        "QUEUE_FULL",
        `${MESSAGES_OPEN_MAX} messages to worker ${row.id} are on their way already.`,
        { suggestion: `Wait until its agent has read some: agent messages ${row.name ?? row.id}` },
      );
  };

  const counted = <A>(id: string, work: Effect.Effect<A, HoldfastError>): Effect.Effect<A, HoldfastError> =>
    Effect.acquireUseRelease(
      Effect.sync(() => arriving.set(id, (arriving.get(id) ?? 0) + 1)),
      () => work,
      () =>
        Effect.sync(() => {
          const left = (arriving.get(id) ?? 1) - 1;
          if (left === 0) arriving.delete(id);
          else arriving.set(id, left);
        }),
    );

  /** The secrets that the agent may know and the log may not: of one that never ran, all that its next incarnation would be given. */
  const redactorFor = (row: WorkerRow): Effect.Effect<Redactor> => {
    const known = roster.live.get(row.id)?.redact;
    if (known !== undefined && known !== withoutSecrets) return Effect.succeed(known);
    return Effect.gen(function* () {
      const { spec } = yield* specOf(services, row);
      const adapter = services.adapterFor(row.kind);
      if (adapter === undefined) return redactorOf([]);
      const prepared = services.prepare(adapter, spec, Math.max(1, row.incarnation), undefined, row.id);
      return yield* Effect.match(prepared, {
        onSuccess: ({ secrets }) => redactorOf(secrets),
        onFailure: () => redactorOf(secretsOf(spec, adapter)),
      });
    });
  };

  /** Its record, on the way into the log. */
  const draftOf = (row: WorkerRow, text: string) =>
    Effect.gen(function* () {
      const message_id = newId(core.wallMs());
      const shown = (yield* redactorFor(row)).text(text);
      const masked = shown !== text;
      if (masked) {
        yield* attemptAsync(() => services.files.saveMessage(row.id, message_id, text));
        crashPoint("message-kept");
      }
      const bytes = Buffer.byteLength(text);
      return messageDraft(row.id, message_id, {
        state: "accepted",
        bytes,
        text: shown,
        ...(masked ? { masked } : {}),
      });
    });

  const closingOf = (row: WorkerRow): MessageDraft =>
    messageDraft(row.id, newId(core.wallMs()), { state: "accepted", bytes: 0, closes: true });

  /** The text, the end of the input, or both, together or not at all. Resolves with the id of the first of them. */
  const accept = (row: WorkerRow, text: string | undefined, close: boolean, key: string | undefined) =>
    Effect.gen(function* () {
      const drafts = [
        ...(text === undefined ? [] : [yield* draftOf(row, text)]),
        ...(close ? [closingOf(row)] : []),
      ];
      const [first, ...others] = drafts as [MessageDraft, ...MessageDraft[]];
      const { message_id } = first.payload;
      if (key === undefined) {
        yield* commit(drafts);
        crashPoint("message-accepted");
        return message_id;
      }
      return yield* Effect.catch(
        Effect.as(commit([{ ...first, id: keyOf(row, key) }, ...others]), message_id),
        (error) =>
          // Somebody else with the same key was faster.
          Effect.flatMap(earlier(row, key, text), (known) =>
            known === undefined ? Effect.fail(error) : Effect.succeed(known),
          ),
      );
    });

  const keyOf = (row: WorkerRow, key: string): string => `message:${row.id}:${key}`;

  /** The fate of the first message with this key. One that says something else is no repeat of it. */
  const earlier = (row: WorkerRow, key: string | undefined, text: string | undefined) =>
    Effect.gen(function* () {
      if (key === undefined) return undefined;
      const found = yield* attempt(() => log.byId(keyOf(row, key)));
      if (found?.type !== "worker_message" || found.payload.state !== "accepted") return undefined;
      const { text: first, bytes, masked } = found.payload;
      const shown = text === undefined ? undefined : (yield* redactorFor(row)).text(text);
      // A masked text may be a secret that is known no more: then its length alone tells.
      const isSame = bytes === Buffer.byteLength(text ?? "") && (masked === true || first === shown);
      return isSame ? found.payload.message_id : yield* Effect.fail(keyReused(key));
    });

  const rowFor = (worker_id: string, message_id: string) =>
    attempt(() => log.message(worker_id, message_id) as MessageRow);

  const reply = (row: WorkerRow, message_id: string, effect: MessageReply["effect"]) =>
    Effect.map(rowFor(row.id, message_id), ({ state, seq }) => ({
      worker_id: row.id,
      message_id,
      state,
      effect,
      seq,
    }));

  const send: RuntimeApi["send"] = (ref, text, { idempotency_key, close = false } = {}) =>
    Effect.map(hand(ref, text, close, idempotency_key), ({ seq: _, worker_id: __, ...told }) => told);

  /** Whoever asked may go away in the middle: what is accepted is handed over all the same. */
  const hand = (ref: string, text: string | undefined, close: boolean, key: string | undefined) =>
    Effect.uninterruptibleMask((restore) => handOn(ref, text, close, key, restore));

  const handOn = (
    ref: string,
    text: string | undefined,
    close: boolean,
    key: string | undefined,
    restore: <A>(waiting: Effect.Effect<A, HoldfastError>) => Effect.Effect<A, HoldfastError>,
  ) =>
    Effect.gen(function* () {
      const row = yield* find(ref);
      const repeated = yield* earlier(row, key, text);
      if (repeated !== undefined) return yield* reply(row, repeated, "noop");
      const { acknowledges } = yield* protocolOf(row);
      if (text !== undefined && acknowledges && text.trim() === "")
        return yield* Effect.fail(new HoldfastError("INVALID_REQUEST", "The message is empty."));
      yield* attempt(() => checkRoom(row));
      const message_id = yield* counted(row.id, accept(row, text, close, key));
      // A worker that ended meanwhile takes it no more, and nobody may wait for it.
      if (isEnded((yield* rowOf(row.id)).state)) yield* tellLost;
      const worker = roster.live.get(row.id);
      if (worker !== undefined && isPassivated(worker.child())) yield* worker.input({ type: "wake" });
      if (worker?.mail !== undefined) yield* restore(worker.inScope(worker.mail.deliver()));
      return yield* reply(row, message_id, "created");
    });

  const ask: RuntimeApi["ask"] = (ref, text, { idempotency_key, timeout_ms } = {}) =>
    Effect.gen(function* () {
      const row = yield* find(ref);
      const { messages } = yield* adapterOf(row.kind);
      if (messages?.acknowledges !== true)
        return yield* Effect.fail(
          new HoldfastError(
            "UNSUPPORTED_CAPABILITY",
            `Kind ${row.kind} does not tell which of its output answers a message.`,
            { suggestion: "Send with `agent send`, and read what it says with `agent logs -f`." },
          ),
        );
      const { message_id, seq } = yield* hand(ref, text, false, idempotency_key);
      const waiting = answerTo(row, message_id, seq);
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

  const answerTo = (row: WorkerRow, message_id: string, seq: number) =>
    Effect.gen(function* () {
      const told = watch({ ids: [row.id], from: seq - 1, filter: { types: ANSWER_RECORDS }, follow: true });
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
      if (error !== undefined) return yield* Effect.fail(withId(turnFailure(error), message_id));
      const said = yield* textBetween(log, row.id, end.from, end.to);
      if (said !== undefined && "moved" in said) return yield* Effect.fail(movedError(row.id, said.moved));
      const { text = "", truncated = false } = said ?? {};
      return { id: row.id, message_id, turn, text, truncated, usage, duration_ms };
    });

  const turnFailure = (error: WorkerError): HoldfastError => {
    const retry_after_s = secondsUntilReset(error, null, core.now().wall);
    const wait = error.code === "RATE_LIMITED" && retry_after_s !== undefined ? { retry_after_s } : {};
    return new HoldfastError(failureCode(error), error.message, wait);
  };

  const withId = (error: HoldfastError, message_id: string): HoldfastError =>
    new HoldfastError(error.code, error.message, {
      ...error.info,
      details: { ...error.info.details, message_id },
    });

  const tellLost = Effect.gen(function* () {
    const lost = yield* attempt(() =>
      log.openMessages().filter(({ worker_id }) => {
        const row = log.worker(worker_id);
        return row !== undefined && isEnded(row.state);
      }),
    );
    if (lost.length > 0) yield* commit(lastWords(lost), { holds: true });
  });

  return {
    send,
    ask,
    messages: (ref, { limit, cursor }) =>
      Effect.flatMap(find(ref), ({ id }) =>
        attempt(() => {
          const before = cursor === undefined ? log.head() + 1 : Number(cursor);
          const newest = log.messages(id, before, limit + 1);
          if (newest.length <= limit) return { messages: newest };
          const messages = newest.slice(1);
          return { messages, cursor: String((messages[0] as MessageRow).seq) };
        }),
      ),
    tellLost,
  };
};
