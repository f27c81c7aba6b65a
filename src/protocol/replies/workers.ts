/** The answers about workers. */
import * as z from "zod";
import { AgentCompletion } from "../completion.ts";
import { Budget, Priority, WorkerSpec, WorkerState, WorkerStatus } from "../worker.ts";
import { WaitsForNode } from "./cluster.ts";
import { digest, effect, id, type Reply, time } from "./reply.ts";
import { SubtreeSum, TurnRow, usage } from "./usage.ts";
import { workerError } from "./worker-error.ts";
import { workspace } from "./workspace.ts";

export type EffectWord = z.infer<typeof effect>;

export const restartWindow = z.object({ used: z.int(), max: z.int(), period_ms: z.int() });

/** A reason why a worker is paused; lifted by `agent unpause`. */
export const PauseView = z.object({
  reason: z.enum(["operator", "budget", "output", "disk"]),
  detail: z.string(),
  question_id: z.string().optional(),
});
export type PauseView = Reply<typeof PauseView>;

/** An open question. That of a budget applies to every worker that the budget has paused. */
export const QuestionView = z.object({
  question_id: z.string(),
  about: z.enum(["stall", "budget", "interrupted"]),
});
export type QuestionView = Reply<typeof QuestionView>;

/** A budget: its spending and its bounds. `asked`: it is spent and waits for an answer. `stopped`: its workers were stopped. */
export const BudgetView = z.object({
  owner: z.string().describe("id of a worker, or path of a supervisor"),
  state: z.enum(["open", "asked", "stopped"]),
  spent: z.object({
    turns: z.int(),
    tokens: z.int(),
    usd: z.number(),
    wall_ms: z.number(),
    restarts: z.int(),
    output_bytes: z.int(),
  }),
  bounds: Budget,
  unpriced: z.boolean().describe("some of the usage has no known cost and counts as no dollars"),
  estimated: z.boolean().describe("some of the dollars are estimated by the price list"),
  question_id: z.string().optional(),
});
export type BudgetView = Reply<typeof BudgetView>;

/** Its place in the start queue, from 1. */
export const QueuePlace = z.object({
  place: z.int(),
  priority: Priority,
  waits_for: z.enum(["slot", "memory", "disk"]),
});
export type QueuePlace = Reply<typeof QueuePlace>;

const denied = z
  .array(z.object({ tool: z.string().nullable(), calls: z.int() }))
  .optional()
  .describe("tool calls that were denied for lack of permission");

/** The resources that a worker uses now, in `agent list` and `agent info`. */
const ResourcesView = z.object({
  cpu_ms: z
    .number()
    .describe("processor time of its living processes, and of their children that have ended"),
  memory_bytes: z.int().describe("resident memory; pages that processes share count in each"),
  processes: z.int(),
});

export const WorkerView = z.object({
  id,
  name: z.string().nullable(),
  kind: z.string(),
  task: z.string().describe("the command line, or the beginning of the prompt"),
  status: WorkerStatus,
  state: WorkerState,
  reason: z.string(),
  incarnation: z.int(),
  restarts: z.int(),
  pid: z.int().nullable(),
  pgid: z.int().nullable(),
  backend_kind: z
    .string()
    .nullable()
    .describe("kind of its runtime; subprocess for processes of this machine"),
  supervisor: z.string(),
  parent: z.string().nullable(),
  session_id: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  created_at: time,
  started_at: time.nullable(),
  ended_at: time.nullable(),
  heartbeat_at: time
    .nullable()
    .describe(
      "when its process was last checked; a paused worker's is not checked; of an ended one, the last that was written, or null",
    ),
  archived: z.literal(true).optional().describe("it is only in the list of --archived"),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  error: workerError.nullable(),
  turns: z.int(),
  usage,
  /** Tool calls in completed turns. */
  tool_calls: z.int(),
  denied,
  turn_ms: z.number().describe("time of all its turns together"),
  unpriced_turns: z.int().describe("turns with neither a reported cost nor an estimate"),
  queue: QueuePlace.optional().describe("its place among the workers that wait to start"),
  question: QuestionView.optional().describe("its open question; see agent answer"),
  approvals: z.int().optional().describe("permission requests that wait for a person; see agent approvals"),
  resources: ResourcesView.optional().describe("the use by its processes; only where it was asked for"),
  paused: z.array(PauseView).optional().describe("the reasons for which it is paused; see agent unpause"),
});
export type WorkerView = Reply<typeof WorkerView>;

export const WorkerInfo = WorkerView.extend({
  spec: WorkerSpec,
  completion: AgentCompletion.nullable(),
  budgets: z.array(BudgetView).describe("the budgets in which it counts: its own, and those above it"),
  subtree: SubtreeSum.nullable()
    .optional()
    .describe(
      "usage of the worker and all workers that its agent spawned; null if they are too many, see agent usage --subtree",
    ),
  /** The newest turns, oldest first. */
  turn_list: z.array(TurnRow),
  run_dir: z.string().nullable(),
  run_findings: z
    .array(
      z.object({
        incarnation: z.int(),
        file: z.string(),
        what: z.enum(["not_a_file", "contradicts_the_log", "forged"]),
        detail: z.string(),
      }),
    )
    .optional()
    .describe("files in its run directories that the runtime did not write"),
  workspace: workspace.nullable().describe("its own worktree, from its first start on"),
  last_seq: z.int(),
  last_event_at: time.nullable(),
  /** Output that retention moved out of the log; null if all of it is there. */
  moved_output: z
    .object({ records: z.int(), archives: z.array(z.string()), from_seq: z.int(), to_seq: z.int() })
    .nullable(),
  window: restartWindow,
});
export type WorkerInfo = Reply<typeof WorkerInfo>;

/** With dry_run: the launch that would follow, secrets masked. A null branch is named after the worker's id later. */
const plan = z.object({
  argv: z.array(z.string()),
  cwd: z.string(),
  env: z.record(z.string(), z.string()),
  stdin: z.string(),
  mcp: z.array(z.string()).optional().describe("its MCP servers, by name"),
  worktree: z
    .object({ repository: z.string(), base_commit: z.string(), branch: z.string().nullable() })
    .optional()
    .describe("its origin"),
  /** In its paths, `WORKER-ID` stands for the id that the worker would get. */
  sandbox: z
    .object({ program: z.string(), net: z.enum(["none", "host"]), writable: z.array(z.string()) })
    .optional(),
});

export const SpawnReply = z.object({
  id,
  node: z.string().optional().describe("the node of the cluster that runs it"),
  waits_for: WaitsForNode.optional().describe("why no node of the cluster runs it yet"),
  name: z.string().nullable(),
  kind: z.string(),
  status: WorkerStatus,
  effect,
  plan: plan.optional(),
});
export type SpawnReply = Reply<typeof SpawnReply>;

/** The changes of a worker's agents in its worktree since its creation. */
export const ChangesReply = z.object({
  id,
  workspace,
  files: z.array(
    z.object({
      path: z.string(),
      change: z.enum(["added", "modified", "deleted", "renamed", "type_changed"]),
      from: z.string().optional().describe("old path of a renamed file"),
      insertions: z.int().nullable().describe("null for a binary file"),
      deletions: z.int().nullable(),
    }),
  ),
  omitted: z.int().describe("changed files that are not listed here"),
  totals: z.object({ files: z.int(), insertions: z.int(), deletions: z.int(), binary: z.int() }),
  diff: z
    .object({
      digest: digest.describe("for agent cas get"),
      size_bytes: z.int(),
      masked: z.boolean().describe("its secrets are masked, and those places cannot be applied"),
    })
    .nullable()
    .describe("null if nothing has changed, or if the diff is too large to keep"),
});
export type ChangesReply = Reply<typeof ChangesReply>;

/** `checked_by`: how the sweep of a kill searched for remaining processes. Only `cgroup` means that none can have hidden. */
export const PerWorker = z.object({
  id,
  name: z.string().nullable(),
  ok: z.boolean(),
  effect,
  status: WorkerStatus.nullable(),
  checked_by: z.array(z.enum(["cgroup", "group", "marker", "output", "descent"])).optional(),
  error: workerError.extend({ suggestion: z.string().optional() }).nullable(),
});
export type PerWorker = Reply<typeof PerWorker>;

export const WaitReply = z.object({
  id,
  name: z.string().nullable(),
  status: WorkerStatus,
  /** Why it ended for good: its policy, a supervisor that gave up, or a kill. */
  reason: z.string(),
  exit_code: z.int().nullable(),
  signal: z.string().nullable(),
  error: workerError.nullable(),
  denied,
  // Absent from a daemon of an earlier version.
  end_cause: z
    .enum(["policy", "unfixable", "gave_up", "rate_limited", "deadline"])
    .nullable()
    .optional()
    .describe("why no further incarnation follows; null if something else than its own end decided that"),
  attempts: z.int().optional().describe("number of incarnations"),
  backoff: z.string().optional().describe("the wait between them"),
  retry_after_s: z.number().optional().describe("seconds until the provider's limit resets, if known"),
});
export type WaitReply = Reply<typeof WaitReply>;
