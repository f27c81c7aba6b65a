/**
 * The keys of a holdfast.yaml (cli.md, `holdfast.yaml`; docs/tree.md), as zod schemas: a worker's keys, a supervisor's, the
 * top's. Their JSON Schema is published, so that editors complete; messages are the rest of a sentence that begins with the key.
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
  DEPTH_MAX,
  LABELS_MAX,
  PERMISSION_RULES_MAX,
  PIDS_MAX,
  WORKERS_LIVE_MAX,
} from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import type { JsonSchema } from "../protocol/json-schemas.ts";
import type { Permission, PermissionRule } from "../protocol/permission.ts";
import { parseRule } from "../protocol/permission-rules.ts";
import { AutoShutdown, NodeName, OnIntensity, Strategy } from "../protocol/tree.ts";
import { OnBreach, Priority, RestartPolicy } from "../protocol/worker.ts";
import { ABOUT_KEY } from "./issues.ts";

/** An amount as people write it; JSON's numbers stand for themselves. */
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

/** A word of a command line may look like a number. */
const word = z
  .union([z.string(), z.number(), z.boolean()], { error: "needs a text" })
  .transform((value) => String(value));
/** A variable may hold the word. */
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
const texts = z.array(word, { error: "needs a list, as in [a, b]" });

const dependsOn = z
  .union([z.string(), z.array(z.string())], { error: "needs paths of the tree, as in [store, crew/fixer]" })
  .transform((value) => (typeof value === "string" ? [value] : value))
  .describe("paths of nodes that must be ready before this one is started");

const SHUTDOWN_WORDS = ["brutal_kill", "infinity"] as const;
type Shutdown = { readonly shutdown: (typeof SHUTDOWN_WORDS)[number] } | { readonly grace_ms: number };
const readShutdown = (text: string): Reading<Shutdown> => {
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
      healthy_for: duration.describe("it has run for so long").optional(),
      within: duration.describe("not ready within this, it has failed to start").optional(),
    },
    { error: "needs a condition, as in { log: listening }" },
  )
  .refine((ready) => CONDITIONS.filter((each) => ready[each] !== undefined).length === 1, {
    error: `has exactly one of ${CONDITIONS.join(", ")}`,
    // A mistyped condition is told as that alone.
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

const name = NodeName.describe("its name among its siblings; a path joins names with /");
const checkVariableNames = (values: Readonly<Record<string, string>>, context: z.RefinementCtx): void => {
  for (const variable of Object.keys(values))
    if (!VARIABLE_NAME.test(variable))
      context.addIssue({
        code: "custom",
        path: [variable],
        message: "is no name of a variable: letters, digits and _, not first a digit",
        params: ABOUT_KEY,
      });
};

const environment = z
  .record(z.string(), word, { error: "needs names and values, as in { KEY: value }" })
  .superRefine(checkVariableNames);

export const WorkerKeys = z.strictObject({
  name,
  kind: z
    .string()
    .describe(
      "claude, codex, gemini, opencode, copilot, acp, command, or a kind of the configuration; command where only argv is given",
    )
    .optional(),
  argv: texts.describe("program and arguments of a command; extra arguments of an agent").optional(),
  prompt: z.string().describe("task of the agent").optional(),
  prompt_file: z
    .string()
    .min(1, "is empty")
    .describe("file with the prompt, relative to this file")
    .optional(),
  cwd: z.string().min(1, "is empty").describe("directory in which it runs, relative to this file").optional(),
  worktree: z
    .union([z.boolean({ error: "is true, false or the name of a new branch" }), word])
    .describe(
      "true, or the name of a new branch: it works in a git worktree of its own, made from the repository of cwd",
    )
    .optional(),
  sandbox: z
    .union([
      z.boolean(),
      z.strictObject({
        net: z.enum(["none", "host"]).describe("default: none for a command, host for an agent").optional(),
        writable: texts.describe("more directories that it may write to, relative to this file").optional(),
      }),
    ])
    .describe(
      "true, or what it may: its agent writes to its workspace alone, and sees no process but its own",
    )
    .optional(),
  add_dirs: texts
    .describe(
      "more directories that its agent may work in, relative to this file (claude, codex, copilot, gemini)",
    )
    .optional(),
  labels: z
    .record(z.string(), word, { error: "needs names and values, as in { team: core }" })
    .refine((labels) => Object.keys(labels).length <= LABELS_MAX, `may be at most ${LABELS_MAX}`)
    .describe("names and values for lists")
    .optional(),
  env: environment.describe("variables; @env:NAME and @file:PATH are read at each start").optional(),
  inherit_env: texts.describe("your variables that it gets too").optional(),
  model: word.describe("as the agent names it").optional(),
  session: word.describe("session of the provider to go on in").optional(),
  fork: flag.describe("branch the session instead").optional(),
  interactive: flag.describe("keep stdin open for agent send").optional(),
  permission: z.enum(["ask", "deny", "allow"]).optional(),
  allow_tools: toolRules("allow")
    .describe("tools that are allowed unasked: Bash, or Bash(git status*)")
    .optional(),
  ask_tools: toolRules("ask").describe("tools that a person is asked about").optional(),
  deny_tools: toolRules("deny").describe("tools that are never allowed").optional(),
  approval_within: duration.describe("how long a request for permission waits").optional(),
  approval_default: z.enum(["deny", "allow"]).describe("answer to it then").optional(),
  ext: z
    .record(z.string(), z.json(), { error: "needs keys and values" })
    .describe("extension keys of the agent API")
    .optional(),
  restart: RestartPolicy.describe("default: temporary for command, else transient").optional(),
  backoff: backoff.describe("first wait before a restart and the longest, as in 1s..60s").optional(),
  grace: duration.describe("time between TERM and KILL").optional(),
  shutdown: amount(readShutdown, "brutal_kill, infinity or a duration")
    .describe("brutal_kill, infinity, or a duration, which is the same as grace")
    .optional(),
  timeout: duration.describe("longest run of one incarnation; 0 is none").optional(),
  stall: duration.describe("no record for so long means stuck; 0 is never").optional(),
  tool_timeout: duration.describe("longest call of a tool; 0 is none").optional(),
  heartbeat: duration.describe("how often the process is looked at").optional(),
  priority: Priority.describe("place in the queue for a slot").optional(),
  max_depth: z
    .int("needs a whole number")
    .min(0, "is below 0")
    .max(DEPTH_MAX, `may be at most ${DEPTH_MAX}`)
    .describe("agents that spawn agents, counted from the top; only tighter than what holds for itself")
    .optional(),
  max_concurrency: z
    .int("needs a whole number")
    .min(0, "is below 0")
    .max(WORKERS_LIVE_MAX, `may be at most ${WORKERS_LIVE_MAX}`)
    .describe("how many of those that its agent spawns run at once")
    .optional(),
  budget: Budget.describe(
    "for it and all that its agent spawns: usd=5,tokens=2M,turns=40,wall=1h,restarts=10,output=1GB, or the same as a map",
  ).optional(),
  on_breach: onBreach.optional(),
  output_quota: size
    .describe(
      "output on the disk that is not read yet, as in 1GB; beyond it the worker is stopped, 0 is none",
    )
    .optional(),
  on_output_quota: z
    .enum(["fail", "pause"])
    .describe("pause: it stands still instead until the rest is read, and while the disk is nearly full")
    .optional(),
  ready: Ready.describe("when it counts as started; without it, as soon as it runs").optional(),
  limits: z
    .strictObject({
      memory: amount(readSize, "a size such as 512M or 2G").optional(),
      pids: z
        .int("needs a whole number")
        .min(1, "is below 1")
        .max(PIDS_MAX, `may be at most ${PIDS_MAX}`)
        .optional(),
      cpu: z
        .number("needs a number such as 1.5")
        .min(0.01, "is below 0.01")
        .max(CPUS_MAX, `may be at most ${CPUS_MAX}`)
        .optional(),
    })
    .describe("resources for it with all that it starts, where a cgroup is delegated to the daemon")
    .optional(),
  passivate: duration
    .describe(
      "a conversation that has waited so long for a message is ended, and started again by the next one; 0 is never",
    )
    .optional(),
  on_unfixable: z
    .enum(["end", "restart"])
    .describe(
      "when it fails so that no restart can mend it (no valid key, a rejected request): end at once, or as its restart says; default end",
    )
    .optional(),
  on_interrupted: z
    .enum(["continue", "ask", "never"])
    .describe(
      "when its agent dies in the middle of a turn: go on in its session, ask first, or end; default ask where a tool was open that may have changed something",
    )
    .optional(),
  on_supervisor_death: z
    .enum(["survive", "die"])
    .describe("whether it lives on when the daemon dies; default survive")
    .optional(),
  significant: flag.describe("its end may end its supervisor: auto_shutdown").optional(),
  depends_on: dependsOn.optional(),
});
export type WorkerKeys = z.output<typeof WorkerKeys>;

/** Keys whose numbers are taken as they are written. */
export const TEXT_KEYS: readonly string[] = [
  "argv",
  "env",
  "labels",
  "inherit_env",
  "model",
  "session",
] satisfies (keyof WorkerKeys)[];

/** Keys that the top supervisor has, too. */
export const RootKeys = z.strictObject({
  strategy: Strategy.optional(),
  intensity: restarts.describe("restarts / period, as in 3/60s").optional(),
  decay: duration.describe("every failure counts for half after so long, in place of the period").optional(),
  backoff: backoff.describe("first wait before a restart and the longest").optional(),
  on_intensity: OnIntensity.describe("escalate: its supervisor decides; park: stay stopped").optional(),
  auto_shutdown: AutoShutdown.describe("effect of the end of a significant child").optional(),
  budget: Budget.describe("for all that run below it together, as that of a worker").optional(),
  on_breach: onBreach.optional(),
});
export type RootKeys = z.output<typeof RootKeys>;

export const SupervisorKeys = RootKeys.extend({
  name,
  restart: RestartPolicy.describe("as a child; default permanent").optional(),
  significant: flag.describe("its end may end its supervisor: auto_shutdown").optional(),
  depends_on: dependsOn.optional(),
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

const topOf = (tree: z.ZodType, patch: z.ZodType) =>
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
    tree,
  });

/** The top of a file; nodes are checked one by one, so that each mistake has its own words. */
export const TopKeys = topOf(z.unknown(), z.unknown());

/** The keys that a host may change: anything but what makes the tree's shape. */
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
    topOf(RootKeys.extend({ children: children.optional() }), z.union([WorkerPatch, SupervisorPatch])),
    { target: "draft-2020-12", io: "input" },
  ),
});
