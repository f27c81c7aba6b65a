/** The spec of a worker, and the words for its life (architecture §1, §3). */
import * as z from "zod";
import { isBranchName } from "../base/branch-name.ts";
import {
  CLUSTER_BROUGHT_RECORDS_MAX,
  CPUS_MAX,
  CPUS_MIN,
  DURATION_MAX_MS,
  MEMORY_LIMIT_MIN_BYTES,
  NAME_MAX_BYTES,
  OUTPUT_SCHEMA_MAX_BYTES,
  PATH_MAX_BYTES,
  PIDS_MAX,
  PROMPT_MAX_BYTES,
  READY_WITHIN_DEFAULT_MS,
  SANDBOX_WRITABLE_MAX,
  TOOLS_IN_FLIGHT_MAX,
  TRACESTATE_MAX_CHARS,
} from "../base/limits.ts";
import { AgentKind } from "./agent-event.ts";
import { PermissionRules } from "./permission.ts";
import { WorkerMcp } from "./spawn-mcp.ts";
import { FIELDS, type Field, NAME_FORM, SPEC_FIELDS, type SpecFields } from "./spec-fields.ts";
import { TRACEPARENT_FORM, TRACESTATE_FORM } from "./trace-variables.ts";
import { WORKER_STATUSES } from "./words.ts";

export { isEnded } from "./words.ts";

/** OTP's restart types (supervisor.erl): always, only after an abnormal end, never. */
export const RestartPolicy = z.enum(SPEC_FIELDS.restart.values);
export type RestartPolicy = z.infer<typeof RestartPolicy>;

/** States of the worker machine (architecture §3). */
export const WorkerState = z.enum([
  "pending",
  "starting",
  "ready",
  "running",
  "waiting",
  "stopping",
  "backing_off",
  "parked",
  "lost",
  "completed",
  "failed",
  "cancelled",
]);
export type WorkerState = z.infer<typeof WorkerState>;

/** A projection of the state. */
export const WorkerStatus = z.enum(WORKER_STATUSES);
export type WorkerStatus = z.infer<typeof WorkerStatus>;

const duration = z.int().min(0).max(DURATION_MAX_MS);

/** The budget of a worker and all that its agent spawns, together; for a supervisor, of all workers below it. */
export const Budget = z.strictObject({
  usd: z.number().positive().optional(),
  tokens: z.int().positive().optional(),
  turns: z.int().positive().optional(),
  wall_ms: duration.optional(),
  restarts: z.int().positive().optional(),
  output_bytes: z.int().positive().optional(),
});
export type Budget = z.infer<typeof Budget>;
/** The step after a budget is spent: all workers in it are paused and a question is asked, or all of them are stopped. */
export const OnBreach = z.enum(SPEC_FIELDS.on_breach.values);
export type OnBreach = z.infer<typeof OnBreach>;

/** The step after an agent has ended by itself during a turn: its session continues, a question is asked first, or the worker ends. */
export const OnInterrupted = z.enum(SPEC_FIELDS.on_interrupted.values);
export type OnInterrupted = z.infer<typeof OnInterrupted>;

/** The step after a failure that no restart can fix (`restart: never` in the error catalogue). */
export const OnUnfixable = z.enum(SPEC_FIELDS.on_unfixable.values);
export type OnUnfixable = z.infer<typeof OnUnfixable>;

/** The resources of one run and everything that it starts. Its cgroup enforces them, so the daemon needs a delegated one. */
export const RunLimits = z.strictObject({
  memory_bytes: z.int().min(MEMORY_LIMIT_MIN_BYTES).optional(),
  pids: z.int().min(1).max(PIDS_MAX).optional(),
  /** In CPUs: 1.5 is one and a half. */
  cpu: z.number().min(CPUS_MIN).max(CPUS_MAX).optional(),
});
export type RunLimits = z.infer<typeof RunLimits>;

/** The rank among workers that wait to start; within a rank, by arrival (weblisk notes, queue). */
export const Priority = z.enum(SPEC_FIELDS.priority.values);
export type Priority = z.infer<typeof Priority>;

/** The worker's own git worktree, made from the repository of its cwd before its first start and kept after its end. */
const WorktreeSpec = z.strictObject({
  /** A branch that does not exist yet; by default `holdfast/<name>-<end of the id>`. */
  branch: z
    .string()
    .refine(isBranchName, "a branch has letters, digits and . _ / + @ -, and starts with a letter or digit")
    .optional(),
});

/** The agent can write only to its workspace and see only its own processes. A sandbox that this machine cannot enforce is refused. */
export const SandboxSpec = z.strictObject({
  /** The machine's network, or none. Default: `none` for a command; `host` for an agent, which needs its provider. */
  net: z.enum(["none", "host"]).optional(),
  /** Absolute paths of further directories that the agent may write to. */
  writable: z
    .array(z.string().startsWith("/", "a writable directory is an absolute path"))
    .max(SANDBOX_WRITABLE_MAX)
    .default([]),
});
export type SandboxSpec = z.infer<typeof SandboxSpec>;

const SEGMENT = NAME_FORM.source.slice(1, -1);
/** A worker of a file has its path as its name: `crew/fixer`. */
const WORKER_NAME = new RegExp(`^${SEGMENT}(/${SEGMENT})*$`);

/**
 * When a child counts as started, so that the next one starts (compare docker compose, `depends_on: condition`). Exactly one
 * condition; without `ready`, a child counts as started when its agent runs.
 */
export const Ready = z
  .strictObject({
    /** A line of its output that matches this regular expression. */
    log: z.string().min(1).max(1024).optional(),
    /** A file that exists; relative to the worker's cwd. */
    file: z.string().min(1).optional(),
    /** A TCP port of 127.0.0.1 that accepts connections. */
    port: z.int().min(1).max(65_535).optional(),
    /** Its first AgentEvent. */
    first_event: z.literal(true).optional(),
    /** The worker has run this long. */
    healthy_for_ms: duration.optional(),
    within_ms: duration.default(READY_WITHIN_DEFAULT_MS),
  })
  .refine(
    ({ within_ms: _, ...conditions }) =>
      Object.values(conditions).filter((one) => one !== undefined).length === 1,
    "ready has exactly one of log, file, port, first_event and healthy_for",
  );
export type Ready = z.infer<typeof Ready>;

/** The schemas for the types of fields. The schemas of enums and numbers use the bounds of their field. */
export const WorkerName = z
  .string()
  .max(PATH_MAX_BYTES)
  .regex(WORKER_NAME, "a name has letters, digits, '.', '_' and '-', and starts with a letter or digit");

/** The form of an answer, as a JSON Schema of an object. */
export const OutputSchema = z
  .record(z.string(), z.json(), "a JSON Schema is an object")
  .refine(
    (schema) => Buffer.byteLength(JSON.stringify(schema)) <= OUTPUT_SCHEMA_MAX_BYTES,
    `the schema is over ${OUTPUT_SCHEMA_MAX_BYTES} bytes`,
  );
export type OutputSchema = z.infer<typeof OutputSchema>;

const placementWord = z
  .string()
  .max(NAME_MAX_BYTES)
  .regex(NAME_FORM, "has letters, digits, '.', '_' and '-'");

/** It runs on a node of a cluster that has all these labels. Without a lease it stops, or it goes on and is never started elsewhere. */
const PlacementSpec = z.strictObject({
  needs: z.record(placementWord, placementWord).default({}),
  on_partition: z.enum(["stop", "continue"]).default("stop"),
});

/**
 * A worker that ran on another node goes on with the session it had there, and its window counts the restarts that it had there.
 * `interrupted`: it ended there in the middle of a turn, with calls of these tools open.
 */
export const Brought = z.strictObject({
  session_id: z.string().optional(),
  interrupted: z.strictObject({ tools: z.array(z.string()).max(TOOLS_IN_FLIGHT_MAX) }).optional(),
  /** How long ago each was, in milliseconds, the newest first. */
  restarts_ago_ms: z.array(z.int().min(0)).max(CLUSTER_BROUGHT_RECORDS_MAX),
});
export type Brought = z.infer<typeof Brought>;

/** The tree of a file whose budget a placed worker spends too. */
export const TreeBudget = z.strictObject({ name: z.string(), budget: Budget, on_breach: OnBreach });
export type TreeBudget = z.infer<typeof TreeBudget>;

/** A node runs it by this right, under the name `worker` of its placement. */
export const PlacedRight = z.strictObject({
  node: z.string(),
  worker: z.string(),
  term: z.int(),
  on_partition: PlacementSpec.shape.on_partition.unwrap(),
  brought: Brought.optional(),
  tree: TreeBudget.optional(),
});
export type PlacedRight = z.infer<typeof PlacedRight>;

/** W3C Trace Context, as TRACEPARENT and TRACESTATE write it. */
const Trace = z.strictObject({
  traceparent: z.string().regex(TRACEPARENT_FORM, "a traceparent is 00-TRACE-SPAN-FLAGS, in hexadecimal"),
  tracestate: z
    .string()
    .max(TRACESTATE_MAX_CHARS)
    .regex(TRACESTATE_FORM, "a tracestate is printable ASCII")
    .optional(),
});

const TYPES = {
  kind: AgentKind,
  name: WorkerName,
  labels: z.record(z.string().max(NAME_MAX_BYTES), z.string().max(256)),
  prompt: z.string().refine((text) => Buffer.byteLength(text) <= PROMPT_MAX_BYTES, "the prompt is over 1 MB"),
  texts: z.array(z.string()),
  map: z.record(z.string(), z.string()),
  ext: z.record(z.string(), z.json()),
  worktree: WorktreeSpec,
  sandbox: SandboxSpec,
  rules: PermissionRules,
  budget: Budget,
  limits: RunLimits,
  ready: Ready,
  json_schema: OutputSchema,
  mcp: WorkerMcp,
  placement: PlacementSpec,
  placed: PlacedRight,
  trace: Trace,
  string: z.string(),
  bool: z.boolean(),
  int: z.int(),
  size: z.int().min(0),
  duration,
  time: z.iso.datetime({ offset: true }),
};

type TypeOf<F extends Field> = F extends { readonly type: "enum"; readonly values: readonly (infer V)[] }
  ? z.ZodEnum<{ [K in V & string]: K }>
  : (typeof TYPES)[F["type"] & keyof typeof TYPES];
type SchemaOf<F extends Field> = F extends { readonly required: true }
  ? TypeOf<F>
  : F extends { readonly default: unknown }
    ? z.ZodDefault<TypeOf<F>>
    : z.ZodOptional<TypeOf<F>>;

const schemaOf = ({ type, values, min, max, required, default: fallback }: Field): z.ZodType => {
  let schema: z.ZodType = type === "enum" ? z.enum(values!) : TYPES[type];
  if (schema instanceof z.ZodString || schema instanceof z.ZodNumber) {
    if (min !== undefined) schema = schema.min(min);
    if (max !== undefined) schema = (schema as z.ZodString).max(max);
  }
  if (required) return schema;
  return fallback === undefined ? schema.optional() : schema.default(fallback);
};

/** All options of `spawn`, checked and with their defaults. Names end in their units. */
export const WorkerSpec = z.strictObject(
  Object.fromEntries(FIELDS.map(([name, field]) => [name, schemaOf(field)])) as {
    [K in keyof SpecFields]: SchemaOf<SpecFields[K]>;
  },
);
export type WorkerSpec = z.infer<typeof WorkerSpec>;
export type WorkerSpecInput = z.input<typeof WorkerSpec>;
