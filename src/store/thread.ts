/** The worker thread: one task on a connection of its own, one answer, and its end; or checkpoints for as long as they are asked for. */
import { parentPort, workerData } from "node:worker_threads";
import SQLite from "better-sqlite3";
import { CHECKPOINT_PASSES_MAX, CHECKPOINT_REST_MAX_PAGES } from "../protocol/limits.ts";
import { referencedDigests } from "./cas/references.ts";
import { storeError } from "./failure.ts";
import { foldInto } from "./mend.ts";
import { checkFile } from "./offline.ts";
import { collect, runsOf } from "./retention/collect.ts";
import type { Answer, Checkpointed, Checkpoints, Task } from "./thread-tasks.ts";

const carryOut = (task: Task): unknown => {
  switch (task.name) {
    case "check":
      return checkFile(task.asks.file);
    case "fold":
      return foldInto(task.asks.file, task.asks.into);
    case "collect":
      return collect(task.asks);
    case "runs":
      return runsOf(task.asks.path, task.asks.sha256);
    case "references":
      return referencedDigests(task.asks.file);
  }
};

/** What is written meanwhile, the next pass finds: until that is little. No pass makes anybody wait. */
const checkpoint = (file: string): Checkpointed => {
  try {
    // Opened for each: the file may be another one by now.
    const db = new SQLite(file, { fileMustExist: true, timeout: 0 });
    try {
      let left = 0;
      for (let pass = 0; pass < CHECKPOINT_PASSES_MAX; pass += 1) {
        const [found] = db.pragma("wal_checkpoint(PASSIVE)") as { log: number; checkpointed: number }[];
        left = (found?.log ?? 0) - (found?.checkpointed ?? 0);
        if (left <= CHECKPOINT_REST_MAX_PAGES) break;
      }
      return { left };
    } finally {
      db.close();
    }
  } catch {
    // The keeper sees what is wrong with the file, and empties a log that grows.
    return { left: undefined };
  }
};

const answer = (task: Task): Answer => {
  try {
    return { ok: true, value: carryOut(task) };
  } catch (cause) {
    const { code, message, suggestion } = storeError(cause);
    return { ok: false, code, message, suggestion };
  }
};

const asked = workerData as Task | Checkpoints;
if (asked.name === "checkpoints")
  parentPort?.on("message", () => parentPort?.postMessage(checkpoint(asked.asks.file)));
else parentPort?.postMessage(answer(asked));
