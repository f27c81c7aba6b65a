/**
 * Keeps the final answer of an incarnation as an artifact if it is over the inline limit: its record has the beginning and
 * the digest (protocol-v1.txt, Artifactization). The artifact is kept before the end is recorded, so a record never names
 * one that did not exist. An answer over the capture limit is in the log alone, and the record says so.
 */

import { Effect } from "effect";
import { CAPTURE_MAX_BYTES, INLINE_MAX_BYTES } from "../../base/limits.ts";
import type { AgentCompletion, AnswerArtifact } from "../../protocol/completion.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../protocol/records.ts";
import type { Redactor } from "../../protocol/redact.ts";
import type { EventLog } from "../../store/event-log.ts";
import { errorOf } from "../../supervisor/child/exits.ts";
import { newestSeqs } from "../deciding/paging.ts";
import { attempt, attemptAsync, typed } from "../machine/attempt.ts";
import type { Services } from "../ports.ts";
import { answerBetween } from "./final-answer.ts";
import { movedError } from "./moved.ts";

/** A worker whose incarnation has ended. */
interface EndedWorker {
  readonly id: string;
  readonly services: Services;
  readonly redact: Redactor;
}

/** Undefined if the record holds the whole answer, or if there is no final answer: a command has its stdout. */
export const keptAnswer = (
  { id, services, redact }: EndedWorker,
  drafts: readonly RecordDraft[],
  { final_text = "" }: AgentCompletion,
): Effect.Effect<AnswerArtifact | undefined> => {
  const { artifacts, capture_max_bytes = CAPTURE_MAX_BYTES } = services;
  let size_bytes = Buffer.byteLength(final_text);
  if (artifacts === undefined || size_bytes <= INLINE_MAX_BYTES) return Effect.undefined;
  const keep = Effect.gen(function* () {
    const answer = yield* readAnswer(services.log, id, drafts, capture_max_bytes);
    ({ size_bytes } = answer);
    if (size_bytes > capture_max_bytes)
      return yield* Effect.fail(
        new HoldfastError(
          "CAPTURE_TOO_LARGE",
          `The answer has ${size_bytes} bytes, and at most ${capture_max_bytes} are captured.`,
        ),
      );
    const said = answer.end();
    if (said !== undefined && "moved" in said) return yield* Effect.fail(movedError(id, said.moved));
    // A secret that the agent printed in pieces can be found only in the whole text.
    const text = new TextEncoder().encode(redact.text(said?.text ?? ""));
    const kept = yield* attemptAsync(() => artifacts.put(text));
    return { digest: kept.digest, size_bytes: kept.size_bytes };
  });
  return Effect.catch(typed(keep), (cause) =>
    Effect.succeed({ digest: null, size_bytes, error: errorOf(cause) }),
  );
};

interface NewestAnswer {
  readonly digest: string;
  readonly size_bytes: number;
}

/** The newest answer that is kept whole: that of the last incarnation that has ended. */
export const artifactOf = (
  log: EventLog,
  workerId: string,
): Effect.Effect<NewestAnswer | undefined, HoldfastError> => {
  const filter = { worker_ids: [workerId], types: ENDS };
  return Effect.flatMap(newestSeqs(log, filter, { since: 0, count: 1 }), ([seq]) =>
    seq === undefined
      ? Effect.undefined
      : attempt(() => {
          const [last] = log.read(seq - 1, 1).records;
          const kept = last !== undefined && "artifact" in last.payload ? last.payload.artifact : undefined;
          return kept?.digest == null || !("size_bytes" in kept)
            ? undefined
            : { digest: kept.digest, size_bytes: kept.size_bytes };
        }),
  );
};

const ENDS = ["worker_completed", "worker_failed", "worker_cancelled"] as const;

/** Reads the last message to the user of the ending incarnation, from the beginning of its last turn, a page at a time. */
const readAnswer = (log: EventLog, workerId: string, drafts: readonly RecordDraft[], max_bytes: number) => {
  const filter = { worker_ids: [workerId], types: ["worker_state_changed", "turn_started"] } as const;
  return Effect.flatMap(newestSeqs(log, filter, { since: 0, count: 1 }, isBegin), ([from = 0]) =>
    Effect.map(answerBetween(log, workerId, { from, to: Number.POSITIVE_INFINITY }, max_bytes), (answer) => {
      for (const draft of drafts) answer.add(draft);
      return answer;
    }),
  );
};

const isBegin = (line: string): boolean => {
  const record: LogRecord = JSON.parse(line);
  return (
    record.type === "turn_started" ||
    (record.type === "worker_state_changed" && record.payload.to === "starting")
  );
};
