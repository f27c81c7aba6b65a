/**
 * Validates a job's progress.ndjson: records {ts, message, percent, meta} that are not envelopes (notes 2.3 and 2.4). The
 * originals' own golden stream is such a file, so the level `wire` accepts it.
 */

import type { JsonObject } from "../../base/json.ts";
import { isWireTime } from "../forms.ts";
import type { Findings } from "./finding.ts";
import { STREAM_RULES } from "./stream-rules.ts";

export const isJobProgress = (value: JsonObject): boolean =>
  !("version" in value) && !("status" in value) && "percent" in value;

/** Returns the lowest percent that the next line may have. */
export const judgeJobProgress = (
  { ts, percent }: JsonObject,
  line: number,
  last: number | undefined,
  findings: Findings,
): number | undefined => {
  if (typeof ts !== "string" || !isWireTime(ts))
    findings.add(STREAM_RULES.jobTs, "/ts", line, "ts is not an RFC3339 time in UTC.");
  if (typeof percent !== "number" || percent < 0 || percent > 100) {
    findings.add(STREAM_RULES.jobPercent, "/percent", line, "percent is not a number from 0 to 100.");
    return last;
  }
  if (last !== undefined && percent < last)
    findings.add(STREAM_RULES.jobPercent, "/percent", line, `percent is ${percent} after ${last}.`);
  return percent;
};
