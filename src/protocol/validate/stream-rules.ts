/** The rules between the lines of a stream. */
import type { ContractRule, Level } from "./finding.ts";

const BOTH: readonly Level[] = ["wire", "spec"];

export const STREAM_RULES = {
  first: {
    id: "stream.first",
    levels: ["spec"],
    only: "stream",
    source:
      "protocol-v1.txt, Status rules: meta.seq starts at 0; the originals' watch starts at 1 (notes 2.4)",
    remedy: "Number the first progress line 0.",
  },
  seq: {
    id: "stream.seq",
    levels: BOTH,
    only: "stream",
    source: "protocol-v1.txt, Status rules: meta.seq is monotonically increasing",
    remedy: "Number each progress line higher than the one before it.",
  },
  pct: {
    id: "stream.pct",
    levels: BOTH,
    only: "stream",
    source: "protocol-v1 notes 2.1: data.pct never decreases",
    remedy: "Write the highest data.pct so far.",
  },
  final: {
    id: "stream.final",
    levels: BOTH,
    only: "stream",
    source: "protocol-v1.txt, meta: final marks the last progress event",
    remedy: "Mark only the last progress line with meta.final.",
  },
  terminal: {
    id: "stream.terminal",
    levels: BOTH,
    only: "stream",
    source: "protocol-v1.txt, Streaming: zero or more progress events, then exactly one terminal envelope",
    remedy: "End the stream with one envelope of status ok or error.",
  },
  after: {
    id: "stream.after",
    levels: BOTH,
    only: "stream",
    source: "protocol-v1.txt, Streaming: exactly one terminal envelope; notes 2.1: nothing after it",
    remedy: "Send nothing after the ok or error line.",
  },
  jobTs: {
    id: "job.ts",
    levels: ["wire"],
    only: "stream",
    source: "protocol-v1 notes 2.3: each line of a job's progress has a top-level RFC3339 ts",
    remedy: "Write ts like 2026-05-12T00:00:00Z.",
  },
  jobPercent: {
    id: "job.percent",
    levels: ["wire"],
    only: "stream",
    source: "protocol-v1 notes 2.1 and 2.3: percent is 0 to 100 and never decreases",
    remedy: "Write the highest percent so far.",
  },
} as const satisfies Record<string, ContractRule>;
