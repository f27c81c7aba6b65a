/** agent config: the defaults of spawn, in the user's file and the repository's. No daemon is needed. */
import { didYouMean } from "../../base/suggest.ts";
import { KINDS, kindOf, unknownKind } from "../../commands/kinds.ts";
import { configurationPath } from "../../daemon/paths.ts";
import {
  type DefaultName,
  isLooser,
  keyOfDefault,
  readDefault,
  readDefaultKey,
} from "../../protocol/defaults.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { type CommandHandler, type Context, stateDirOf } from "../context.ts";
import { writtenDefaults } from "../defaults/apply.ts";
import { findRepositoryFile, repositoryFilePlace } from "../defaults/find.ts";
import { resolveDefaults } from "../defaults/resolve.ts";
import type { DefaultsFile } from "../defaults/written.ts";
import { type Call, type CallPlace, invalid } from "../parse.ts";
import type { ConfigListReply } from "../reports.ts";
import { mayBeAdded } from "./added-kinds.ts";

const KIND_NAMES = KINDS.flatMap(({ kind, short }) => [kind, short]);

/** Parts of config.yaml that are no defaults, which people edit by hand. */
const BY_HAND = /^(adapters|binaries|runtimes|skills|http|providers|mcp|roles)\b|^kinds\.[^.]+\.allow_/;

const keyProblem = ({ args, flags }: Call, { env, cwd }: CallPlace): string | undefined => {
  const [key] = args;
  if (key === undefined || key === "") return undefined;
  if (BY_HAND.test(key)) {
    const path = configurationPath(stateDirOf(flags, env, cwd));
    return `agent config keeps only defaults of agent spawn; edit ${key} in ${path}, then run: agent daemon upgrade --force`;
  }
  const read = readDefaultKey(key);
  if (!read.ok) return `KEY ${read.problem}`;
  const { kind } = read.value;
  if (kind === undefined || kindOf(kind) !== undefined) return undefined;
  // A name of a configuration's own kind is not near a built-in one's.
  const isMistyped = didYouMean(kind, KIND_NAMES) !== "";
  const isAdded = !isMistyped && mayBeAdded(kind, stateDirOf(flags, env, cwd));
  return isAdded ? undefined : `KEY: ${unknownKind(kind)}`;
};

/** The values that give an agent most: in a repository they could never count. */
const LOOSEST: Readonly<Partial<Record<DefaultName, string>>> = {
  permission: "allow",
  sandbox: "off",
  worktree: "off",
  timeout: "0",
};

const valueProblem = ({ args: [key = "", value], flags }: Call): string | undefined => {
  const asked = readDefaultKey(key);
  if (!asked.ok || !value) return undefined;
  const { name, kind } = asked.value;
  const read = readDefault(name, value);
  if (!read.ok) return `VALUE of ${key} ${read.problem}`;
  const known = kind === undefined ? undefined : kindOf(kind);
  if (known?.refuses.includes(name)) return `${key} means nothing to kind ${known.short}`;
  const loosest = LOOSEST[name];
  const most = loosest === undefined ? undefined : readDefault(name, loosest);
  if (flags.repository === true && most?.ok === true && !isLooser(name, most.value, read.value))
    return `a repository may only give an agent less, and nothing gives more than ${name} ${value}; write it into your own file, without --repository`;
  return undefined;
};

export const configProblems = (call: Call, place?: CallPlace): readonly string[] => {
  // Without a place only the words are tried.
  const problems = place === undefined ? [] : [keyProblem(call, place), valueProblem(call)];
  return problems.filter((problem) => problem !== undefined);
};

const askedKey = ({ call }: Context) => {
  const read = readDefaultKey(call.args[0]!);
  if (!read.ok) throw invalid([`KEY ${read.problem}`], "config");
  return read.value;
};

const placeOf = ({ env, stateDir, cwd }: Context) => ({ env, stateDir, where: cwd });

const written = async (context: Context) => {
  const { written: all, problems } = await writtenDefaults(placeOf(context));
  for (const problem of problems) context.warn(`${problem[0]!.toUpperCase()}${problem.slice(1)}.`);
  return all;
};

export const list: CommandHandler = async (context) => {
  const { stateDir, cwd } = context;
  const defaults = (await written(context)).map(({ name, kind, value, source, from }) => ({
    key: keyOfDefault(name, kind),
    value,
    source,
    from,
  }));
  if (defaults.length === 0)
    context.hint("No default is written. Write one with: agent config set defaults.permission ask");
  return success<ConfigListReply>({
    user: configurationPath(stateDir),
    repository: findRepositoryFile(cwd) ?? null,
    defaults,
  });
};

export const get: CommandHandler = async (context) => {
  const { name, kind } = askedKey(context);
  const resolved = resolveDefaults(await written(context), { kind, isInteractive: false });
  return success(resolved.find((one) => one.name === name)!);
};

/** The file to change. An agent may not change the defaults of its user. */
const fileOf = ({ flags, env, stateDir, cwd }: Context): DefaultsFile => {
  if (flags.repository === true) {
    const path = repositoryFilePlace(cwd);
    if (path !== undefined) return { path, source: "repository" };
    throw new HoldfastError("INVALID_REQUEST", `${cwd} is in no git repository.`, {
      suggestion: "Go to the repository, or leave out --repository.",
      phase: "validation",
    });
  }
  if (env.HOLDFAST_RUN === undefined) return { path: configurationPath(stateDir), source: "user" };
  throw new HoldfastError("PERMISSION_DENIED", "An agent may not change the defaults of its user.", {
    suggestion: "Ask the user to run the command.",
  });
};

export const set: CommandHandler = async (context) => {
  const { name, kind } = askedKey(context);
  const text = context.call.args[1]!;
  const read = readDefault(name, text);
  if (!read.ok) throw invalid([`VALUE ${read.problem}`], "config set");
  const { value } = read;
  const file = fileOf(context);
  // Loaded on demand, because it loads yaml.
  const { changeDefault } = await import("../defaults/written.ts");
  const effect = changeDefault(file, { name, kind, value, text: typeof value === "boolean" ? value : text });
  return success({ key: keyOfDefault(name, kind), path: file.path, value, effect });
};

export const unset: CommandHandler = async (context) => {
  const { name, kind } = askedKey(context);
  const file = fileOf(context);
  const { changeDefault } = await import("../defaults/written.ts");
  const effect = changeDefault(file, { name, kind });
  return success({ key: keyOfDefault(name, kind), path: file.path, effect });
};
