/** The journal of an actor over a log in memory: an actor knows the ports of the store, and none of SQLite. */
import { it } from "@effect/vitest";
import { Effect, Fiber } from "effect";
import { TestClock } from "effect/testing";
import { expect } from "vitest";
import { Journal } from "../../../src/actors/deciding/journal.ts";
import { SoloDecider } from "../../../src/actors/deciding/worker-decider.ts";
import { READ_PAGE_RECORDS } from "../../../src/base/limits.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord } from "../../../src/protocol/records.ts";
import type { EventLog } from "../../../src/store/event-log.ts";
import { newChild } from "../../../src/supervisor/child/evolve.ts";
import { spec } from "../../supervisor/child/children.ts";

const memoryLog = () => {
  const records: LogRecord[] = [];
  const failures: HoldfastError[] = [];
  const log: Pick<EventLog, "head" | "commit" | "readLines" | "trouble"> = {
    head: () => records.length,
    trouble: () => failures[0],
    commit: async (drafts) => {
      const added = drafts.map((draft, n) => ({ ...draft, seq: records.length + n + 1 }) as LogRecord);
      records.push(...added);
      return added;
    },
    readLines: (after, limit) => {
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const page = records.slice(after, after + limit);
      const lines = page.map((record) => JSON.stringify(record));
      return { lines, seqs: page.map(({ seq }) => seq), scanned: after + page.length };
    },
  };
  return { log: log as EventLog, records, failures };
};

it.effect(
  "an actor records its decisions there, and reads each record once, also where the log cannot be read for a moment",
  () =>
    Effect.gen(function* () {
      const { log, records, failures } = memoryLog();
      const reports: string[] = [];
      const clock = { boot_id: "boot", mono_ns: "7000000" };
      const now = () => ({ mono_ms: 7, clock, random: 0, wall: { ms: 0, zone: "UTC" } });
      const decider = new SoloDecider({ log, now }, newChild("W", spec()), { tell: () => {} });
      const services = { log, views: {} as never, report: (message: string) => void reports.push(message) };
      const journal = new Journal(services, { now: () => 7_000_000n }, decider);
      yield* journal.fact({ type: "begin", incarnation: 1, reason: "spawn" });
      expect(records.map(({ type }) => type)).toEqual(["worker_state_changed"]);
      expect(journal.child().state).toBe("starting");

      const note = {
        type: "worker_started",
        stream: "worker:W",
        worker_id: "W",
        payload: { clock },
      } as const;
      for (let n = 0; n < READ_PAGE_RECORDS; n += 1) yield* journal.note([note]);
      failures.push(new HoldfastError("STORE_FAILED", "The log cannot be read."));
      const seqs: number[] = [];
      const reading = yield* Effect.forkChild(journal.records(0, {}, ({ seq }) => void seqs.push(seq)));
      yield* TestClock.adjust("1 minute");
      yield* Fiber.join(reading);
      expect(seqs).toEqual(records.map(({ seq }) => seq));
      expect(reports).toEqual(["worker W waits for the store: The log cannot be read."]);
    }),
);
