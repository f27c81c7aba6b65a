/** Rules about the text of an envelope: the findings of `readJson`, as rows of the table. */
import type { ContractRule, Level } from "./finding.ts";
import type { Fault } from "./json.ts";

const BOTH: readonly Level[] = ["wire", "spec"];

export const JSON_RULES: Readonly<Record<Fault["kind"], ContractRule>> = {
  size: {
    id: "json.size",
    levels: BOTH,
    source: "protocol-v1.txt, Security invariants, Output limits: what is captured is bounded; here 4 MiB",
    remedy: "Move the output to the artifact store.",
  },
  empty: {
    id: "json.empty",
    levels: BOTH,
    source: "protocol-v1.txt, Streaming: each line is a complete JSON envelope",
    remedy: "Send an envelope; leave no line empty.",
  },
  utf8: {
    id: "json.utf8",
    levels: BOTH,
    source: "protocol-v1.txt, Error catalog, EPARSE: JSON parse error or invalid UTF-8",
    remedy: "Write the JSON in UTF-8.",
  },
  syntax: {
    id: "json.syntax",
    levels: BOTH,
    source: "protocol-v1.txt, Error catalog, EPARSE: JSON parse error or invalid UTF-8",
    remedy: "Write valid JSON, without a byte order mark and with control characters escaped.",
  },
  depth: {
    id: "json.depth",
    levels: BOTH,
    source: "ours: 128 levels, so that no reader's stack is exhausted",
    remedy: "Nest less deep.",
  },
  number: {
    id: "json.number",
    levels: BOTH,
    source: "protocol-v1 notes 1.1: the originals decode into doubles and canonicalise by RFC 8785",
    remedy: "Write a number that a double holds; a larger one only as text, where text may stand.",
  },
  duplicate: {
    id: "json.duplicate",
    levels: ["spec"],
    source:
      "protocol-v1 notes 1.1: canonical JSON (RFC 8785) has each member once; the originals' decoder takes the last one",
    remedy: "Write each member once.",
  },
  trailing: {
    id: "json.trailing",
    levels: BOTH,
    only: "strict",
    source: "protocol-v1 notes 2.1, strict mode: no trailing bytes after the first JSON value",
    remedy: "Send nothing after the envelope, or check a stream with --stream.",
  },
};
