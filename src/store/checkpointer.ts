/**
 * Moves what is in the write-ahead log into the database, in a thread: it copies pages and waits for the disk twice, and in
 * SQLite's own way the commit that has come to a thousand pages does that, with everybody waiting for it. Readers and
 * the writer go on meanwhile. A thread that is not needed for a while ends.
 */
import { Worker } from "node:worker_threads";
import { CHECKPOINT_AFTER_WRITES, CHECKPOINTER_IDLE_MS } from "../protocol/limits.ts";
import { THREAD_PROGRAM } from "./offload.ts";
import type { Checkpointed } from "./thread-tasks.ts";

export interface Checkpointer {
  /** Something was written, or is about to be. */
  wrote(): void;
  isAtWork(): boolean;
  close(): void;
}

/** `onDone` is told how many pages are left that only the log has; never of a checkpoint that failed: the next one is. */
export const makeCheckpointer = (file: string, onDone: (left: number) => void): Checkpointer => {
  let thread: Worker | undefined;
  let isAtWork = false;
  let writes = 0;
  let idle: NodeJS.Timeout | undefined;

  const end = (): void => {
    clearTimeout(idle);
    void thread?.terminate();
    thread = undefined;
    isAtWork = false;
  };

  const start = (): Worker => {
    const started = new Worker(THREAD_PROGRAM, {
      workerData: { name: "checkpoints", asks: { file } },
      env: {},
      execArgv: [],
    });
    started.unref();
    const ended = (): void => {
      if (thread === started) end();
    };
    started.once("error", ended).once("exit", ended);
    started.on("message", ({ left }: Checkpointed) => {
      if (thread !== started) return;
      isAtWork = false;
      idle = setTimeout(end, CHECKPOINTER_IDLE_MS).unref();
      if (left !== undefined) onDone(left);
    });
    return started;
  };

  return {
    wrote: () => {
      writes += 1;
      if (isAtWork || writes < CHECKPOINT_AFTER_WRITES) return;
      [writes, isAtWork] = [0, true];
      clearTimeout(idle);
      thread ??= start();
      thread.postMessage(undefined);
    },
    isAtWork: () => isAtWork,
    close: end,
  };
};
