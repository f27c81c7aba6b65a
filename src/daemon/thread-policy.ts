/** Which threads of this process run first, by sched(7). `id` is the kernel's number of a thread. */
import { setPriority } from "node:os";
import { TELEMETRY_NICE } from "../base/limits.ts";
import { cFunction } from "./c-library.ts";

const POLICIES = { other: 0, idle: 5 } as const;
/** The priority that real-time policies alone have. */
const PARAMETER = Buffer.alloc(4);

/** True if the system did it. */
const setPolicy = (id: number, policy: keyof typeof POLICIES): boolean => {
  try {
    return cFunction("int sched_setscheduler(int, int, const void *)")(id, POLICIES[policy], PARAMETER) === 0;
  } catch {
    return false; // koffi or the function is missing
  }
};

/** Below every `nice`: a processor that runs such a thread counts as idle, so nobody queues elsewhere because of it. */
export const runWhereIdle = (id: number): void => {
  if (setPolicy(id, "idle")) return;
  try {
    setPriority(id, TELEMETRY_NICE);
  } catch {
    // It runs as the others do.
  }
};

/** As the others again. A system that leaves that to root lets the thread go on as it was. */
export const runAsOthers = (id: number): void => void setPolicy(id, "other");
