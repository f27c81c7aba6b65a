/** The answers about supervision trees. */
import * as z from "zod";
import { Strategy, SupervisorPhase } from "../tree.ts";
import { WorkerState, WorkerStatus } from "../worker.ts";
import type { Reply } from "./reply.ts";
import { ScheduleLine } from "./schedules.ts";
import { BudgetView, PauseView, QuestionView, restartWindow } from "./workers.ts";

export const TreeNode = z.object({
  id: z.string(),
  name: z.string().nullable(),
  type: z.enum(["supervisor", "worker"]),
  strategy: Strategy.optional(),
  /** For a supervisor of a file: its phase. */
  phase: SupervisorPhase.optional(),
  file: z.string().optional(),
  /** Names of the children being stopped or started, in start order. */
  scope: z.array(z.string()).optional(),
  tombstone: z.boolean().optional(),
  kind: z.string().optional(),
  task: z.string().optional(),
  status: WorkerStatus.optional(),
  state: WorkerState.optional(),
  reason: z.string().optional(),
  pid: z.int().nullable().optional(),
  backend_kind: z.string().nullable().optional(),
  incarnation: z.int().optional(),
  restarts: z.int().optional(),
  paused: z.array(PauseView).optional(),
  question: QuestionView.optional(),
  /** The budget of a supervisor; absent if it has none. */
  budget: BudgetView.optional(),
  window: restartWindow.optional(),
  fiber: z.int().optional().describe("the id of its fiber in the daemon, if it has one"),
  schedules: z
    .array(ScheduleLine)
    .optional()
    .describe("those of its file; for the root, those that commands have added"),
  get children() {
    return z.array(TreeNode);
  },
});
export type TreeNode = Reply<typeof TreeNode>;

export const TreeChange = z.object({
  path: z.string(),
  action: z.enum(["create", "update", "restart", "remove", "start", "unchanged", "kept_dead"]),
  reason: z.string(),
  fields: z
    .array(z.string())
    .optional()
    .describe("fields of the worker's spec or the supervisor's configuration"),
});
export type TreeChange = Reply<typeof TreeChange>;

export const AppliedReply = z.object({
  tree: z.string().describe("name of the tree"),
  changes: z.array(TreeChange),
  state: SupervisorPhase,
});
export type AppliedReply = Reply<typeof AppliedReply>;
