/** Validates one Protocol v1 envelope: bytes in, findings out. Pure. */

import type { JsonObject } from "../../base/json.ts";
import { INLINE_MAX_BYTES } from "../../base/limits.ts";
import { isObject } from "../forms.ts";
import { type ReportProblem, viewOf } from "./envelope-rule.ts";
import { ERROR_MEMBERS, META_MEMBERS, TOP_MEMBERS } from "./fields.ts";
import { type ContractRule, type Findings, type Level, makeFindings, pointerOf } from "./finding.ts";
import { type JsonRead, readJson } from "./json.ts";
import { JSON_RULES } from "./json-rules.ts";
import { SHARED_RULES } from "./shared-rules.ts";
import { SPEC_RULES } from "./spec-rules.ts";
import { WIRE_RULES } from "./wire-rules.ts";

export interface ValidationOptions {
  readonly level: Level;
  readonly strict?: boolean;
  /** The bytes that the reader of an envelope accepts inline; by default the document's 32 KB. */
  readonly inlineMaxOf?: (envelope: JsonObject) => number;
  /** Ids of rules that the caller keeps by itself. */
  readonly except?: readonly string[];
}

const OBJECT_RULE: ContractRule = {
  id: "object",
  levels: ["wire", "spec"],
  source: "protocol-v1.txt, Envelope shape",
  remedy: "Send a JSON object.",
};

const UNKNOWN_RULE: ContractRule = {
  id: "unknown",
  levels: ["wire", "spec"],
  only: "strict",
  source: "protocol-v1 notes 2.1, strict mode: no unknown members of the envelope, meta and error",
  remedy: "Leave the member out, or put it in data or error.details.",
};

/** The rules in the order in which the originals check them (notes 2.1). */
const ENVELOPE_RULES = [...WIRE_RULES.slice(0, 1), ...SHARED_RULES, ...WIRE_RULES.slice(1), ...SPEC_RULES];

/** Every rule over one envelope. */
export const ENVELOPE_RULE_TABLE: readonly ContractRule[] = [
  ...Object.values(JSON_RULES),
  OBJECT_RULE,
  ...ENVELOPE_RULES,
  UNKNOWN_RULE,
];

/** Reads one value as an object and adds its faults to `findings`; undefined if it is not an object. */
export const readObject = (
  bytes: Uint8Array,
  line: number,
  options: ValidationOptions & { readonly whole?: boolean },
  findings: Findings,
): { readonly value: JsonObject; readonly lineOf: JsonRead["lineOf"] } | undefined => {
  const { value, faults, lineOf } = readJson(bytes, line);
  for (const fault of faults) {
    const rule = JSON_RULES[fault.kind];
    const isAsked = rule.only === undefined || options.strict === true || options.whole === true;
    if (isAsked && rule.levels.includes(options.level))
      findings.add(rule, fault.pointer, fault.line, fault.message);
  }
  if (isObject(value)) return { value, lineOf };
  if (value !== undefined) findings.add(OBJECT_RULE, "", lineOf(""), "It is JSON, but not an object.");
  return undefined;
};

/** `lineOf` gives the line of the input on which a member stands. */
export const judge = (
  envelope: JsonObject,
  lineOf: JsonRead["lineOf"],
  { level, strict = false, inlineMaxOf = () => INLINE_MAX_BYTES, except = [] }: ValidationOptions,
  findings: Findings,
): void => {
  const view = viewOf(envelope, inlineMaxOf(envelope));
  for (const rule of ENVELOPE_RULES) {
    if (!rule.levels.includes(level) || except.includes(rule.id)) continue;
    const tell: ReportProblem = (pointer, message) => findings.add(rule, pointer, lineOf(pointer), message);
    rule.check(view, tell);
  }
  if (!strict) return;
  const known = [
    [[], envelope, TOP_MEMBERS],
    [["meta"], view.meta, META_MEMBERS[level]],
    [["error"], view.error, ERROR_MEMBERS],
  ] as const;
  for (const [path, object, members] of known)
    for (const name of Object.keys(object)) {
      if ((members as readonly string[]).includes(name)) continue;
      const pointer = pointerOf(...path, name);
      findings.add(
        UNKNOWN_RULE,
        pointer,
        lineOf(pointer),
        `There is no member ${JSON.stringify(name.slice(0, 100))}.`,
      );
    }
};

export const validateEnvelope = (bytes: Uint8Array, options: ValidationOptions): Findings => {
  const findings = makeFindings();
  const read = readObject(bytes, 1, options, findings);
  if (read !== undefined) judge(read.value, read.lineOf, options, findings);
  return findings;
};
