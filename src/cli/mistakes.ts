/** The validation phase: every mistake of a call, of its command, of the environment and of the machine, in one error, before anything is done. */
import { type ErrorDetails, HoldfastError } from "../protocol/errors.ts";
import { environmentProblems } from "./choices.ts";
import type { Env } from "./context.ts";
import { CHECKS, CONDITIONS, GATES } from "./handlers.ts";
import { type Call, invalid } from "./parse.ts";
import { badArguments, badDirectory, notUtf8, thisProcess } from "./utf8.ts";

const ARG_ERROR = 3;
/** Commands whose agents run in the caller's directory. */
const SENDS_DIRECTORY: ReadonlySet<string> = new Set([
  "agent/spawn",
  "agent/resume",
  "agent/fork",
  "jobs/submit",
  "agent/up",
]);

const sentencesOf = ({ message, info }: HoldfastError): readonly string[] => info.problems ?? [message];

/** Its own next step is better than the command's help. */
const gateInfo = ({ info }: HoldfastError): ErrorDetails => ({ ...info, suggestion: undefined });

export const mistakes = (
  call: Call,
  place: { readonly env: Env; readonly cwd: string },
): HoldfastError | undefined => {
  const name = call.command.command;
  const garbled = notUtf8([
    ...badArguments(process.argv, thisProcess),
    ...(SENDS_DIRECTORY.has(name) ? badDirectory(place.cwd, thisProcess) : []),
  ]);
  if (garbled !== undefined) return garbled;
  if (call.unknown) return call.unknown;
  const problems = [
    ...call.problems,
    ...(CHECKS[name]?.(call, place) ?? []),
    ...environmentProblems(place.env),
  ];
  const missing = CONDITIONS[name]?.(call, place) ?? [];
  const [first] = missing;
  const hasBadArgument = problems.length > 0 || missing.some(({ row }) => row.exit === ARG_ERROR);
  if (hasBadArgument) {
    const refused = invalid([...problems, ...missing.flatMap(sentencesOf)], call.command.words.join(" "));
    const gate = call.problems.length === 0 ? GATES[name]?.(call) : undefined;
    return gate === undefined ? refused : new HoldfastError(gate, refused.message, gateInfo(refused));
  }
  if (first === undefined || missing.length === 1) return first;
  const all = missing.flatMap(sentencesOf);
  return new HoldfastError(first.code, `${all.length} things are missing: ${all.join(" ")}`, {
    ...first.info,
    problems: all,
  });
};
