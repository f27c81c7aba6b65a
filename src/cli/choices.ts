/** How a command prints, by its flags, the environment and its terminal (docs/reference/commands.md, Everywhere). */
import { outputLimits } from "../protocol/artifactize.ts";
import { G1, GENERATIONS, type Generation } from "../protocol/generations.ts";
import type { Env } from "./context.ts";
import type { Mode } from "./render/renderer.ts";
import { colourPaint, type Paint, plainPaint } from "./render/terminal.ts";
import { WIDE } from "./render/wide.ts";

type Flags = Readonly<Record<string, unknown>>;

const MODES: readonly string[] = ["text", "json", "ndjson"] satisfies Mode[];
/**
 * Commands whose output goes to a file or another program as it is: lines, bytes, an answer, a diff. They print text by
 * default, also without a terminal.
 */
const TEXT_UNLESS_ASKED = ["db/export", "cas/get", "agent/output", "agent/changes", "jobs/result"];
const isPlain = (command: string, flags: Flags): boolean =>
  TEXT_UNLESS_ASKED.includes(command) || (command === "agent/logs" && flags.raw === true);
/** Its output is eval'ed, or is a protocol of its own, also for users who set HOLDFAST_OUTPUT permanently. */
const TEXT_UNLESS_FLAGGED = ["agent/completion", "agent/acp", "agent/relay", "mcp/serve", "weblisk/serve"];

/** The mode of the flag, else of HOLDFAST_OUTPUT; undefined if neither is given. */
export const askedMode = (flags: Flags, env: Env): Mode | undefined => {
  const asked = flags.output ?? env.HOLDFAST_OUTPUT;
  if (asked === WIDE) return "text";
  return typeof asked === "string" && MODES.includes(asked) ? (asked as Mode) : undefined;
};

/** The flag decides, then HOLDFAST_OUTPUT, then whether stdout is a terminal. */
export const modeOf = (command: string, flags: Flags, env: Env, isTerminal: boolean): Mode => {
  if (TEXT_UNLESS_FLAGGED.includes(command) && flags.output === undefined) return "text";
  const asked = askedMode(flags, env);
  if (asked !== undefined) return asked;
  if (isPlain(command, flags)) return "text";
  return isTerminal && !env.CI ? "text" : "json";
};

/** The flag decides, then HOLDFAST_ENVELOPE. */
export const generationOf = (flags: Flags, env: Env): Generation =>
  GENERATIONS[String(flags.envelope ?? env.HOLDFAST_ENVELOPE)] ?? G1;

export const environmentProblems = (env: Env): readonly string[] => {
  const { HOLDFAST_OUTPUT: mode, HOLDFAST_ENVELOPE: generation } = env;
  return [
    ...outputLimits(env).problems,
    ...(mode && !MODES.includes(mode)
      ? [`HOLDFAST_OUTPUT is one of ${MODES.join(", ")}, not "${mode}"`]
      : []),
    ...(generation && !Object.hasOwn(GENERATIONS, generation)
      ? [`HOLDFAST_ENVELOPE is one of ${Object.keys(GENERATIONS).join(", ")}, not "${generation}"`]
      : []),
  ];
};

export const paintFor = (flags: Flags, env: Env, isTerminal: boolean): Paint =>
  isTerminal && !flags["no-color"] && !env.NO_COLOR && env.TERM !== "dumb" ? colourPaint : plainPaint;
