/** The flags of spawn as a worker's spec, and what is wrong with them. Pure. */
import { resolve } from "node:path";
import { ADD_DIRS, foreignKeys, VALIDATE } from "../../adapters/validate.ts";
import { ACP_AGENT } from "../../base/acp-agents.ts";
import { isBranchName } from "../../base/branch-name.ts";
import { type Backoff, type BudgetReading, formatSize, type Restarts } from "../../base/durations.ts";
import { clientEnvironment, referencedVariables, VARIABLE_NAME } from "../../base/environment.ts";
import {
  CPUS_MAX,
  CPUS_MIN,
  LABELS_MAX,
  MEMORY_LIMIT_MIN_BYTES,
  NAME_MAX_BYTES,
  PERMISSION_RULE_MAX_BYTES,
  PIDS_MAX,
} from "../../base/limits.ts";
import { commandLine } from "../../base/shell.ts";
import type { KindDef } from "../../commands/commands.ts";
import { type AddedKind, kindDefaults, kindOf, unknownKind } from "../../commands/kinds.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { parseRule } from "../../protocol/permission-rules.ts";
import { isTellable, NOT_TELLABLE } from "../../protocol/redact.ts";
import type { WorkerSpec, WorkerSpecInput } from "../../protocol/worker.ts";
import { type Context, type Env, stateDirOf } from "../context.ts";
import type { Call, Place } from "../parse.ts";
import { badVariables, notUtf8, thisProcess } from "../utf8.ts";
import { mayBeAdded } from "./added-kinds.ts";
import { findProgram } from "./programs.ts";

type Json = NonNullable<WorkerSpecInput["ext"]>[string];

/** `HOLDFAST_RUN=<store>/<worker>/<incarnation>`: the worker whose agent runs this command. */
export const parentOf = (env: Env): string | undefined => env.HOLDFAST_RUN?.split("/")[1];

/** For every command that takes a KIND. If a configuration may add kinds, the daemon knows them. */
export const kindProblem = ({ command, args, flags, isDoubtful }: Call, place?: Place): readonly string[] => {
  const typed = args[0] ?? "command";
  if (kindOf(typed) !== undefined || isDoubtful) return [];
  if (place === undefined) return [unknownKind(typed)];
  if (mayBeAdded(typed, stateDirOf(flags, place.env, place.cwd))) return [];
  const isProgram = command.command === "agent/spawn" && findProgram(typed, place.env) !== undefined;
  const program = isProgram ? commandLine(["agent", "spawn", "--", ...args]) : undefined;
  return [unknownKind(typed, [], program && `a program stands after --: ${program}`)];
};

const programProblems = (typed: string | undefined, argv: Call["argv"]): readonly string[] => {
  if (argv !== undefined && argv.length > 0) return [];
  if (argv !== undefined) return ["agent spawn needs a program after --"];
  return [
    typed === undefined
      ? "agent spawn needs a KIND (claude, codex, gemini …), or a program after --"
      : typed === "acp"
        ? "kind acp needs its agent's program after --, as in: agent spawn acp PROMPT -- my-agent --acp; acp:gemini and the others have one"
        : "kind command needs a program after --, as in: agent spawn -- sleep 60",
  ];
};

const needsPrompt = (kind: KindDef, { args, flags }: Call): boolean =>
  kind.needsPrompt &&
  !(kind.converses && flags.interactive === true) &&
  args[1] === undefined &&
  flags["prompt-file"] === undefined;

/** Keys that the kind does not take; a prompt that is missing comes first (agent-event notes A.4). */
export const spawnGate = (call: Call): ErrorCode | undefined => {
  const kind = kindOf(call.args[0] ?? "command");
  if (kind === undefined || needsPrompt(kind, call) || call.args[1]?.trim() === "") return undefined;
  const keys = Object.fromEntries(pairs(call.flags.ext)) as Record<string, Json>;
  return foreignKeys(kind.kind, keys).length > 0 ? "UNSUPPORTED_CAPABILITY" : undefined;
};

/** Others take the next word for the branch: one that could be it, and is no KIND, is not taken for a PROMPT without a word. */
const behindProblems = (call: Call, place: Place | undefined): readonly string[] => {
  const { behind, args } = call;
  const word = behind === undefined ? undefined : args[behind.at];
  if (behind === undefined || word === undefined || !isBranchName(word)) return [];
  if (behind.at === 0 && kindProblem(call, place).length === 0) return [];
  const { flag } = behind;
  const before = behind.at === 0 ? "" : `; a PROMPT of one word stands before --${flag}`;
  return [`the name of a branch comes after =, as in --${flag}=${word}${before}`];
};

/** A flag without its value takes the `--` behind it for one: what follows then is no KIND. */
const lostTheProgram = ({ argv, problems }: Call): boolean =>
  argv === undefined && problems.some((problem) => /^--[a-z-]+ needs a value\b/.test(problem));

/** The registry tells that it needs its first word. */
const isIncomplete = ({ command, args, argv }: Call): boolean =>
  command.command !== "agent/spawn" && args[0] === undefined && argv === undefined;

/** The adapters check again; told here, these stand beside the other mistakes, and no daemon is started for them. */
const kindProblems = (call: Call, place: Place | undefined): readonly string[] => {
  const { args, argv, flags } = call;
  const [typed] = args;
  const kind = kindOf(typed ?? "command");
  if (kind === undefined) return lostTheProgram(call) ? [] : kindProblem(call, place);
  if (isIncomplete(call)) return [];
  const isNamed = pairs(flags.ext).some(([key]) => key === ACP_AGENT);
  const problems = kind.binary === null && !isNamed ? [...programProblems(typed, argv)] : [];
  if (needsPrompt(kind, call))
    problems.push(`kind ${kind.short} needs a PROMPT: an argument, --prompt-file F, or - to read stdin`);
  for (const flag of kind.refuses)
    if (flags[flag] !== undefined) problems.push(`--${flag} means nothing to kind ${kind.short}`);
  return problems;
};

/** worker.ts, WORKER_NAME. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

const pairs = (flag: unknown): readonly (readonly [string, string])[] =>
  (flag as [string, string][] | undefined) ?? [];

/** The bounds of worker.ts, RunLimits, in the words of the flags. */
const limitProblems = ({ memory, pids, cpu }: Call["flags"]): readonly string[] => {
  const isOutside = (value: unknown, min: number, max: number): boolean =>
    value !== undefined && ((value as number) < min || (value as number) > max);
  return [
    ...(isOutside(memory, MEMORY_LIMIT_MIN_BYTES, Number.MAX_SAFE_INTEGER)
      ? [`--memory is at least ${formatSize(MEMORY_LIMIT_MIN_BYTES)}`]
      : []),
    ...(isOutside(pids, 1, PIDS_MAX) ? [`--pids is from 1 to ${PIDS_MAX}, not ${pids}`] : []),
    ...(isOutside(cpu, CPUS_MIN, CPUS_MAX) ? [`--cpu is from ${CPUS_MIN} to ${CPUS_MAX}, not ${cpu}`] : []),
  ];
};

const RULE_FLAGS = { "allow-tool": "allow", "ask-tool": "ask", "deny-tool": "deny" } as const;

const rulesOf = (flags: Call["flags"]): WorkerSpecInput["permission_rules"] => {
  const rules = Object.entries(RULE_FLAGS).flatMap(([flag, action]) =>
    ((flags[flag] as string[] | undefined) ?? []).flatMap((text) => parseRule(text, action) ?? []),
  );
  return rules.length === 0 ? undefined : rules;
};

const ruleProblems = (flags: Call["flags"]): readonly string[] =>
  Object.keys(RULE_FLAGS).flatMap((flag) =>
    ((flags[flag] as string[] | undefined) ?? []).flatMap((text) =>
      parseRule(text, "ask") === undefined
        ? [
            `--${flag} is TOOL or TOOL(ARGUMENT), at most ${PERMISSION_RULE_MAX_BYTES} bytes, not "${text.slice(0, 64)}"`,
          ]
        : [],
    ),
  );

/** One sentence a mistake, beyond what the registry checks. */
export const spawnProblems = (call: Call, place?: Place): readonly string[] => {
  const { flags, args } = call;
  const problems = [
    ...kindProblems(call, place),
    ...behindProblems(call, place),
    ...limitProblems(flags),
    ...ruleProblems(flags),
  ];
  const name = flags.name as string | undefined;
  if (name !== undefined && (!NAME.test(name) || name.length > NAME_MAX_BYTES))
    problems.push(
      `--name has letters, digits, '.', '_' and '-', begins with a letter or digit and is at most ${NAME_MAX_BYTES} long, not "${name}"`,
    );
  else if (name !== undefined && !isTellable(name)) problems.push(`--name: ${NOT_TELLABLE}`);
  if (pairs(flags.label).length > LABELS_MAX) problems.push(`--label is given more than ${LABELS_MAX} times`);
  for (const [variable] of pairs(flags.env))
    if (!VARIABLE_NAME.test(variable))
      problems.push(`--env has letters, digits and _ before the =, and first no digit, not "${variable}"`);
  if (typeof flags.worktree === "string" && !isBranchName(flags.worktree))
    problems.push(
      `--worktree takes the name of a branch, as in --worktree=fix/login, not "${flags.worktree}"`,
    );
  const isConfined = flags.sandbox === "workspace";
  for (const flag of ["sandbox-net", "sandbox-writable"])
    if (flags[flag] !== undefined && !isConfined) problems.push(`--${flag} needs --sandbox workspace`);
  if (flags.detach && (flags.watch || flags.wait))
    problems.push("--detach goes with neither --watch nor --wait");
  if (flags["add-dir"] !== undefined && pairs(flags.ext).some(([key]) => key === ADD_DIRS))
    problems.push(`the directories are given twice: by --add-dir and by the extension key ${ADD_DIRS}`);
  if (args[1] !== undefined && flags["prompt-file"] !== undefined)
    problems.push("the prompt is given twice: as PROMPT and with --prompt-file");
  if (args[1] !== "" && args[1]?.trim() === "") problems.push("PROMPT is empty");
  return [...problems, ...adapterProblems(call)];
};

/** The mistakes that the kind's adapter would find, but for what has been said above in the words of the command line. */
const adapterProblems = (call: Call): readonly string[] => {
  const kind = kindOf(call.args[0] ?? "command");
  if (kind === undefined || isIncomplete(call)) return [];
  const taken = Object.entries(call.flags).filter(([flag]) => !kind.refuses.includes(flag));
  const spec = specOf({ ...call, flags: Object.fromEntries(taken) }, { env: {}, cwd: "/", stateDir: "/" });
  const isProgram = kind.binary === null && (spec.argv ?? []).length === 0;
  const said: WorkerSpecInput = {
    ...spec,
    prompt: (spec.prompt ?? "").trim() === "" ? "said" : spec.prompt,
    ...(isProgram && { argv: ["said"] }),
    ...(spec.budget === undefined && { budget: {} }),
    ...(spec.permission_rules === undefined && { permission_rules: [] }),
  };
  return VALIDATE[kind.kind]!(said as WorkerSpec);
};

/** The source from which the prompt is read from: `-`, a file, or undefined when argv has it or there is none. */
export const promptSource = ({ args, flags }: Call): string | undefined =>
  args[1] === "-" ? "-" : (flags["prompt-file"] as string | undefined);

/** An agent that runs `agent spawn` reaches the daemon that it runs under, whatever its own HOME is. */
export const ALWAYS_INHERITED = "HOLDFAST_HOME";

/** The variables that a client sends: those that any agent may need, and those that are named. */
export const sentEnvironment = (
  named: readonly string[],
  { env, stateDir }: Pick<Context, "env" | "stateDir">,
): Record<string, string> => {
  const sent = clientEnvironment({ ...env, [ALWAYS_INHERITED]: stateDir }, named);
  const garbled = notUtf8(badVariables(sent, thisProcess));
  if (garbled !== undefined) throw garbled;
  return sent;
};

/** `--add-dir` is another spelling of a key, and absolute: an agent in a worktree is not where the directory was looked for. */
const extOf = ({ flags }: Call, where: string): Record<string, Json> => {
  const dirs = (flags["add-dir"] as string[] | undefined)?.map((dir) =>
    dir.trim() === "" ? dir : resolve(where, dir.trim()),
  );
  return {
    ...(dirs === undefined ? {} : { [ADD_DIRS]: { dirs } }),
    ...Object.fromEntries((flags.ext as [string, Json][] | undefined) ?? []),
  };
};

const limitsOf = ({ memory, pids, cpu }: Call["flags"]): WorkerSpecInput["limits"] => ({
  ...(memory === undefined ? {} : { memory_bytes: memory as number }),
  ...(pids === undefined ? {} : { pids: pids as number }),
  ...(cpu === undefined ? {} : { cpu: cpu as number }),
});

const worktreeOf = ({ worktree }: Call["flags"]): Pick<WorkerSpecInput, "worktree"> =>
  worktree === undefined ? {} : { worktree: worktree === true ? {} : { branch: worktree as string } };

const sandboxOf = (flags: Call["flags"], cwd: string): Pick<WorkerSpecInput, "sandbox"> => {
  if (flags.sandbox !== "workspace") return {};
  const writable = ((flags["sandbox-writable"] as string[] | undefined) ?? []).map((dir) =>
    resolve(cwd, dir),
  );
  return { sandbox: { writable, net: flags["sandbox-net"] as "none" | "host" | undefined } };
};

/** The spec of a call without problems. Fields that were not asked for are left to the daemon's defaults. */
export const specOf = (
  call: Call,
  { env, cwd, stateDir }: Pick<Context, "env" | "cwd" | "stateDir">,
  added?: AddedKind,
): WorkerSpecInput => {
  const { flags, args, argv = [] } = call;
  const where = resolve(cwd, (flags.cwd as string | undefined) ?? ".");
  const known = kindOf(args[0] ?? "command");
  const kind = known?.kind ?? added?.kind ?? args[0]!;
  const defaults = kindDefaults(kind, flags.interactive === true);
  const own = Object.fromEntries(pairs(flags.env));
  const inherit = [...((flags["inherit-env"] as string[] | undefined) ?? []), ALWAYS_INHERITED];
  const restarts = flags["max-restarts"] as Restarts | undefined;
  const backoff = flags.backoff as Backoff | undefined;
  return {
    kind,
    name: flags.name as string | undefined,
    labels: Object.fromEntries(pairs(flags.label)),
    prompt: args[1] === "-" ? undefined : args[1],
    argv: [...argv],
    cwd: where,
    ...worktreeOf(flags),
    ...sandboxOf(flags, cwd),
    env: own,
    client_env: sentEnvironment([...inherit, ...referencedVariables(own), ...(added?.variables ?? [])], {
      env,
      stateDir,
    }),
    inherit_env: inherit,
    model: flags.model as string | undefined,
    session: flags.session as string | undefined,
    fork: flags.fork === true,
    interactive: flags.interactive === true,
    permission: flags.permission as WorkerSpecInput["permission"],
    permission_rules: rulesOf(flags),
    approval_within_ms: flags["approval-within"] as number | undefined,
    approval_default: flags["approval-default"] as WorkerSpecInput["approval_default"],
    ext: { ...known?.ext, ...extOf(call, where) },
    restart: (flags.restart as WorkerSpecInput["restart"] | undefined) ?? added?.restart ?? defaults.restart,
    max_restarts: restarts?.max,
    restart_period_ms: restarts?.period_ms,
    backoff_min_ms: backoff?.min_ms,
    backoff_max_ms: backoff?.max_ms,
    grace_ms: flags.grace as number | undefined,
    limits: limitsOf(flags),
    on_supervisor_death: flags["on-supervisor-death"] as WorkerSpecInput["on_supervisor_death"],
    timeout_ms: (flags.timeout as number | undefined) ?? defaults.timeout_ms,
    stall_ms: (flags.stall as number | undefined) ?? defaults.stall_ms,
    tool_timeout_ms: flags["tool-timeout"] as number | undefined,
    output_quota_bytes: flags["output-quota"] as number | undefined,
    on_output_quota: flags["on-output-quota"] as WorkerSpecInput["on_output_quota"],
    priority: flags.priority as WorkerSpecInput["priority"],
    max_depth: flags["max-depth"] as number | undefined,
    max_concurrency: flags["max-concurrency"] as number | undefined,
    heartbeat_ms: flags.heartbeat as number | undefined,
    budget: flags.budget as BudgetReading | undefined,
    on_breach: flags["on-breach"] as WorkerSpecInput["on_breach"],
    passivate_ms: flags.passivate as number | undefined,
    on_unfixable: flags["on-unfixable"] as WorkerSpecInput["on_unfixable"],
    on_interrupted: flags["on-interrupted"] as WorkerSpecInput["on_interrupted"],
    supervisor: flags.supervisor as string | undefined,
    parent: parentOf(env),
  };
};
