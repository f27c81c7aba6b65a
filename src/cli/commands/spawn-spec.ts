/** Turns the flags of spawn into a worker's spec, and finds the mistakes in them. Pure. */
import { resolve } from "node:path";
import { isBranchName } from "../../base/branch-name.ts";
import type { Backoff, Restarts } from "../../base/durations.ts";
import { clientEnvironment, referencedVariables, VARIABLE_NAME } from "../../base/environment.ts";
import { LABELS_MAX, PERMISSION_RULE_MAX_BYTES } from "../../base/limits.ts";
import { commandLine } from "../../base/shell.ts";
import {
  type AddedKind,
  KIND_VARIABLES,
  type KindDef,
  keysOfKind,
  kindDefaults,
  kindOf,
  mistakesOf,
  noProgramOf,
  PROGRAM_KIND,
  SOME_KINDS,
  unknownKind,
} from "../../commands/kinds.ts";
import type { ErrorCode } from "../../protocol/errors.ts";
import { ADD_DIRS, unsupportedKeys } from "../../protocol/extensions.ts";
import { mcpVariables } from "../../protocol/mcp-references.ts";
import { parseRule } from "../../protocol/permission-rules.ts";
import { isTellable, NOT_TELLABLE } from "../../protocol/redact.ts";
import { plainFields } from "../../protocol/spec-fields.ts";
import { traceIn } from "../../protocol/trace-variables.ts";
import type { WorkerSpec, WorkerSpecInput } from "../../protocol/worker.ts";
import { type Context, type Env, stateDirOf } from "../context.ts";
import type { Call, CallPlace } from "../parse.ts";
import { badVariables, notUtf8, thisProcess } from "../utf8.ts";
import { readName } from "../values.ts";
import { mayBeAdded } from "./added-kinds.ts";
import { findProgram } from "./programs.ts";

type ExtensionValue = NonNullable<WorkerSpecInput["ext"]>[string];

/** `HOLDFAST_RUN=<store>/<worker>/<incarnation>`: the worker whose agent runs this command. */
export const parentOf = (env: Env): string | undefined => env.HOLDFAST_RUN?.split("/")[1];

/** For every command that takes a KIND. If a configuration may add kinds, only the daemon knows them. */
export const kindProblem = (
  { command, args, flags, isDoubtful }: Call,
  place?: CallPlace,
): readonly string[] => {
  const typed = args[0] ?? PROGRAM_KIND;
  if (kindOf(typed) !== undefined || isDoubtful) return [];
  if (place === undefined) return [unknownKind(typed)];
  if (mayBeAdded(typed, stateDirOf(flags, place.env, place.cwd))) return [];
  const isProgram = startsPrograms(command) && findProgram(typed, place.env) !== undefined;
  const program = isProgram ? commandLine(["agent", ...command.words, "--", ...args]) : undefined;
  return [unknownKind(typed, [], program && `a program stands after --: ${program}`)];
};

const startsPrograms = ({ argv }: Call["command"]): boolean => argv === true;

const programProblems = ({ kind, ext }: KindDef, { command, args, argv, flags }: Call): readonly string[] => {
  const missing = noProgramOf(kind, { ...ext, ...Object.fromEntries(pairs(flags.ext)) });
  if (missing === undefined || (argv ?? []).length > 0) return [];
  const words = `agent ${command.words.join(" ")}`;
  if (argv !== undefined) return [`${words} needs a program after --`];
  return [
    args[0] === undefined
      ? `${words} needs a KIND (${SOME_KINDS}), or a program after --`
      : missing.on_command_line,
  ];
};

const needsPrompt = (kind: KindDef, { args, flags }: Call): boolean =>
  kind.needsPrompt &&
  !(kind.converses && flags.interactive === true) &&
  args[1] === undefined &&
  flags["prompt-file"] === undefined;

/** The error code for extension keys that the kind does not take; a missing prompt takes precedence (agent-event notes A.4). */
export const spawnGate = (call: Call): ErrorCode | undefined => {
  const kind = kindOf(call.args[0] ?? PROGRAM_KIND);
  if (kind === undefined || needsPrompt(kind, call) || call.args[1]?.trim() === "") return undefined;
  const keys = Object.fromEntries(pairs(call.flags.ext)) as Record<string, ExtensionValue>;
  const isForeign = unsupportedKeys({ kind: kind.kind, ext: keys }, keysOfKind(kind.kind)).length > 0;
  return isForeign ? "UNSUPPORTED_CAPABILITY" : undefined;
};

/** Other tools take the next word as the branch. So a word that could be a branch, and is not a KIND, is not silently taken as PROMPT. */
const behindProblems = (call: Call, place: CallPlace | undefined): readonly string[] => {
  const { behind, args } = call;
  const word = behind === undefined ? undefined : args[behind.at];
  if (behind === undefined || word === undefined || !isBranchName(word)) return [];
  if (behind.at === 0 && kindProblem(call, place).length === 0) return [];
  const { flag } = behind;
  const before = behind.at === 0 ? "" : `; a PROMPT of one word stands before --${flag}`;
  return [`the name of a branch comes after =, as in --${flag}=${word}${before}`];
};

/** A flag without its value takes the `--` behind it as its value; the next word is then mistaken for a KIND. */
const lostTheProgram = ({ argv, problems }: Call): boolean =>
  argv === undefined && problems.some((problem) => /^--[a-z-]+ needs a value\b/.test(problem));

/** The registry already reports the missing first word. */
const isIncomplete = ({ command, args, argv }: Call): boolean =>
  !startsPrograms(command) && args[0] === undefined && argv === undefined;

/** The adapters check again. Reported here, these mistakes appear with the others, and no daemon is started. */
const kindProblems = (call: Call, place: CallPlace | undefined): readonly string[] => {
  const { args, flags } = call;
  const [typed] = args;
  const kind = kindOf(typed ?? PROGRAM_KIND);
  if (kind === undefined) return lostTheProgram(call) ? [] : kindProblem(call, place);
  if (isIncomplete(call)) return [];
  const problems = [...programProblems(kind, call)];
  if (needsPrompt(kind, call))
    problems.push(`kind ${kind.short} needs a PROMPT: an argument, --prompt-file F, or - to read stdin`);
  for (const flag of kind.refuses)
    if (flags[flag] !== undefined) problems.push(`--${flag} means nothing to kind ${kind.short}`);
  return problems;
};

const pairs = (flag: unknown): readonly (readonly [string, string])[] =>
  (flag as [string, string][] | undefined) ?? [];

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

/** One sentence for each mistake that the registry does not find. */
export const spawnProblems = (call: Call, place?: CallPlace): readonly string[] => {
  const { flags, args } = call;
  const problems = [...kindProblems(call, place), ...behindProblems(call, place), ...ruleProblems(flags)];
  const name = flags.name as string | undefined;
  const read = name === undefined ? undefined : readName(name);
  if (read?.ok === false) problems.push(`--name ${read.problem}`);
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
  if (isPlaced(flags) && (flags.watch || flags.wait))
    problems.push("--where and --on-partition go with neither --watch nor --wait: its node has its records");
  problems.push(...whereProblems(flags));
  if (flags["add-dir"] !== undefined && pairs(flags.ext).some(([key]) => key === ADD_DIRS))
    problems.push(`the directories are given twice: by --add-dir and by the extension key ${ADD_DIRS}`);
  if (args[1] !== undefined && flags["prompt-file"] !== undefined)
    problems.push("the prompt is given twice: as PROMPT and with --prompt-file");
  if (flags.profile !== undefined && flags.tools !== undefined)
    problems.push("the profile is given twice: by --profile and by --tools");
  if (args[1] !== "" && args[1]?.trim() === "") problems.push("PROMPT is empty");
  return [...problems, ...adapterProblems(call)];
};

/** The mistakes that the kind's adapter would find, except those reported above in terms of the command line. */
const adapterProblems = (call: Call): readonly string[] => {
  const kind = kindOf(call.args[0] ?? PROGRAM_KIND);
  if (kind === undefined || isIncomplete(call)) return [];
  const taken = Object.entries(call.flags).filter(([flag]) => !kind.refuses.includes(flag));
  const spec = specOf({ ...call, flags: Object.fromEntries(taken) }, { env: {}, cwd: "/", stateDir: "/" });
  const isProgram = noProgramOf(kind.kind, kind.ext) !== undefined && (spec.argv ?? []).length === 0;
  const said: WorkerSpecInput = {
    ...spec,
    prompt: (spec.prompt ?? "").trim() === "" ? "said" : spec.prompt,
    ...(isProgram && { argv: ["said"] }),
    ...(spec.budget === undefined && { budget: {} }),
    ...(spec.permission_rules === undefined && { permission_rules: [] }),
  };
  return mistakesOf(said as WorkerSpec);
};

/** The source of the prompt: `-`, a file, or undefined if it is an argument or missing. */
export const promptSource = ({ args, flags }: Call): string | undefined =>
  args[1] === "-" ? "-" : (flags["prompt-file"] as string | undefined);

/** An agent that runs `agent spawn` thereby reaches its own daemon, whatever its HOME is. */
export const ALWAYS_INHERITED = "HOLDFAST_HOME";

/** The variables that a client sends: those that any agent may need, and the named ones. */
export const sentEnvironment = (
  named: readonly string[],
  { env, stateDir }: Pick<Context, "env" | "stateDir">,
): Record<string, string> => {
  const sent = clientEnvironment({ ...env, [ALWAYS_INHERITED]: stateDir }, [...KIND_VARIABLES, ...named]);
  const garbled = notUtf8(badVariables(sent, thisProcess));
  if (garbled !== undefined) throw garbled;
  return sent;
};

/** `--add-dir` is an alias of a key. It is made absolute, because an agent in a worktree runs in another directory. */
const extOf = ({ flags }: Call, where: string): Record<string, ExtensionValue> => {
  const dirs = (flags["add-dir"] as string[] | undefined)?.map((dir) =>
    dir.trim() === "" ? dir : resolve(where, dir.trim()),
  );
  return {
    ...(dirs === undefined ? {} : { [ADD_DIRS]: { dirs } }),
    ...Object.fromEntries((flags.ext as [string, ExtensionValue][] | undefined) ?? []),
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

/** A node has one value of a label, so no node fits two. */
const whereProblems = (flags: Call["flags"]): readonly string[] => {
  const asked = pairs(flags.where);
  const twice = asked.filter(([label, value]) =>
    asked.some(([other, its]) => other === label && its !== value),
  );
  return [...new Set(twice.map(([label]) => label))].map(
    (label) => `--where ${label} is given twice, and a node has one value of it: leave one of them out`,
  );
};

/** A node of the cluster runs it, and not this machine. */
export const isPlaced = (flags: Call["flags"]): boolean =>
  flags.where !== undefined || flags["on-partition"] !== undefined;

const placementOf = (flags: Call["flags"]): Pick<WorkerSpecInput, "placement"> => {
  if (!isPlaced(flags)) return {};
  const on_partition = flags["on-partition"] as "stop" | "continue" | undefined;
  return { placement: { needs: Object.fromEntries(pairs(flags.where)), on_partition } };
};

/** The fields with one flag that holds the whole value; `specOf` assembles the others. */
const plainOf = (flags: Call["flags"]): Partial<WorkerSpecInput> =>
  Object.fromEntries(
    plainFields("flag").map(([field, name, { type }]) => [
      field,
      type === "bool" ? flags[name] === true : flags[name],
    ]),
  );

/** The spec of a call without mistakes. The daemon adds the defaults of missing fields. */
export const specOf = (
  call: Call,
  { env, cwd, stateDir }: Pick<Context, "env" | "cwd" | "stateDir">,
  added?: AddedKind,
  mcp?: WorkerSpecInput["mcp"],
): WorkerSpecInput => {
  const { flags, args, argv = [] } = call;
  const plain = plainOf(flags);
  const where = resolve(cwd, plain.cwd ?? ".");
  const restarts = flags["max-restarts"] as Restarts | undefined;
  const backoff = flags.backoff as Backoff | undefined;
  const asked = {
    ...plain,
    profile: plain.profile ?? (flags.tools as WorkerSpecInput["profile"]),
    kind: args[0] ?? PROGRAM_KIND,
    name: flags.name as string | undefined,
    labels: Object.fromEntries(pairs(flags.label)),
    prompt: args[1] === "-" ? undefined : args[1],
    argv: [...argv],
    cwd: where,
    ...worktreeOf(flags),
    ...sandboxOf(flags, cwd),
    ...placementOf(flags),
    env: Object.fromEntries(pairs(flags.env)),
    mcp,
    permission_rules: rulesOf(flags),
    ext: extOf(call, where),
    max_restarts: restarts?.max,
    restart_period_ms: restarts?.period_ms,
    backoff_min_ms: backoff?.min_ms,
    backoff_max_ms: backoff?.max_ms,
    limits: limitsOf(flags),
  };
  return completedSpec(asked, { env, stateDir }, added);
};

/** A spec with what the client adds: the whole name of its kind and that kind's defaults, its variables, and the asking worker. */
export const completedSpec = (
  asked: Omit<WorkerSpecInput, "restart"> & Partial<Pick<WorkerSpecInput, "restart">>,
  { env, stateDir }: Pick<Context, "env" | "stateDir">,
  added?: AddedKind,
): WorkerSpecInput => {
  const known = kindOf(asked.kind);
  const kind = known?.kind ?? added?.kind ?? asked.kind;
  const defaults = kindDefaults(kind, asked.interactive);
  const inherit_env = [...(asked.inherit_env ?? []), ALWAYS_INHERITED];
  const named = [
    ...inherit_env,
    ...referencedVariables(asked.env ?? {}),
    ...mcpVariables(asked.mcp),
    ...(added?.variables ?? []),
  ];
  return {
    ...asked,
    kind,
    client_env: sentEnvironment(named, { env, stateDir }),
    inherit_env,
    ext: { ...known?.ext, ...asked.ext },
    restart: asked.restart ?? added?.restart ?? defaults.restart,
    timeout_ms: asked.timeout_ms ?? defaults.timeout_ms,
    stall_ms: asked.stall_ms ?? defaults.stall_ms,
    parent: parentOf(env),
    trace: traceIn(env),
  };
};
