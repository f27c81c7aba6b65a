/** The thread of telemetry: it reads the log, folds, encodes and posts beside the daemon's own loop. */
import { readlinkSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { Effect, Latch } from "effect";
import type { TracedWorker } from "../../control/telemetry/traced.ts";
import { openLogReader } from "../../store/sqlite/log-reader.ts";
import { TelemetryExporter } from "./exporter.ts";
import type { FromTelemetry, TelemetryThreadData, ToTelemetry } from "./messages.ts";
import { OtlpEncoder } from "./otlp.ts";

/** Everything else of the machine goes first: the daemon sees to that. Linux alone has a priority for each thread. */
const giveWay = (): void => {
  try {
    const [, id] = /task\/(\d+)$/.exec(readlinkSync("/proc/thread-self")) ?? [];
    send({ type: "thread", id: Number(id) });
  } catch {
    // It runs as the others do.
  }
};

const port = parentPort!;
const send = (message: FromTelemetry): void => port.postMessage(message);
const { source, log_file, ...data } = workerData as TelemetryThreadData;
const written = Latch.makeUnsafe(false);
/** Takes the answer to the one question at a time. */
let found: (workers: readonly (readonly [string, TracedWorker])[]) => void = () => undefined;

const exporter = new TelemetryExporter({
  ...data,
  openLog: () => openLogReader(log_file),
  encoder: new OtlpEncoder(source),
  written,
  log: (...told) => send({ type: "log", told }),
  defects: { tell: (where, cause) => send({ type: "defect", where, cause }) },
  told: (standing) => send({ type: "standing", standing }),
  lookUp: (ids) =>
    Effect.callback((resume) => {
      found = (workers) => resume(Effect.succeed(workers));
      send({ type: "unknown", ids });
    }),
});

const asked = Effect.callback<void>((resume) => {
  port.on("message", (message: ToTelemetry) => {
    if (message.type === "written") Latch.openUnsafe(written);
    else if (message.type === "workers") found(message.found);
    else resume(Effect.void);
  });
});

giveWay();
await Effect.runPromise(Effect.scoped(Effect.andThen(exporter.run, asked)));
port.close();
