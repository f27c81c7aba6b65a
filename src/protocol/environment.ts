/** Variables: by which processes of ours are known from outside, and which of a client's may reach its daemon. */
import { CLIENT_VARIABLES } from "./commands.ts";

/** /proc shows it as it was at exec. A daemon that a client started in the background. It serves many, so it is no part of the run whose agent asked for it. */
export const DAEMON_VARIABLE = "HOLDFAST_DAEMON";

/** A name, or a pattern that begins or ends in `*`. */
export const isVariable = (pattern: string, name: string): boolean =>
  pattern.startsWith("*")
    ? name.endsWith(pattern.slice(1))
    : pattern.endsWith("*")
      ? name.startsWith(pattern.slice(0, -1))
      : name === pattern;

/** The variables of a client that its daemon may need, and those that it names: never the whole environment. */
export const clientEnvironment = (
  env: Readonly<Record<string, string | undefined>>,
  named: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (named.includes(entry[0]) || CLIENT_VARIABLES.some((pattern) => isVariable(pattern, entry[0]))),
    ),
  );
