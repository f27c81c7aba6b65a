/** The canonical types of tasks and of what comes of them (weblisk.txt, Core Types and Status Enum; notes 4). */
import * as z from "zod";
import { WEBLISK_DECIDED_MAX, WEBLISK_PATH_MAX_CHARS } from "../../base/limits.ts";
import { id, map, name, proof, seconds, text, token } from "./parts.ts";

export const TASK_PRIORITIES = ["critical", "high", "normal", "low", "background"] as const;
/** weblisk.txt: "exactly 3 values". */
export const TASK_STATUSES = ["success", "failed", "pending_approval"] as const;

export const TaskContext = z.looseObject({
  /** Absolute; the receiver decides whether it is one of its own. */
  workspace_root: z.string().max(WEBLISK_PATH_MAX_CHARS).optional(),
  services: z.unknown().optional(),
  entity: map.optional(),
  trace_id: id.optional(),
});

export const TaskRequest = z.looseObject({
  id,
  token: token.optional(),
  context: TaskContext.default({}),
  inputs: map.default({}),
  priority: z.enum(TASK_PRIORITIES).default("normal"),
  /** Epoch seconds. */
  deadline: seconds.optional(),
  /** The agent that a task for an orchestrator is for, by its names in all vintages. */
  target: name.optional(),
  target_agent: name.optional(),
  payload: map.optional(),
  input: map.optional(),
  action: name.optional(),
  from: name.optional(),
  timestamp: seconds.optional(),
});

export const ProposedChange = z.looseObject({
  path: z.string(),
  action: z.enum(["create", "modify", "delete"]),
  original: z.string().optional(),
  modified: z.string().optional(),
  diffs: z.array(map).optional(),
});

export const Finding = z.looseObject({
  rule_id: id,
  severity: z.enum(["critical", "warning", "info"]),
  element: text,
  current: text,
  expected: text,
  message: text,
  fixable: z.boolean(),
  fix: z.string().optional(),
});

export const Observation = z.looseObject({
  id,
  agent_name: name,
  target: text,
  timestamp: seconds,
  measurements: z.record(z.string(), z.number()).default({}),
  findings: z.array(Finding).optional(),
});

export const Recommendation = z.looseObject({
  id,
  observation_id: id.optional(),
  agent_name: name,
  strategy_id: id.optional(),
  target: text,
  action: name,
  element: text.default(""),
  current: text.default(""),
  proposed: text,
  reason: text.default(""),
  priority: z.enum(["critical", "high", "medium", "low"]),
  impact: text.default(""),
  status: z.enum(["pending", "accepted", "rejected", "applied"]),
  created_at: seconds,
  resolved_at: seconds.optional(),
});

export const TaskResult = z.looseObject({
  task_id: id,
  status: z.enum(TASK_STATUSES),
  output: map.default({}),
  changes: z.array(ProposedChange).default([]),
  observations: z.array(Observation).default([]),
  recommendations: z.array(Recommendation).default([]),
  signature: proof,
  signature_jcs: proof.optional(),
  duration_ms: z.int().nonnegative(),
  agent_name: name.optional(),
  summary: text.optional(),
  metrics: map.optional(),
  timestamp: seconds.optional(),
});

export const ApprovalRequest = z.looseObject({
  recommendation_ids: z.array(id).min(1).max(WEBLISK_DECIDED_MAX),
  decision: z.enum(["accept", "reject"]),
  /** Needed to reject. */
  reason: text.optional(),
  token: token.optional(),
  timestamp: seconds.optional(),
});

export const ApprovalResponse = z.looseObject({
  updated: z.int().nonnegative(),
  results: z.array(
    z.looseObject({
      recommendation_id: id,
      previous_status: name,
      new_status: name,
      error: text.optional(),
    }),
  ),
});
