/** The result of a task, made of the end of its worker, and signed by the agent (weblisk.txt, TaskResult). Pure. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_RESULT_KEEP_MS, WEBLISK_RESULT_TIDY_MS } from "../../base/limits.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import type { SigningProfile } from "../../protocol/words.ts";
import type { IdentityKey } from "../identity/algorithms.ts";
import { signedBy } from "../signing/operations.ts";
import type { TASK_STATUSES } from "../types/tasks.ts";
import { WIRE_ID_CHARS } from "../wire/ids.ts";
import { recommendationOf } from "./approvals.ts";
import type { TaskApproval, TaskEnd } from "./ports.ts";

export const RESULT_TIDY = { keep_ms: WEBLISK_RESULT_KEEP_MS, every_ms: WEBLISK_RESULT_TIDY_MS };

/** SHA-256 of canonical JSON, in hex. */
export const digestOf = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex");

/** Names the request of a task by its content, but for the token, which a repeat may have renewed. */
export const requestDigest = (agent: string, { token, ...asked }: JsonObject): string =>
  digestOf({ agent, asked });

interface ResultParts {
  readonly task_id: string;
  readonly agent: string;
  readonly worker: string;
  readonly request_digest: string;
  readonly key: IdentityKey;
  readonly profile: SigningProfile;
}

export interface ResultFacts extends ResultParts {
  readonly end: TaskEnd;
}

/** The result of a task that has ended. */
export const resultOf = ({ end, ...parts }: ResultFacts): JsonObject => {
  const finished_at = Math.floor(end.ended_ms / 1_000);
  const output = {
    ...(end.isSuccess
      ? { text: end.text }
      : { error: end.error ?? { code: "WORKER_FAILED", message: "The agent failed." }, text: end.text }),
    ...(end.isCut && { truncated: true }),
    attempts: end.attempts,
    finished_at,
  };
  return signedResult(parts, {
    status: end.isSuccess ? "success" : "failed",
    output,
    changes: end.changes.map((change) => ({ ...change })),
    observations: [observationOf(parts, end, finished_at)],
    duration_ms: Math.max(0, end.ended_ms - end.begun_ms),
    timestamp: finished_at,
  });
};

/** The counts of a run; its id follows from the task, because a result is made again until one is kept. */
const observationOf = (
  { task_id, agent, worker }: ResultParts,
  { measurements, attempts }: TaskEnd,
  timestamp: number,
): JsonObject => ({
  id: digestOf({ observed: task_id, worker }).slice(0, WIRE_ID_CHARS),
  agent_name: agent,
  target: worker,
  timestamp,
  measurements: { attempts, ...measurements },
});

export interface PendingFacts extends ResultParts {
  readonly approvals: readonly TaskApproval[];
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The result for now of a task that waits for approvals: they are its recommendations. */
export const pendingResult = ({ approvals, now, ...parts }: PendingFacts): JsonObject =>
  signedResult(parts, {
    status: "pending_approval",
    output: {},
    recommendations: approvals.map(recommendationOf),
    duration_ms: 0,
    timestamp: Math.floor(now / 1_000),
  });

interface ResultContent {
  readonly status: (typeof TASK_STATUSES)[number];
  readonly output: JsonObject;
  readonly changes?: readonly JsonObject[];
  readonly observations?: readonly JsonObject[];
  readonly recommendations?: readonly JsonObject[];
  readonly duration_ms: number;
  /** Epoch seconds. */
  readonly timestamp: number;
}

/**
 * The document signs `task_id`, `status` and `output` alone. So the output also tells what the signature should hold: the agent,
 * the request, and digests of the lists beside it.
 */
const signedResult = (
  { task_id, agent, worker, request_digest, key, profile }: ResultParts,
  { status, output: own, duration_ms, timestamp, ...listed }: ResultContent,
): JsonObject => {
  const lists = { changes: [], observations: [], recommendations: [], ...listed };
  const output = {
    ...own,
    agent_name: agent,
    digests: Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, digestOf(list)])),
    request_digest,
    worker_id: worker,
  };
  return {
    task_id,
    status,
    output,
    ...lists,
    ...signedBy(key, "result", { task_id, status, output }, profile),
    duration_ms,
    agent_name: agent,
    timestamp,
  };
};
