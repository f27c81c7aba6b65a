/** The processor time and the memory of processes, from /proc (proc_pid_stat(5)). */
import { readFileSync } from "node:fs";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { RunResources } from "../posix.ts";
import { knownHere, readProc } from "./identity.ts";
import type { KnownProcesses } from "./process-table.ts";

/** Units of /proc, from the auxiliary vector of this process (getauxval(3)). */
export interface Units {
  /** Clock ticks in a second. */
  readonly ticks_per_s: number;
  readonly page_bytes: number;
}

const AT_PAGESZ = 6;
const AT_CLKTCK = 17;
const WORD = 8;

/** The auxiliary vector: pairs of a type and a value, each a word of 64 bits. The defaults are those of every Linux on x86. */
export const unitsIn = (auxv: Buffer): Units => {
  const values = new Map<number, number>();
  for (let at = 0; at + 2 * WORD <= auxv.length; at += 2 * WORD)
    values.set(Number(auxv.readBigUInt64LE(at)), Number(auxv.readBigUInt64LE(at + WORD)));
  return { ticks_per_s: values.get(AT_CLKTCK) ?? 100, page_bytes: values.get(AT_PAGESZ) ?? 4_096 };
};

let units: Units | undefined;
const unitsHere = (): Units => {
  units ??= unitsIn(readFileSync("/proc/self/auxv"));
  return units;
};

/** Places of fields behind the command's name: state is 0. */
const [UTIME, STIME, CUTIME, CSTIME, START_TIME, RSS] = [11, 12, 13, 14, 19, 21];

/** The use of one process and of its children that it has waited for; undefined if the text is of another process. */
export const usedIn = (text: string, start_time: string, { ticks_per_s, page_bytes }: Units) => {
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  if (fields[START_TIME] !== start_time) return undefined;
  const ticks = [UTIME, STIME, CUTIME, CSTIME].reduce((sum, at) => sum + Number(fields[at]), 0);
  return { cpu_ms: (ticks * 1_000) / ticks_per_s, memory_bytes: Number(fields[RSS]) * page_bytes };
};

type Process = readonly [pid: number, start_time: string];

interface MeasuredRun {
  readonly agent: ProcessIdentity;
  /** Known descendants. */
  readonly recorded: KnownProcesses;
  readonly container: unknown;
}

/** The processes that are gone count for nothing. Undefined for a container, and if this process cannot read. */
export const resourcesOf = ({ agent, recorded, container }: MeasuredRun): RunResources | undefined => {
  if (container !== undefined) return undefined;
  try {
    return sumOf([...knownHere(agent), ...recorded]);
  } catch {
    // Without a free descriptor.
    return undefined;
  }
};

const sumOf = (processes: Iterable<Process>): RunResources => {
  const sum = { cpu_ms: 0, memory_bytes: 0, processes: 0 };
  for (const [pid, start_time] of processes) {
    const bytes = readProc(`/proc/${pid}/stat`);
    const used =
      typeof bytes === "string" ? undefined : usedIn(bytes.toString("latin1"), start_time, unitsHere());
    if (used === undefined) continue;
    sum.cpu_ms += used.cpu_ms;
    sum.memory_bytes += used.memory_bytes;
    sum.processes += 1;
  }
  return sum;
};
