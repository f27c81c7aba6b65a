/** A worker's output: its answer, and its raw bytes. */

import { join } from "node:path";
import { Effect } from "effect";
import { artifactOf } from "../../actors/intake/answer-artifact.ts";
import { finalText, silent, unread, wholeFinalText } from "../../actors/intake/final-answer.ts";
import { movedError } from "../../actors/intake/moved.ts";
import { attemptAsync } from "../../actors/machine/attempt.ts";
import { PROGRAM_KIND } from "../../adapters/kinds.ts";
import { cutUtf8 } from "../../protocol/bounds.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { summaryOfText } from "../../protocol/summary.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import type { OutputReply } from "../replies.ts";
import { readRaw, sliceOf } from "./raw.ts";

export const makeOutput = ({ find, roster, services }: Core): Pick<RuntimeApi, "output" | "raw"> => {
  const { log, spawner, workerDir, artifacts } = services;
  const { live } = roster;
  const keptText = (digest: string): Effect.Effect<string | undefined> =>
    artifacts === undefined
      ? Effect.succeed(undefined)
      : Effect.promise(() =>
          artifacts.get(digest).then(
            (bytes) => new TextDecoder().decode(bytes),
            () => undefined,
          ),
        );
  const answerOf = (ref: string): Effect.Effect<OutputReply, HoldfastError> =>
    Effect.gen(function* () {
      const row = yield* find(ref);
      const { id, kind } = row;
      const isLive = live.has(id);
      const kept = isLive ? undefined : yield* artifactOf(log, id);
      // protocol-v1.txt, Summary requirements: an artifact comes with its summary.
      const artifact = (text: string) =>
        kept === undefined
          ? {}
          : { artifact: kept.digest, summary: { ...summaryOfText(text), size_bytes: kept.size_bytes } };
      const whole = (text: string) => ({ id, text, truncated: false, omitted_bytes: 0, ...artifact(text) });
      const told = isLive ? undefined : wholeFinalText(row.completion);
      if (told !== undefined) return whole(told);
      const found = yield* finalText(log, id);
      if (found !== undefined && "moved" in found) {
        // The log no longer has the answer; its artifact is as old as the record that names it.
        const text = kept === undefined ? undefined : yield* keptText(kept.digest);
        if (text !== undefined) return whole(text);
        return yield* Effect.fail(movedError(id, found.moved));
      }
      const isUnread = found?.text === "" && found.truncated && kind !== PROGRAM_KIND;
      if (found !== undefined && !isUnread) return { id, ...found, ...artifact(found.text) };
      return yield* Effect.fail(isUnread ? unread(id, found.omitted_bytes) : silent(row, isLive));
    });
  return {
    output: (ref, { max_bytes } = {}) => Effect.map(answerOf(ref), (answer) => cut(answer, max_bytes)),
    raw: (ref, stream, offset, maxBytes, asked) =>
      Effect.gen(function* () {
        const { id, incarnation: newest } = yield* find(ref);
        const incarnation = asked ?? newest;
        const isLive = live.has(id);
        // Ask before reading, so that a reader that reads until the end misses nothing.
        const ended = !isLive || incarnation < newest;
        const notKept = (why: string) =>
          Effect.fail(new HoldfastError("OUTPUT_NOT_FOUND", `The raw ${stream} of worker ${id} ${why}.`));
        if (newest === 0 && !isLive) return yield* notKept("is not there: it was never started");
        const spool = join(workerDir(id), String(incarnation), stream);
        const kept = spawner.output?.({ worker_id: id, incarnation }, stream);
        const slice =
          incarnation === 0
            ? undefined
            : kept !== undefined
              ? sliceOf(kept, offset, maxBytes)
              : yield* attemptAsync(() => readRaw(spool, offset, maxBytes));
        if (slice === undefined && ended) return yield* notKept("is not kept (any more)");
        const nothing = { base64: "", next: offset };
        return { ...(slice ?? nothing), ended, incarnation, newest };
      }),
  };
};

const cut = (answer: OutputReply, maxBytes = Number.POSITIVE_INFINITY): OutputReply => {
  const { text, omitted_bytes } = answer;
  const shown = cutUtf8(text, maxBytes);
  if (shown === text) return answer;
  const left_out = Buffer.byteLength(text) - Buffer.byteLength(shown);
  return { ...answer, text: shown, truncated: true, omitted_bytes: omitted_bytes + left_out };
};
