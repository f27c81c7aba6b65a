/** The flags of spawn as a worker's spec, and what is wrong with them. Pure. */
import { resolve } from "node:path";
import { CLIENT_VARIABLES, KINDS } from "../../protocol/commands.ts";
import type { Backoff, BudgetReading, Restarts } from "../../protocol/durations.ts";
import { ARG_MAX_BYTES, LABELS_MAX, NAME_MAX_BYTES } from "../../protocol/limits.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import type { Env } from "../context.ts";
import type { Call } from "../parse.ts";
import { didYouMean } from "../../protocol/suggest.ts";

const kindNames = KINDS.flatMap(({ kind, short }) => (kind === short ? [kind] : [short, kind]));

const matches = (name: string, pattern: string): boolean =>
  pattern.startsWith("*")
    ? name.endsWith(pattern.slice(1))
    : pattern.endsWith("*")
      ? name.startsWith(pattern.slice(0, -1))
      : name === pattern;

/** The variables of ours that the daemon may need: never the whole environment. */
export const clientEnvironment = (env: Env, named: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (named.includes(entry[0]) || CLIENT_VARIABLES.some((pattern) => matches(entry[0], pattern))),
    ),
  );

/** `HOLDFAST_RUN=<store>/<worker>/<incarnation>`: the worker whose agent runs this command. */
const parentOf = (env: Env): string | undefined => env.HOLDFAST_RUN?.split("/")[1];

const kindOf = (typed: string | undefined): string | undefined =>
  typed === undefined ? "command" : KINDS.find((each) => each.kind === typed || each.short === typed)?.kind;

const kindProblems = ({ args: [typed], argv }: Call): readonly string[] => {
  const kind = kindOf(typed);
  if (kind === undefined) return [`there is no kind "${typed}"${didYouMean(typed!, kindNames)}`];
  if (kind !== "command" || (argv !== undefined && argv.length > 0)) return [];
  if (argv !== undefined) return ["spawn needs a program after --"];
  return [
    typed === undefined
      ? "spawn needs a KIND (claude, codex, …), or a program after --"
      : "kind command needs a program after --, as in: agent spawn -- sleep 60",
  ];
};

/** worker.ts, WORKER_NAME: told here too, so that it stands beside the other mistakes. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** One sentence a mistake, beyond what the registry checks. */
export const spawnProblems = (call: Call): readonly string[] => {
  const { flags, args, argv = [] } = call;
  const problems = [...kindProblems(call)];
  const name = flags.name as string | undefined;
  if (name !== undefined && (!NAME.test(name) || name.length > NAME_MAX_BYTES))
    problems.push(
      `--name has letters, digits, '.', '_' and '-', begins with a letter or digit and is at most ${NAME_MAX_BYTES} long, not "${name}"`,
    );
  if (((flags.label as unknown[] | undefined) ?? []).length > LABELS_MAX)
    problems.push(`--label is given more than ${LABELS_MAX} times`);
  if (argv.some((word) => Buffer.byteLength(word) > ARG_MAX_BYTES))
    problems.push(`an argument is over ${ARG_MAX_BYTES} bytes; pass long text with --prompt-file`);
  if (flags.detach && (flags.watch || flags.wait))
    problems.push("--detach goes with neither --watch nor --wait");
  if (args[1] !== undefined && flags["prompt-file"] !== undefined)
    problems.push("the prompt is given twice: as PROMPT and with --prompt-file");
  if (args[1]?.trim() === "") problems.push("the prompt is empty");
  return problems;
};

/** Where the prompt is read from: `-`, a file, or undefined when argv has it or there is none. */
export const promptSource = ({ args, flags }: Call): string | undefined =>
  args[1] === "-" ? "-" : (flags["prompt-file"] as string | undefined);

/** The spec of a call without problems. What was not asked for is left to the daemon's defaults. */
export const specOf = ({ flags, args, argv = [] }: Call, env: Env, cwd: string): WorkerSpecInput => {
  const kind = kindOf(args[0])!;
  const own = Object.fromEntries((flags.env as [string, string][] | undefined) ?? []);
  const inherit = (flags["inherit-env"] as string[] | undefined) ?? [];
  const references = Object.values(own).flatMap((value) =>
    value.startsWith("@env:") ? [value.slice("@env:".length)] : [],
  );
  const restarts = flags["max-restarts"] as Restarts | undefined;
  const backoff = flags.backoff as Backoff | undefined;
  return {
    kind,
    name: flags.name as string | undefined,
    labels: Object.fromEntries((flags.label as [string, string][] | undefined) ?? []),
    prompt: args[1] === "-" ? undefined : args[1],
    argv: [...argv],
    cwd: resolve(cwd, (flags.cwd as string | undefined) ?? "."),
    env: own,
    client_env: clientEnvironment(env, [...inherit, ...references]),
    inherit_env: inherit,
    model: flags.model as string | undefined,
    session: flags.session as string | undefined,
    fork: flags.fork === true,
    interactive: flags.interactive === true,
    permission: flags.permission as WorkerSpecInput["permission"],
    ext: Object.fromEntries((flags.ext as [string, never][] | undefined) ?? []),
    restart:
      (flags.restart as WorkerSpecInput["restart"] | undefined) ??
      (kind === "command" ? "temporary" : "transient"),
    max_restarts: restarts?.max,
    restart_period_ms: restarts?.period_ms,
    backoff_min_ms: backoff?.min_ms,
    backoff_max_ms: backoff?.max_ms,
    grace_ms: flags.grace as number | undefined,
    timeout_ms: flags.timeout as number | undefined,
    stall_ms: flags.stall as number | undefined,
    heartbeat_ms: flags.heartbeat as number | undefined,
    budget: flags.budget as BudgetReading | undefined,
    supervisor: flags.supervisor as string | undefined,
    parent: parentOf(env),
  };
};
