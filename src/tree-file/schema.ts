/**
 * The keys of a holdfast.yaml (docs/reference/tree-file.md) as zod schemas: a worker's, a
 * supervisor's, and the top's. Their JSON Schema is published for completion in editors. A message is the rest of a sentence
 * that begins with the key.
 */
import * as z from "zod";
import {
  type Reading,
  readBackoff,
  readBudget,
  readDuration,
  readRestarts,
  readSize,
} from "../base/durations.ts";
import { VARIABLE_NAME } from "../base/environment.ts";
import {
  CPUS_MAX,
  CPUS_MIN,
  LABELS_MAX,
  NAME_MAX_BYTES,
  PERMISSION_RULES_MAX,
  PIDS_MAX,
  SCHEDULE_DEADLINE_MIN_MS,
  SCHEDULE_MISSED_DEFAULT,
  SCHEDULE_MISSED_MAX,
  SCHEDULES_MAX,
} from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { KINDS, kindsThatTake, PROGRAM_KIND } from "../commands/kinds.ts";
import type { JsonSchema } from "../protocol/json-schemas.ts";
import type { Permission, PermissionRule } from "../protocol/permission.ts";
import { parseRule } from "../protocol/permission-rules.ts";
import { MISSED, OVERLAPS } from "../protocol/schedule-records.ts";
import { ScheduleName, SchedulePlanFields } from "../protocol/schedule-spec.ts";
import { WorkerMcp } from "../protocol/spawn-mcp.ts";
import { type Field, type KeyedFields, NAME_FORM, specKeys } from "../protocol/spec-fields.ts";
import { AutoShutdown, NodeName, OnIntensity, Strategy } from "../protocol/tree.ts";
import { OnBreach, OutputSchema, RestartPolicy } from "../protocol/worker.ts";
import { ABOUT_KEY } from "./zod-problems.ts";

/** An amount as people write it, or a plain number. */
const amount = <T>(read: (text: string) => Reading<T>, needs: string) =>
  z.union([z.string(), z.number()], { error: `needs ${needs}` }).transform((value, context): T => {
    const reading = read(String(value));
    if (reading.ok) return reading.value;
    context.addIssue({ code: "custom", message: reading.problem });
    return z.NEVER;
  });
const duration = amount(readDuration, "a duration such as 500ms, 10s, 5m, 2h or 1d");
const size = amount(readSize, "a size such as 512, 64KB or 1MB");
const restarts = amount(readRestarts, "a number and a period, as in 3/60s");
const backoff = amount(readBackoff, "two durations, as in 1s..60s");

/** A word of a command line, which may look like a number. */
const word = z
  .union([z.string(), z.number(), z.boolean()], { error: "needs a text" })
  .transform((value) => String(value));
/** A variable may hold the value as text. */
const flag = z
  .union([z.boolean(), z.enum(["true", "false"])], { error: "needs true or false" })
  .transform((value) => value === true || value === "true");
const toolRules = (action: Permission) =>
  z
    .array(
      z.string().transform((text, context): PermissionRule => {
        const rule = parseRule(text, action);
        if (rule !== undefined) return rule;
        context.addIssue({
          code: "custom",
          message: `is TOOL or TOOL(ARGUMENT), not "${text.slice(0, 64)}"`,
        });
        return z.NEVER;
      }),
      { error: "needs a list, as in [Read, Bash(git status*)]" },
    )
    .max(PERMISSION_RULES_MAX);
const count = (min: number, max: number) =>
  z.int("needs a whole number").min(min, `is below ${min}`).max(max, `may be at most ${max}`);
const texts = z.array(word, { error: "needs a list, as in [a, b]" });

const dependsOn = z
  .union([z.string(), z.array(z.string())], { error: "needs paths of the tree, as in [store, crew/fixer]" })
  .transform((value) => (typeof value === "string" ? [value] : value))
  .optional()
  .describe("paths of nodes that must be ready before this one is started");

const SHUTDOWN_WORDS = ["brutal_kill", "infinity"] as const;
type ShutdownKeys = { readonly shutdown: (typeof SHUTDOWN_WORDS)[number] } | { readonly grace_ms: number };
const readShutdown = (text: string): Reading<ShutdownKeys> => {
  const known = SHUTDOWN_WORDS.find((each) => each === text);
  if (known !== undefined) return { ok: true, value: { shutdown: known } };
  const read = readDuration(text);
  if (read.ok) return { ok: true, value: { grace_ms: read.value } };
  return {
    ok: false,
    problem: `is brutal_kill, infinity or a duration such as 10s, not "${text}"${didYouMean(text, SHUTDOWN_WORDS)}`,
  };
};

const isPattern = (text: string): boolean => {
  try {
    new RegExp(text);
    return true;
  } catch {
    return false;
  }
};
const readPort = (text: string): Reading<number> =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535
    ? { ok: true, value: Number(text) }
    : { ok: false, problem: `needs a port from 1 to 65535, not "${text}"` };

const CONDITIONS = ["log", "file", "port", "first_event", "healthy_for"] as const;
const Ready = z
  .strictObject(
    {
      log: z
        .string()
        .min(1, "is empty")
        .max(1024, "may have at most 1024 characters")
        .refine(isPattern, "is no regular expression")
        .describe("regular expression that a line of its output matches")
        .optional(),
      file: z.string().min(1, "is empty").describe("file that exists, relative to its cwd").optional(),
      port: amount(readPort, "a port from 1 to 65535")
        .describe("TCP port of 127.0.0.1 that accepts")
        .optional(),
      first_event: z
        .union([z.literal(true), z.literal("true")], { error: "is true, or left out" })
        .transform(() => true as const)
        .describe("its first event")
        .optional(),
      healthy_for: duration.describe("it has run for this long").optional(),
      within: duration.describe("not ready within this, it has failed to start").optional(),
    },
    { error: "needs a condition, as in { log: listening }" },
  )
  .refine((ready) => CONDITIONS.filter((each) => ready[each] !== undefined).length === 1, {
    error: `has exactly one of ${CONDITIONS.join(", ")}`,
    // A mistyped condition is reported alone.
    when: ({ issues }) => issues.length === 0,
  });

const budgetPart = z
  .union([z.string(), z.number()], { error: "needs an amount, as in 5, 2M or 1h" })
  .optional();
const BudgetParts = z.strictObject({
  usd: budgetPart,
  tokens: budgetPart,
  turns: budgetPart,
  wall: budgetPart,
  restarts: budgetPart,
  output: budgetPart,
});
const Budget = z
  .union([z.string(), BudgetParts], { error: "needs limits, as in usd=5,turns=40 or { usd: 5, turns: 40 }" })
  .transform((value, context) => {
    const text =
      typeof value === "string"
        ? value
        : Object.entries(value)
            .map(([name, part]) => `${name}=${part}`)
            .join(",");
    if (text === "") return {};
    const reading = readBudget(text);
    if (reading.ok) return reading.value;
    context.addIssue({ code: "custom", message: reading.problem });
    return z.NEVER;
  });
const onBreach = OnBreach.describe(
  "once more than the budget is spent: ask (all pause until agent answer) or stop; default ask",
);

const checkVariableNames = (values: Readonly<Record<string, string>>, context: z.RefinementCtx): void => {
  for (const variable of Object.keys(values))
    if (!VARIABLE_NAME.test(variable))
      context.addIssue({
        code: "custom",
        path: [variable],
        message: "is not a valid variable name: use letters, digits and _, and no digit first",
        params: ABOUT_KEY,
      });
};

const environment = z
  .record(z.string(), word, { error: "needs names and values, as in { KEY: value }" })
  .superRefine(checkVariableNames);

const isName = (text: string): boolean => text.length <= NAME_MAX_BYTES && NAME_FORM.test(text);
const checkLabelNames = (values: Readonly<Record<string, string>>, context: z.RefinementCtx): void => {
  for (const label of Object.keys(values))
    if (!isName(label))
      context.addIssue({
        code: "custom",
        path: [label],
        message: "is not a valid label: use letters, digits, '.', '_' and '-'",
        params: ABOUT_KEY,
      });
};

const HERE = "relative to this file";
/** The keys of a worker that the file writes in another form than their field's type. */
const OWN_KEYS = {
  name: NodeName,
  kind: z
    .string()
    .optional()
    .describe(
      `${KINDS.map(({ short }) => short).join(", ")}, or a kind of the configuration; ${PROGRAM_KIND} where only argv is given`,
    ),
  prompt: z.string().optional(),
  prompt_file: z.string().min(1, "is empty").optional().describe(HERE),
  cwd: z.string().min(1, "is empty").optional().describe(HERE),
  worktree: z
    .union([z.boolean({ error: "is true, false or the name of a new branch" }), word])
    .optional()
    .describe("true, or the name of the branch"),
  sandbox: z
    .union([
      z.boolean(),
      z.strictObject({
        net: z.enum(["none", "host"]).describe("default: none for a command, host for an agent").optional(),
        writable: texts.describe("more directories that it may write to, relative to this file").optional(),
      }),
    ])
    .optional()
    .describe("true, or a map of net (none, host) and writable (directories, relative to this file)"),
  add_dirs: texts.optional().describe(`${HERE} (${kindsThatTake("add-dir").join(", ")})`),
  labels: z
    .record(z.string(), word, { error: "needs names and values, as in { team: core }" })
    .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `may be at most ${LABELS_MAX}`)
    .optional(),
  env: environment.optional(),
  allow_tools: toolRules("allow").optional(),
  ask_tools: toolRules("ask").optional(),
  deny_tools: toolRules("deny").optional(),
  ext: z.record(z.string(), z.json(), { error: "needs keys and values" }).optional(),
  output_schema: OutputSchema.optional().describe("the schema itself, as a map"),
  mcp: WorkerMcp.optional(),
  backoff: backoff.optional(),
  shutdown: amount(readShutdown, "brutal_kill, infinity or a duration")
    .optional()
    .describe("a duration is the same as grace"),
  ready: Ready.optional(),
  placement: z
    .strictObject(
      {
        where: z
          .record(z.string(), word.refine(isName, "has letters, digits, '.', '_' and '-'"), {
            error: 'needs labels and values, as in { gpu: "1" }',
          })
          .superRefine(checkLabelNames)
          .describe("labels that its node must have; node: NAME is one node")
          .optional(),
        on_partition: z
          .enum(["stop", "continue"])
          .describe(
            "while its node is cut off: stop (default), and it may start elsewhere; continue, and it never does",
          )
          .optional(),
      },
      { error: 'needs labels of nodes, as in { where: { gpu: "1" } }' },
    )
    .optional()
    .describe("a map of where (labels that its node must have) and on_partition (stop, continue)"),
  limits: z
    .strictObject({
      memory: amount(readSize, "a size such as 512M or 2G").optional(),
      pids: count(1, PIDS_MAX).optional(),
      cpu: z
        .number("needs a number such as 1.5")
        .min(CPUS_MIN, `is below ${CPUS_MIN}`)
        .max(CPUS_MAX, `may be at most ${CPUS_MAX}`)
        .optional(),
    })
    .optional(),
};

/** The form of each field type in a file. */
const TYPES = {
  string: word,
  texts,
  bool: flag,
  duration,
  size,
  budget: Budget.describe("or the same as a map"),
  int: z.int(),
};

type KeyOf<F extends Field> = F extends { readonly values: readonly (infer V)[] }
  ? z.ZodEnum<{ [K in V & string]: K }>
  : (typeof TYPES)[F["type"] & keyof typeof TYPES];
type DerivedKeys = {
  [K in Exclude<keyof KeyedFields, keyof typeof OWN_KEYS>]: z.ZodOptional<KeyOf<KeyedFields[K]>>;
};

const keyOf = ({ type, values, min, max }: Field): z.ZodType =>
  values !== undefined
    ? z.enum(values)
    : type === "int"
      ? count(min!, max!)
      : TYPES[type as keyof typeof TYPES];

/** The keys of a worker: those of its spec, with the order and help of the table of fields. */
export const WorkerKeys = z.strictObject({
  ...(Object.fromEntries(
    specKeys().map(({ key, field, help, shown }) => {
      const own = (OWN_KEYS as Record<string, z.ZodType>)[key];
      const { description } = own ?? keyOf(field);
      const about = [help, description, shown && `default: ${shown}`];
      return [key, (own ?? keyOf(field).optional()).describe(about.filter(Boolean).join("; "))];
    }),
  ) as DerivedKeys & typeof OWN_KEYS),
  depends_on: dependsOn,
});
export type WorkerKeys = z.output<typeof WorkerKeys>;

const times = SchedulePlanFields;
/** The keys of a schedule: those of its worker, and when it starts. */
export const ScheduleKeys = WorkerKeys.omit({
  name: true,
  depends_on: true,
  significant: true,
  placement: true,
}).extend({
  name: ScheduleName.describe("its name; its workers are called by it and the time of their run"),
  cron: times.cron.describe(
    "five fields as in crontab(5), six with the second first, or a word such as @daily; in quotes",
  ),
  zone: times.zone.describe("time zone of the IANA; default: the zone of the daemon"),
  overlap: z
    .enum(OVERLAPS)
    .optional()
    .describe("when the run before goes on: forbid (default) skips this one, allow, replace ends that one"),
  missed: z
    .enum(MISSED)
    .optional()
    .describe("for times that passed while no daemon ran: skip, once (default) for all of them, all"),
  missed_max: count(1, SCHEDULE_MISSED_MAX)
    .optional()
    .describe(`how many missed runs all makes up for; default ${SCHEDULE_MISSED_DEFAULT}`),
  starting_deadline: duration
    .refine((ms) => ms >= SCHEDULE_DEADLINE_MIN_MS, "is below a second")
    .optional()
    .describe("a run that is later than this is not started"),
});

/** Keys whose values stay as written, even if they look like numbers. */
export const TEXT_KEYS: readonly string[] = specKeys().flatMap(({ key, field: { type } }) =>
  (key in OWN_KEYS ? ["map", "labels", "mcp", "placement"] : ["string", "texts"]).includes(type) ? [key] : [],
);

/** The keys of every supervisor, including the top one. */
export const RootKeys = z.strictObject({
  strategy: Strategy.optional(),
  intensity: restarts.describe("restarts / period, as in 3/60s").optional(),
  decay: duration.describe("after this time a failure counts half; replaces the period").optional(),
  backoff: backoff.describe("first wait before a restart and the longest").optional(),
  on_intensity: OnIntensity.describe("escalate: its supervisor decides; park: stay stopped").optional(),
  auto_shutdown: AutoShutdown.describe("effect of the end of a significant child").optional(),
  budget: Budget.describe("for all workers below it together, in the form of a worker's budget").optional(),
  on_breach: onBreach.optional(),
});
export type RootKeys = z.output<typeof RootKeys>;

export const SupervisorKeys = RootKeys.extend({
  name: NodeName.describe("its name among its siblings; a path joins names with /"),
  restart: RestartPolicy.describe("as a child; default permanent").optional(),
  significant: flag.describe("its end may end its supervisor: auto_shutdown").optional(),
  depends_on: dependsOn,
});
export type SupervisorKeys = z.output<typeof SupervisorKeys>;

const variables = z
  .record(z.string(), word, { error: "needs names and values, as in { NAME: value }" })
  .superRefine(checkVariableNames);

export const IncludeKeys = z.looseObject({
  include: z
    .string({ error: "needs the path of a file" })
    .min(1, "is empty")
    .describe("file with a node, or a list of nodes"),
  variables: variables.describe("for the included file").optional(),
});

const hostOf = (patch: z.ZodType) =>
  z.strictObject({
    variables: variables.optional(),
    nodes: z
      .record(z.string(), patch, { error: "needs paths and keys, as in { crew/fixer: { grace: 5s } }" })
      .optional(),
  });

const topOf = (tree: z.ZodType, patch: z.ZodType, schedule: z.ZodType) =>
  z.strictObject({
    $schema: z.string().describe("the JSON Schema of this file, for editors").optional(),
    version: z.literal(1),
    name: NodeName.describe("name of the tree; default: the file's directory").optional(),
    variables: variables
      .describe(
        "variables that the texts below may name in braces after a dollar sign; agent up --var NAME=value wins",
      )
      .optional(),
    hosts: z
      .record(z.string(), hostOf(patch), { error: "needs patterns of host names" })
      .describe("by pattern of host names (* and ?): what is different there")
      .optional(),
    schedules: z
      .array(schedule, { error: "needs a list" })
      .max(SCHEDULES_MAX)
      .optional()
      .describe("workers that start at times"),
    tree: tree.optional().describe("may be left out beside schedules"),
  });

/** The top of a file; nodes are checked one by one, so that each mistake gets its own sentence. */
export const TopKeys = topOf(z.unknown(), z.unknown(), z.unknown());

/** The keys that a host may change: all except those that define the tree's shape. */
export const WorkerPatch = WorkerKeys.omit({ name: true }).partial();
export const SupervisorPatch = SupervisorKeys.omit({ name: true }).partial();

const Child: z.ZodType = z.lazy(() => z.union([Worker, Supervisor, Include])).meta({ id: "child" });
const children = z.array(Child).describe("in the order in which they start");
const Worker = WorkerKeys.meta({ id: "worker", title: "worker" });
const Supervisor = SupervisorKeys.extend({ children: children.optional() }).meta({
  id: "supervisor",
  title: "supervisor",
});
const Include = IncludeKeys.meta({ id: "include", title: "include" });

/** The published JSON Schema of the whole file. */
export const treeFileSchema = (): JsonSchema => ({
  title: "holdfast.yaml",
  ...z.toJSONSchema(
    topOf(
      RootKeys.extend({ children: children.optional() }),
      z.union([WorkerPatch, SupervisorPatch]),
      ScheduleKeys.meta({ id: "schedule", title: "schedule" }),
    ),
    { target: "draft-2020-12", io: "input" },
  ),
});
