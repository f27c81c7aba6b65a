/** For how long a hub may keep the answer of a federated task (weblisk.txt, Data Boundary Contracts: `retention`). Pure. */
import { FEDERATED_TASK_MAX_MS, PEER_RETENTION_MAX_HOURS } from "../base/limits.ts";
import type { TaskDirection } from "./words.ts";

const HOUR_MS = 3_600_000;

/** `24h`, within the bound. */
export const isHours = (text: string): boolean =>
  /^[1-9]\d{0,3}h$/.test(text) && Number.parseInt(text, 10) <= PEER_RETENTION_MAX_HOURS;

/**
 * Milliseconds. With `none`, the hub that answers still needs the answer while its peer may ask for the same task again, and the hub
 * that asks keeps nothing: 0.
 */
export const keepsAnswerFor = (retention: string, direction: TaskDirection): number => {
  if (isHours(retention)) return Number.parseInt(retention, 10) * HOUR_MS;
  return direction === "in" ? FEDERATED_TASK_MAX_MS : 0;
};

/** The name of the sealed answer of a task. */
export const answerName = (direction: TaskDirection, hub_id: string, task_id: string): string =>
  `${direction} ${hub_id} ${task_id}`;
