/** Denied tool calls as text: a worker that completed without them may not have done what was asked. Pure. */

import { commandLine } from "../../base/shell.ts";
import { type DeniedCalls, deniedCount } from "../../protocol/denied.ts";
import { oneLine } from "./terminal.ts";
import { count } from "./units.ts";

/** `2 calls were denied: Bash, Write`. */
const deniedWords = (denied: readonly DeniedCalls[]): string => {
  const calls = deniedCount(denied);
  const tools = denied.flatMap(({ tool }) => (tool === null ? [] : [oneLine(tool)]));
  return `${count(calls, "call")} ${calls === 1 ? "was" : "were"} denied${tools.length === 0 ? "" : `: ${tools.join(", ")}`}`;
};

/** The flags that would have allowed these calls. */
const allowingFlags = (denied: readonly DeniedCalls[]): string => {
  const [first] = denied.flatMap(({ tool }) => (tool === null ? [] : [tool]));
  const rule = first === undefined ? "" : `${commandLine(["--allow-tool", first])}, `;
  return `${rule}--permission ask, or --permission allow with --sandbox workspace`;
};

export const deniedAdvice = (denied: readonly DeniedCalls[]): string =>
  `${deniedWords(denied)}. To allow such calls: ${allowingFlags(denied)}`;
