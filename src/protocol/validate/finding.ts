/** A finding of a validator: the rule, the place, the mistake, and the remedy. */
import { FINDINGS_MAX } from "../../base/limits.ts";
import { redactText } from "../redact.ts";

/** `wire`: what the originals accept. `spec`: every rule of the document. */
export type Level = "wire" | "spec";

export interface Finding {
  /** The id of a row in the table of rules. */
  readonly rule: string;
  /** A JSON pointer into the value ("" for the whole value), and a line of the input, from 1. */
  readonly place: { readonly pointer: string; readonly line: number };
  readonly message: string;
  readonly remedy: string;
}

/** A sentence of a contract, as data. */
export interface ContractRule {
  readonly id: string;
  readonly levels: readonly Level[];
  /** Checked only with --strict, or only with --stream. */
  readonly only?: "strict" | "stream";
  /** The document, the section, and its statement. */
  readonly source: string;
  readonly remedy: string;
}

/** Keeps the first FINDINGS_MAX and counts the rest. */
export interface Findings {
  /** `remedy` replaces the remedy of the rule. */
  add(rule: ContractRule, pointer: string, line: number, message: string, remedy?: string): void;
  readonly list: readonly Finding[];
  /** The number of all findings, including those that were not kept. */
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
