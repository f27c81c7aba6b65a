/**
 * The environment that a process was started with, as /proc/PID/environ shows it: NAME=value, each ended by
 * NUL.
 */
import type { ProcessIdentity } from "../../protocol/records.ts";
import { isAlive } from "./identity.ts";
import { readEnvironment } from "./marker.ts";

/** The values of these variables; empty if the process is gone or may not be read. Never throws. */
export const variablesOf = (
  agent: ProcessIdentity,
  names: readonly string[],
): Readonly<Record<string, string>> => {
  if (names.length === 0) return {};
  try {
    const block = readEnvironment(agent.pid);
    // Checked after the read, so that the block is certainly of this process.
    if (typeof block === "string" || !isAlive(agent)) return {};
    const pairs = block.toString("utf8").split("\0").map(pairOf);
    return Object.fromEntries(pairs.filter(([name]) => names.includes(name)));
  } catch {
    // No descriptors left: the same as unreadable.
    return {};
  }
};

const pairOf = (assignment: string): readonly [string, string] => {
  const at = assignment.indexOf("=");
  return [assignment.slice(0, Math.max(0, at)), assignment.slice(at + 1)];
};
