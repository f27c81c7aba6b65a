/** The worker thread: runs one task on a separate connection, answers once, and ends. */
import { parentPort, workerData } from "node:worker_threads";
import { makeJudge } from "./damage.ts";
import { storeError } from "./failure.ts";
import { foldInto } from "./mend.ts";
import { checkFile } from "./offline.ts";
import { referencedDigests } from "./references.ts";
import { collect, runsOf } from "./retention/collect.ts";
import { bringUp } from "./search/indexing.ts";
import type { Task, TaskReply } from "./thread-tasks.ts";
import { usageOfFile } from "./usage.ts";

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
    case "usage":
      return usageOfFile(task.asks.file, task.asks.query);
    case "index":
      return bringUp(task.asks);
    case "references":
      return referencedDigests(task.asks.file);
  }
};

const answer = async (task: Task): Promise<TaskReply> => {
  try {
    return { ok: true, value: await carryOut(task) };
  } catch (cause) {
    const { file } = { file: "", ...task.asks };
    const { code, message, suggestion } = makeJudge(file, Date.now)(storeError(cause));
    return { ok: false, code, message, suggestion };
  }
};

void answer(workerData as Task).then((reply) => parentPort?.postMessage(reply));
