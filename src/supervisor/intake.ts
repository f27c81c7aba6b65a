/**
 * Reads what one incarnation writes: batch by batch, each one transaction with its checkpoint. Opened at the first read,
 * so that a log which cannot be read just now is waited for and not an error of the agent.
 */
import { Effect, Semaphore } from "effect";
import type { AgentAdapter, ExitFacts, IncarnationOutcome } from "../adapters/adapter.ts";
import { type Ingest, openIngest } from "../adapters/ingest.ts";
import type { Run } from "../adapters/spawner.ts";
import type { RecordDraft } from "../protocol/records.ts";
import type { Redactor } from "../protocol/redact.ts";
import type { Journal } from "./journal.ts";

export interface Intake {
  /** Reads all that is there. */
  readonly drain: Effect.Effect<void>;
  /** After the exit and the last drain: the rest, and the adapter's verdict. */
  finish(
    exit: ExitFacts,
  ): Effect.Effect<{ readonly drafts: readonly RecordDraft[]; readonly outcome: IncarnationOutcome }>;
}

export const makeIntake = (
  journal: Journal,
  adapter: AgentAdapter,
  run: Run,
  redact: Redactor,
  /** Told of each batch that made records, once it is durable. */
  onRecords: (drafts: readonly RecordDraft[]) => Effect.Effect<void>,
): Intake => {
  const { worker_id, incarnation } = run;
  const reading = Semaphore.makeUnsafe(1);
  let ingest: Ingest | undefined;

  const opened = Effect.suspend(() => {
    if (ingest !== undefined) return Effect.succeed(ingest);
    return Effect.map(
      journal.ask((log) => log.checkpoints(worker_id, incarnation)),
      (checkpoints) => {
        ingest = openIngest({
          adapter,
          worker_id,
          incarnation,
          spool: (stream) => run.spool(stream),
          checkpoints,
          redact,
        });
        return ingest;
      },
    );
  });

  const drain = Effect.gen(function* () {
    const source = yield* opened;
    for (;;) {
      const batch = source.pull();
      if (batch === undefined) return;
      yield* journal.note(batch.drafts, { checkpoint: batch.checkpoint });
      if (batch.drafts.length > 0) yield* onRecords(batch.drafts);
    }
  });

  return {
    drain: reading.withPermits(1)(drain),
    finish: (exit) =>
      reading.withPermits(1)(
        Effect.map(opened, (source) => {
          const last = source.finish(exit);
          source.close();
          return last;
        }),
      ),
  };
};
