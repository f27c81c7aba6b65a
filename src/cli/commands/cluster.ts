/** agent cluster …: this daemon as a node. The address of the database goes to the daemon, and is shown nowhere. */
import { resolve } from "node:path";
import { ENDPOINT_FORM, parseHost } from "../../base/host-address.ts";
import { NAME_MAX_BYTES } from "../../base/limits.ts";
import { isSecretReference } from "../../base/secrets/references.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import type { Call } from "../parse.ts";
import { readName } from "../values.ts";

const FILE = "@file:";
const VARIABLE = "@env:";

/** A password among the words of a command is seen by everybody on the machine. */
const hasPassword = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  return password !== "" || searchParams.has("password");
};

export const databaseProblems = ({ args: [url = ""] }: Call): readonly string[] => {
  if (isSecretReference(url)) return [];
  if (hasPassword(url)) return ["URL has a password: write where the address is, as @env:NAME or @file:PATH"];
  return /^postgres(ql)?:\/\//.test(url)
    ? []
    : ["URL is postgres://USER@HOST/DATABASE, @env:NAME or @file:PATH"];
};

const isWord = (text: string): boolean => readName(text).ok;

const labelProblem = ([key, value]: readonly [string, string]): readonly string[] =>
  isWord(key) && isWord(value)
    ? []
    : [
        `--label is KEY=VALUE, and both have at most ${NAME_MAX_BYTES} letters, digits, '.', '_' and '-' after a letter or digit, not "${key}=${value}": write it as in gpu=1`,
      ];

export const joinProblems = (call: Call): readonly string[] => {
  const { endpoint, label = [] } = call.flags as {
    readonly endpoint?: string;
    readonly label?: readonly (readonly [string, string])[];
  };
  const isRight = endpoint === undefined || parseHost(endpoint) !== undefined;
  return [
    ...databaseProblems(call),
    ...label.flatMap(labelProblem),
    ...(isRight ? [] : [`--endpoint is ${ENDPOINT_FORM}, not "${endpoint}"`]),
  ];
};

/** The daemon reads a file at each start; a variable it could not read then. */
const databaseOf = ({ call, env, cwd }: Context): string => {
  const given = call.args[0] as string;
  if (given.startsWith(FILE)) return FILE + resolve(cwd, given.slice(FILE.length));
  if (!given.startsWith(VARIABLE)) return given;
  const name = given.slice(VARIABLE.length);
  const value = env[name]?.trim() ?? "";
  if (value !== "") return value;
  throw new HoldfastError("INVALID_REQUEST", `The variable ${name} has no address of a Postgres.`, {
    suggestion: `Set it: read -rs ${name} && export ${name}`,
  });
};

export const init: CommandHandler = async (context) => {
  const { "keep-days": keep_days } = context.flags as { readonly "keep-days"?: number };
  const asked = { database: databaseOf(context), keep_days };
  return success(await (await context.connect()).request("cluster/init", asked));
};

export const join: CommandHandler = async (context) => {
  const { name, label, capacity, endpoint } = context.flags as {
    readonly name?: string;
    readonly label?: readonly (readonly [string, string])[];
    readonly capacity?: number;
    readonly endpoint?: string;
  };
  const labels = Object.fromEntries(label ?? []);
  const asked = { database: databaseOf(context), name, labels, capacity, endpoint };
  return success(await (await context.connect()).request("cluster/join", asked));
};

export const leave: CommandHandler = async (context) => {
  const { gone } = context.flags as { readonly gone?: string };
  return success(await (await context.connect()).request("cluster/leave", { gone }));
};

export const drain: CommandHandler = async (context) => {
  const { undo = false, "dry-run": dry_run = false } = context.flags as {
    readonly undo?: boolean;
    readonly "dry-run"?: boolean;
  };
  const asked = { node: context.call.args[0] as string, undo, dry_run };
  return success(await (await context.connect()).request("cluster/drain", asked));
};

export const status: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("cluster/status", {});
  if (reply.self === null)
    context.hint("This daemon is in no cluster. Join one with: agent cluster join URL");
  return success(reply);
};
