/** Validates a stream of envelopes line by line in bounded memory: any number of progress lines, then exactly one terminal line. */

import type { JsonObject } from "../../base/json.ts";
import { isCount, isObject } from "../forms.ts";
import { judge, readObject, type ValidationOptions } from "./envelope.ts";
import { type Findings, makeFindings } from "./finding.ts";
import { isJobProgress, judgeJobProgress } from "./job-progress.ts";
import { JSON_RULES } from "./json-rules.ts";
import { STREAM_RULES } from "./stream-rules.ts";

export interface LineValidator {
  /** One line without its line end; undefined if it was too long to be held. */
  line(bytes: Uint8Array | undefined): void;
  /** The findings so far. */
  found(): Findings;
  /** Ends the stream. */
  end(): Findings;
}

/** Facts of the lines so far, against which the next lines are checked. */
interface StreamFacts {
  lines: number;
  progress: number;
  lastSeq: number | undefined;
  lastPct: number | undefined;
  isFinal: boolean;
  terminals: number;
  /** Lines of a job's progress file, which has no envelopes and no terminal line. Such a file has only lines of this form. */
  jobLines: number;
  jobPercent: number | undefined;
}

export const makeStreamValidator = (options: ValidationOptions): LineValidator => {
  const findings = makeFindings();
  const seen: StreamFacts = {
    lines: 0,
    progress: 0,
    lastSeq: undefined,
    lastPct: undefined,
    isFinal: false,
    terminals: 0,
    jobLines: 0,
    jobPercent: undefined,
  };
  return {
    found: () => findings,
    line(bytes) {
      seen.lines += 1;
      if (bytes === undefined) {
        findings.add(JSON_RULES.size, "", seen.lines, "The line is too long to be held.");
        return;
      }
      const read = readObject(bytes, seen.lines, { ...options, whole: true }, findings);
      if (read === undefined) return;
      if (options.level === "wire" && seen.jobLines === seen.lines - 1 && isJobProgress(read.value)) {
        seen.jobLines += 1;
        seen.jobPercent = judgeJobProgress(read.value, seen.lines, seen.jobPercent, findings);
        return;
      }
      judge(read.value, read.lineOf, options, findings);
      follow(read.value, seen, findings, options);
    },
    end() {
      const isJobFile = seen.jobLines > 0 && seen.jobLines === seen.lines;
      if (seen.terminals === 0 && !isJobFile)
        findings.add(
          STREAM_RULES.terminal,
          "",
          Math.max(1, seen.lines),
          "The stream ends without an ok or error line.",
        );
      return findings;
    },
  };
};

/** Checks an envelope against those before it. */
const follow = (
  envelope: JsonObject,
  seen: StreamFacts,
  findings: Findings,
  { level }: ValidationOptions,
): void => {
  const line = seen.lines;
  const { status } = envelope;
  if (seen.terminals > 0) findings.add(STREAM_RULES.after, "", line, "The stream has ended already.");
  if (status === "ok" || status === "error") seen.terminals += 1;
  if (status !== "progress") return;
  const meta = isObject(envelope.meta) ? envelope.meta : {};
  const data = isObject(envelope.data) ? envelope.data : {};
  if (isCount(meta.seq)) {
    if (seen.progress === 0 && meta.seq !== 0 && level === "spec")
      findings.add(STREAM_RULES.first, "/meta/seq", line, `The first meta.seq is ${meta.seq}, not 0.`);
    if (seen.lastSeq !== undefined && meta.seq <= seen.lastSeq)
      findings.add(STREAM_RULES.seq, "/meta/seq", line, `meta.seq is ${meta.seq} after ${seen.lastSeq}.`);
    seen.lastSeq = meta.seq;
  }
  if (typeof data.pct === "number") {
    if (seen.lastPct !== undefined && data.pct < seen.lastPct)
      findings.add(STREAM_RULES.pct, "/data/pct", line, `data.pct is ${data.pct} after ${seen.lastPct}.`);
    seen.lastPct = data.pct;
  }
  if (seen.isFinal)
    findings.add(STREAM_RULES.final, "", line, "An earlier progress line was marked as the last one.");
  if (meta.final === true) seen.isFinal = true;
  seen.progress += 1;
};
