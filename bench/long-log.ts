/** A long log, for what takes long on one. */
import { join } from "node:path";
import { type RecordDraft, workerStream } from "../src/protocol/records.ts";
import { WorkerSpec } from "../src/protocol/worker.ts";
import { openLog } from "../src/store/sqlite/log.ts";

const CLOCK = { boot_id: "bench", mono_ns: "1" };

/** The records of one worker: that it was asked for, and a line of its output. */
export const draftsOf = (worker_id: string) => {
  const of = { stream: workerStream(worker_id), worker_id, incarnation: 1 } as const;
  const spec = WorkerSpec.parse({ kind: "command", argv: ["true"], cwd: "/", restart: "temporary" });
  const requested: RecordDraft = {
    ...of,
    type: "worker_spawn_requested",
    payload: { spec, clock: CLOCK },
  };
  const line: RecordDraft = {
    ...of,
    type: "agent.event",
    payload: {
      agent_kind: "command",
      kind: "TextOutput",
      channel: "stdout",
      text: "a line as agents print them\n",
    },
  };
  return { of, requested, line };
};

/** The id of the worker with this number. */
export const workerId = (n: number): string => `01BENCH${String(n).padStart(19, "0")}`;

/** A line of output with a text of its own. */
const saying = (line: RecordDraft, text: string): RecordDraft =>
  ({ ...line, payload: { ...line.payload, text } }) as RecordDraft;

const lifeOf = (n: number, lines: number, textOf?: (n: number) => string): RecordDraft[] => {
  const { of, requested, line } = draftsOf(workerId(n));
  return [
    requested,
    {
      ...of,
      type: "worker_state_changed",
      payload: { from: "pending", to: "starting", reason: "spawned", clock: CLOCK },
    },
    ...Array.from({ length: lines }, (_, at) =>
      textOf === undefined ? line : saying(line, textOf(n * lines + at)),
    ),
    { ...of, type: "worker_ended", payload: { state: "completed", reason: "over" } },
  ];
};

/** `records` of `workers` that have ended, as they are in a log that has grown for long; without syncs. */
export const fill = (dir: string, records: number, workers: number, textOf?: (n: number) => string): void => {
  const log = openLog({
    file: join(dir, "holdfast.db"),
    database: (db) => {
      const { pragma } = db;
      return Object.assign(db, {
        pragma: (text: string, options: object) =>
          pragma.call(db, text.startsWith("synchronous") ? "synchronous = OFF" : text, options),
      });
    },
  });
  const lines = records / workers - 3;
  for (let n = 0; n < workers; n++) log.append(lifeOf(n, lines, textOf));
  log.close();
};
