/** The result of a task, made of the end of its worker, and signed by the agent (weblisk.txt, TaskResult). Pure. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_RESULT_KEEP_MS, WEBLISK_RESULT_TIDY_MS } from "../../base/limits.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import type { IdentityKey } from "../identity/algorithms.ts";
import { type SigningProfile, signedBy } from "../signing/operations.ts";
import type { TaskEnd } from "./ports.ts";

export const RESULT_TIDY = { keep_ms: WEBLISK_RESULT_KEEP_MS, every_ms: WEBLISK_RESULT_TIDY_MS };
/** An answer that was made of a result is kept until that is gone for certain: it is never made twice. */
export const ANSWER_TIDY = { ...RESULT_TIDY, keep_ms: RESULT_TIDY.keep_ms + RESULT_TIDY.every_ms };

/** SHA-256 of canonical JSON, in hex. */
export const digestOf = (value: unknown): string =>
  createHash("sha256").update(canonicalJson(value)).digest("hex");

/** Names the request of a task by its content, but for the token, which a repeat may have renewed. */
export const requestDigest = (agent: string, { token, ...asked }: JsonObject): string =>
  digestOf({ agent, asked });

export interface ResultFacts {
  readonly task_id: string;
  readonly agent: string;
  readonly worker: string;
  readonly request_digest: string;
  readonly end: TaskEnd;
  readonly key: IdentityKey;
  readonly profile: SigningProfile;
}

/**
 * The document signs `task_id`, `status` and `output` alone. So the output also tells what the signature should hold: the agent,
 * the request, and digests of the lists beside it.
 */
export const resultOf = ({
  task_id,
  agent,
  worker,
  request_digest,
  end,
  key,
  profile,
}: ResultFacts): JsonObject => {
  const lists = { changes: [], observations: [], recommendations: [] };
  const finished_at = Math.floor(end.ended_ms / 1_000);
  const status = end.isSuccess ? "success" : "failed";
  const output = {
    ...(end.isSuccess
      ? { text: end.text }
      : { error: end.error ?? { code: "WORKER_FAILED", message: "The agent failed." }, text: end.text }),
    ...(end.isCut && { truncated: true }),
    agent_name: agent,
    attempts: end.attempts,
    digests: Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, digestOf(list)])),
    finished_at,
    request_digest,
    worker_id: worker,
  };
  return {
    task_id,
    status,
    output,
    ...lists,
    ...signedBy(key, "result", { task_id, status, output }, profile),
    duration_ms: Math.max(0, end.ended_ms - end.begun_ms),
    agent_name: agent,
    timestamp: finished_at,
  };
};
