/** A finding of a validator: which rule, where, what is wrong, and what to do. */
import { FINDINGS_MAX } from "../../base/limits.ts";
import { redactText } from "../redact.ts";

/** `wire` is what the originals accept; `spec` is every rule of the document. */
export type Level = "wire" | "spec";

export interface Finding {
  /** Id of a row of the table of rules. */
  readonly rule: string;
  /** A JSON pointer into the value, "" for all of it; and a line of the input, from 1. */
  readonly place: { readonly pointer: string; readonly line: number };
  readonly message: string;
  readonly remedy: string;
}

/** A sentence of a contract, as data. */
export interface Rule {
  readonly id: string;
  readonly levels: readonly Level[];
  /** Only with --strict, or only with --stream. */
  readonly only?: "strict" | "stream";
  /** Document, section: what it says. */
  readonly source: string;
  readonly remedy: string;
}

/** Keeps the first FINDINGS_MAX and counts the rest. */
export interface Findings {
  /** `remedy` where that of the rule does not fit the case. */
  add(rule: Rule, pointer: string, line: number, message: string, remedy?: string): void;
  readonly list: readonly Finding[];
  /** How many were found, also those that are not kept. */
  count(): number;
}

export const makeFindings = (): Findings => {
  const list: Finding[] = [];
  let count = 0;
  return {
    list,
    count: () => count,
    add(rule, pointer, line, message, remedy = rule.remedy) {
      count += 1;
      if (list.length < FINDINGS_MAX)
        list.push({
          rule: rule.id,
          place: { pointer: redactText(pointer), line },
          message: redactText(message),
          remedy,
        });
    },
  };
};

/** RFC 6901. */
export const pointerOf = (...path: readonly (string | number)[]): string =>
  path.map((step) => `/${String(step).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
