/** Runs long tasks in a worker thread, so that they do not hold up supervision. */
import { Worker } from "node:worker_threads";
import { crashPoint } from "../../base/crash-point.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import type { TaskName, TaskReply, Tasks } from "./thread-tasks.ts";

/** The thread's program: beside this file, as source; in a build, under a longer name. */
const { url } = import.meta;
const PROGRAM = new URL(url.endsWith(".ts") ? "./thread.ts" : "./store-thread.js", url);

export interface Offload {
  run<N extends TaskName>(name: N, asks: Tasks[N]["asks"]): Promise<Tasks[N]["answers"]>;
  /** Ends the running tasks. Their callers get the error that the log is closed. */
  close(): void;
}

export const makeOffload = (): Offload => {
  const running = new Set<Worker>();
  let isClosed = false;
  return {
    run: (name, asks) =>
      new Promise((resolve, reject) => {
        if (isClosed) return reject(new HoldfastError("STORE_FAILED", "The event log is closed."));
        const worker = new Worker(PROGRAM, { workerData: { name, asks }, env: {}, execArgv: [] });
        running.add(worker);
        crashPoint("offload-begun");
        const refuse = (sentence: string): void =>
          reject(new HoldfastError(isClosed ? "UNAVAILABLE" : "STORE_FAILED", sentence));
        worker.once("message", (answer: TaskReply) => {
          if (answer.ok) resolve(answer.value as never);
          else
            reject(
              new HoldfastError(answer.code as ErrorCode, answer.message, { suggestion: answer.suggestion }),
            );
        });
        worker.once("error", (cause) =>
          refuse(`The thread that works on the event log failed: ${cause.message}.`),
        );
        worker.once("exit", () => {
          running.delete(worker);
          refuse("The event log was closed in the middle of the work."); // has no effect after an answer
        });
      }),
    close: () => {
      isClosed = true;
      for (const worker of running) void worker.terminate();
    },
  };
};
