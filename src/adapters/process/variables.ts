/** The environment with which a process was started, as /proc/PID/environ shows it: NAME=value, each ended by NUL. */
import type { ProcessIdentity } from "../../protocol/records.ts";
import { isAlive } from "./identity.ts";
import { readEnvironment } from "./marker.ts";

/** Those of these names that it has; none where it is gone, or is not for us to read. Never throws. */
export const variablesOf = (
  agent: ProcessIdentity,
  names: readonly string[],
): Readonly<Record<string, string>> => {
  if (names.length === 0) return {};
  try {
    const block = readEnvironment(agent.pid);
    // Looked at after it was read: then it was this process that was read.
    if (typeof block === "string" || !isAlive(agent)) return {};
    const pairs = block.toString("utf8").split("\0").map(pairOf);
    return Object.fromEntries(pairs.filter(([name]) => names.includes(name)));
  } catch {
    // Out of descriptors: as if it could not be read.
    return {};
  }
};

const pairOf = (assignment: string): readonly [string, string] => {
  const at = assignment.indexOf("=");
  return [assignment.slice(0, Math.max(0, at)), assignment.slice(at + 1)];
};
