/** The answers about supervision trees. */
import * as z from "zod";
import { Strategy, SupervisorPhase } from "../tree.ts";
import { WorkerState, WorkerStatus } from "../worker.ts";
import { WaitingWorker } from "./cluster.ts";
import type { Reply } from "./reply.ts";
import { ScheduleLine } from "./schedules.ts";
import { BudgetView, PauseView, QuestionView, restartWindow } from "./workers.ts";

/** The fields of every node. */
const nodeFields = {
  id: z.string().describe("ULID of a worker, path of a supervisor"),
  name: z.string().nullable(),
  tombstone: z.boolean().optional().describe("killed by name"),
  question: QuestionView.optional(),
  window: restartWindow.optional(),
  fiber: z.int().optional().describe("the id of its fiber in the daemon, if it has one"),
};

const supervisorFields = {
  ...nodeFields,
  type: z.literal("supervisor"),
  strategy: Strategy,
  phase: SupervisorPhase.optional().describe("absent for the root"),
  reason: z.string().optional(),
  file: z.string().optional(),
  scope: z
    .array(z.string())
    .optional()
    .describe("names of the children being stopped or started, in start order"),
  budget: BudgetView.optional().describe("absent if it has none"),
  schedules: z
    .array(ScheduleLine)
    .optional()
    .describe("those of its file; for the root, those that commands have added"),
};

const workerFields = {
  ...nodeFields,
  type: z.literal("worker"),
  kind: z.string(),
  task: z.string(),
  status: WorkerStatus,
  state: WorkerState,
  reason: z.string(),
  pid: z.int().nullable(),
  backend_kind: z.string().nullable(),
  incarnation: z.int(),
  restarts: z.int(),
  paused: z.array(PauseView).optional(),
};

export interface TreeSupervisor extends Reply<z.ZodObject<typeof supervisorFields>> {
  readonly children: readonly TreeNode[];
}
/** The children of a worker are those that its agents spawned. */
export interface TreeWorker extends Reply<z.ZodObject<typeof workerFields>> {
  readonly children: readonly TreeWorker[];
}
/** `type` tells which it is. */
export type TreeNode = TreeSupervisor | TreeWorker;

const TreeWorker = z.object({
  ...workerFields,
  get children(): z.ZodArray<z.ZodType<TreeWorker>> {
    return z.array(TreeWorker);
  },
});
export const TreeSupervisor = z.object({
  ...supervisorFields,
  get children(): z.ZodArray<z.ZodType<TreeNode>> {
    return z.array(TreeNode);
  },
});
const TreeNode = z.discriminatedUnion("type", [TreeSupervisor, TreeWorker]);

export const TreeChange = z.object({
  path: z.string(),
  action: z.enum(["create", "update", "restart", "remove", "start", "unchanged", "kept_dead"]),
  reason: z.string(),
  fields: z
    .array(z.string())
    .optional()
    .describe("fields of the worker's spec or the supervisor's configuration"),
  node: z.string().optional().describe("the node of the cluster that runs it, for a placed worker that ends"),
});
export type TreeChange = Reply<typeof TreeChange>;

export const AppliedReply = z.object({
  tree: z.string().describe("name of the tree"),
  changes: z.array(TreeChange),
  state: SupervisorPhase,
  unseen: z
    .string()
    .optional()
    .describe("why workers that the file placed on the cluster before were not looked at"),
  waiting: z
    .array(WaitingWorker)
    .optional()
    .describe("its workers that wait for a node of the cluster; absent if none does"),
});
export type AppliedReply = Reply<typeof AppliedReply>;
