/** The use of the machine by workers: columns of a wide list, and words of `agent info`. */
import type { WorkerView } from "../../runtime/replies.ts";
import { bytes, count, duration } from "./units.ts";

/** The value of `--output` for text with all columns. */
export const WIDE = "wide";

export const isWide = ({ wide, output }: Readonly<Record<string, unknown>>): boolean =>
  wide === true || output === WIDE;

export const resourceCells = ({ resources: used }: WorkerView): readonly string[] =>
  used === undefined
    ? ["–", "–", "–"]
    : [duration(used.cpu_ms), bytes(used.memory_bytes), String(used.processes)];

export const resourceWords = ({ resources: used }: WorkerView): string | undefined =>
  used &&
  `${duration(used.cpu_ms)} of processor time, ${bytes(used.memory_bytes)} in ${count(used.processes, "process", "processes")}`;
