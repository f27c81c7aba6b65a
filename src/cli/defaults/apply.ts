/** Puts the defaults of the environment, the repository and the user into a call that starts a worker, as if they had been typed. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { PROGRAM_KIND } from "../../commands/kinds.ts";
import { configurationPath } from "../../daemon/paths.ts";
import type { DefaultValue, ResolvedDefault } from "../../protocol/defaults.ts";
import type { Env } from "../context.ts";
import type { Call } from "../parse.ts";
import { findRepositoryFile } from "./find.ts";
import {
  type DefaultsFor,
  type DefaultsRead,
  environmentDefaults,
  meaningless,
  resolveDefaults,
} from "./resolve.ts";
import type { DefaultsFile } from "./written.ts";

export interface DefaultsPlace {
  readonly env: Env;
  readonly stateDir: string;
  /** The directory in which the worker runs. */
  readonly where: string;
}

/** The files that there are, in the order of their precedence. */
const defaultsFiles = ({ stateDir, where }: Omit<DefaultsPlace, "env">): readonly DefaultsFile[] => {
  const repository = findRepositoryFile(where);
  const user = configurationPath(stateDir);
  return [
    ...(repository === undefined ? [] : [{ path: repository, source: "repository" as const }]),
    ...(existsSync(user) ? [{ path: user, source: "user" as const }] : []),
  ];
};

/** Everything that is written, the environment first. */
export const writtenDefaults = async (place: DefaultsPlace): Promise<DefaultsRead> => {
  const files = defaultsFiles(place);
  const variables = environmentDefaults(place.env);
  if (files.length === 0) return variables;
  // Loaded on demand, because it loads yaml.
  const read = (await import("./written.ts")).readDefaults(files);
  return {
    written: [...variables.written, ...read.written],
    problems: [...variables.problems, ...read.problems],
  };
};

/** The commands that start a worker of a KIND, and the place of KIND among their words. */
const KIND_AT: Readonly<Record<string, number>> = {
  "agent/spawn": 0,
  "jobs/submit": 0,
  "schedule/add": 2,
  "agent/resume": 0,
  "agent/acp": 0,
};

/** A worker that is resumed goes on with its own spec, unless the call names a KIND. */
const startsWorker = ({ command: { command }, flags, unknown }: Call): boolean =>
  unknown === undefined &&
  KIND_AT[command] !== undefined &&
  (command !== "agent/resume" || flags.session !== undefined || flags.last === true);

const flagged = ({ given }: Call, { name }: ResolvedDefault): boolean => given.has(name);

/** The flag of a default; a worktree has no flag that turns it off. */
const asFlag = ({ name, value }: ResolvedDefault): readonly (readonly [string, unknown])[] =>
  value === null || (name === "worktree" && value === false) ? [] : [[name, value]];

const NEXT = "mend it, or start the worker with --no-defaults";

/** The same call with its defaults, and with their mistakes among its own. */
export const withDefaults = async (call: Call, { env, stateDir, cwd }: CallerPlace): Promise<Call> => {
  const { flags, args, command } = call;
  if (!startsWorker(call) || flags["no-defaults"] === true) return call;
  const where = resolve(cwd, (flags.cwd as string | undefined) ?? ".");
  const { written, problems } = await writtenDefaults({ env, stateDir, where });
  const asked: DefaultsFor = {
    kind: args[KIND_AT[command.command]!] ?? PROGRAM_KIND,
    isInteractive: flags.interactive === true,
  };
  const found = [...problems, ...meaningless(written, asked)].map((problem) => `${problem}; ${NEXT}`);
  const resolved = resolveDefaults(written, asked);
  const added = resolved.filter((one) => one.source !== "built_in" && !flagged(call, one));
  return {
    ...call,
    flags: { ...Object.fromEntries(added.flatMap(asFlag)), ...flags },
    problems: [...call.problems, ...found],
    defaults: resolved.map((one) => (flagged(call, one) ? ofFlag(one, flags[one.name]) : one)),
  };
};

export interface CallerPlace extends Omit<DefaultsPlace, "where"> {
  readonly cwd: string;
}

const ofFlag = ({ name }: ResolvedDefault, value: unknown): ResolvedDefault => ({
  name,
  value: (value as DefaultValue | undefined) ?? null,
  source: "flag",
  from: `--${name}`,
});
