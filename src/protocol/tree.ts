/**
 * A supervision tree as a user requests it (docs/reference/tree-file.md): supervisors with a strategy and ordered children, and
 * workers with their specs. The reader of the file produces it; it goes over the wire and the supervisor keeps it.
 */
import * as z from "zod";
import {
  BACKOFF_MAX_DEFAULT_MS,
  BACKOFF_MIN_DEFAULT_MS,
  DURATION_MAX_MS,
  NAME_MAX_BYTES,
  PATH_MAX_BYTES,
  RESTART_PERIOD_DEFAULT_MS,
  RESTARTS_DEFAULT,
  RESTARTS_MAX,
  SCHEDULES_MAX,
} from "../base/limits.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { ScheduleSpec } from "./schedule-spec.ts";
import { NAME_FORM } from "./spec-fields.ts";
import { Budget, OnBreach, RestartPolicy, WorkerSpec } from "./worker.ts";

/**
 * OTP's strategies (supervisor.erl). `dynamic` is simple_one_for_one: its children share a template, are started by `agent
 * spawn --supervisor PATH`, are stopped all at once, and go with their supervisor.
 */
export const Strategy = z.enum(["one_for_one", "one_for_all", "rest_for_one", "dynamic"]);
export type Strategy = z.infer<typeof Strategy>;

/** OTP's auto_shutdown: how the end of a significant child affects its supervisor. */
export const AutoShutdown = z.enum(["never", "any", "all"]);
export type AutoShutdown = z.infer<typeof AutoShutdown>;

/** After more restarts than the window allows: end, so that the parent decides (OTP), or stay stopped until a start by name (suture). */
export const OnIntensity = z.enum(["escalate", "park"]);

/** The phase of a supervisor. `pending` also means that its own supervisor holds it stopped. */
export const SupervisorPhase = z.enum([
  "pending",
  "starting",
  "running",
  "restarting",
  "backing_off",
  "stopping",
  "parked",
  "terminated",
]);
export type SupervisorPhase = z.infer<typeof SupervisorPhase>;

const duration = z.int().min(0).max(DURATION_MAX_MS);
export const NodeName = z
  .string()
  .max(NAME_MAX_BYTES)
  .regex(NAME_FORM, "a name has letters, digits, '.', '_' and '-', and starts with a letter or digit")
  .refine(isTellable, NOT_TELLABLE);
/** Names from the top of the file down, joined by "/": `crew/fixer`. */
const NodePath = z.string().min(1).max(PATH_MAX_BYTES);

/** A supervisor without its children. */
export const SupervisorConfig = z.strictObject({
  strategy: Strategy.default("one_for_one"),
  max_restarts: z.int().min(0).max(RESTARTS_MAX).default(RESTARTS_DEFAULT),
  period_ms: duration.default(RESTART_PERIOD_DEFAULT_MS),
  /** suture's failure decay, in place of the window: after this time a failure counts half. 0 turns it off. */
  decay_ms: duration.default(0),
  backoff_min_ms: duration.default(BACKOFF_MIN_DEFAULT_MS),
  backoff_max_ms: duration.default(BACKOFF_MAX_DEFAULT_MS),
  on_intensity: OnIntensity.default("escalate"),
  auto_shutdown: AutoShutdown.default("never"),
  /** The budget of all workers below the supervisor; without `on_breach` the supervisor asks when it is spent. */
  budget: Budget.optional(),
  on_breach: OnBreach.optional(),
  /** A daemon sets it for the top of a file with placed workers: the budget is also theirs, on all nodes (decision 0094). */
  budget_of_cluster: z.literal(true).optional(),
  /** As a child of its own supervisor. */
  restart: RestartPolicy.default("permanent"),
  significant: z.boolean().default(false),
});
export type SupervisorConfig = z.infer<typeof SupervisorConfig>;

export const WorkerNode = z.strictObject({
  type: z.literal("worker"),
  name: NodeName,
  /** `tree/apply` sets its `name` and `supervisor`. */
  spec: WorkerSpec,
  /** Paths that must be ready before the worker starts. */
  depends_on: z.array(NodePath).default([]),
});
export type WorkerNode = z.infer<typeof WorkerNode>;

export interface SupervisorNode {
  readonly type: "supervisor";
  readonly name: string;
  readonly config: SupervisorConfig;
  readonly depends_on: readonly string[];
  /** In start order. A dynamic supervisor has none. */
  readonly children: readonly TreeNodeSpec[];
}
export type TreeNodeSpec = SupervisorNode | WorkerNode;

/** A supervisor as a user gives it: members with a default are optional. */
export interface SupervisorNodeInput {
  readonly type: "supervisor";
  readonly name: string;
  readonly config: z.input<typeof SupervisorConfig>;
  readonly depends_on?: readonly string[] | undefined;
  readonly children: readonly (SupervisorNodeInput | z.input<typeof WorkerNode>)[];
}

export const SupervisorNode: z.ZodType<SupervisorNode, SupervisorNodeInput> = z.lazy(() =>
  z.strictObject({
    type: z.literal("supervisor"),
    name: NodeName,
    config: SupervisorConfig,
    depends_on: z.array(NodePath).default([]),
    children: z.array(z.union([WorkerNode, SupervisorNode])),
  }),
);

/** The tree of one file. Its top supervisor is a child of the daemon's root and has the tree's name. */
export const TreeSpec = z.strictObject({
  name: NodeName,
  /** Absolute path of the file that owns the tree. Another file cannot take the tree's name. */
  file: z.string().min(1),
  root: SupervisorNode,
  /** Absent in requests of clients that know no schedules: those of the tree then go. */
  schedules: z.array(ScheduleSpec).max(SCHEDULES_MAX).optional(),
});
export type TreeSpec = z.infer<typeof TreeSpec>;
export type TreeSpecInput = z.input<typeof TreeSpec>;

/** The path of a child. Children of the top supervisor have their name alone, so a path does not begin with the tree's name. */
export const childPath = (tree: string, supervisor: string, name: string): string =>
  supervisor === tree ? name : `${supervisor}/${name}`;

/**
 * Gives the client's variables to all workers of a tree; the spec of a worker overrides them. A worker's start keeps only
 * the variables that the worker needs.
 */
export const withClientEnvironment = (
  tree: TreeSpec,
  client_env: Readonly<Record<string, string>>,
): TreeSpec => {
  const within = <Holder extends { readonly spec: WorkerSpec }>(holder: Holder): Holder => ({
    ...holder,
    spec: { ...holder.spec, client_env: { ...client_env, ...holder.spec.client_env } },
  });
  const inside = (node: TreeNodeSpec): TreeNodeSpec =>
    node.type === "supervisor" ? whole(node) : within(node);
  const whole = (node: SupervisorNode): SupervisorNode => ({ ...node, children: node.children.map(inside) });
  const { schedules } = tree;
  return {
    ...tree,
    root: whole(tree.root),
    ...(schedules === undefined ? {} : { schedules: schedules.map(within) }),
  };
};
