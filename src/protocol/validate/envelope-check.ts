/**
 * In test mode (HOLDFAST_VALIDATE=1, which the tests set), checks every envelope against the document's rules before it is
 * printed. Otherwise none of this is loaded.
 */

import type { JsonObject } from "../../base/json.ts";
import { ANSWERED_IDS_MAX, INLINE_MAX_BYTES } from "../../base/limits.ts";
import { SENT_WHOLE } from "../artifactize.ts";
import { HoldfastError } from "../errors.ts";
import { isObject } from "../forms.ts";
import { judge, type ValidationOptions } from "./envelope.ts";
import { type Findings, makeFindings } from "./finding.ts";
import { type LineValidator, makeStreamValidator } from "./stream.ts";

/**
 * The size limit for an envelope. A caller that asks for less than the document's limit still gets a summary. A result that
 * cannot be kept as an artifact is sent whole, and says so (decision 0026).
 */
const limitFor = (envelope: JsonObject, inline_max_bytes: number): number => {
  const { hint } = isObject(envelope.data) ? envelope.data : {};
  return typeof hint === "string" && hint.includes(SENT_WHOLE)
    ? Number.POSITIVE_INFINITY
    : Math.max(inline_max_bytes, INLINE_MAX_BYTES);
};

const defect = (findings: Findings, line: string): HoldfastError | undefined => {
  const [first] = findings.list;
  return first === undefined
    ? undefined
    : new HoldfastError(
        "INTERNAL",
        `An envelope of ours breaks the contract: ${first.rule} at ${first.place.pointer}: ${first.message} ${line.slice(0, 2_000)}`,
      );
};

/** Checks the lines of one command; `end` also requires the terminal line. Throws INTERNAL. */
export const makePrintedCheck = (inline_max_bytes: number): { take(lines: string): void; end(): void } => {
  const stream: LineValidator = makeStreamValidator({
    level: "spec",
    inlineMaxOf: (envelope) => limitFor(envelope, inline_max_bytes),
  });
  const check = (findings: Findings, line: string): void => {
    const error = defect(findings, line);
    if (error !== undefined) throw error;
  };
  return {
    take(lines) {
      for (const line of lines.split("\n").slice(0, -1)) {
        stream.line(Buffer.from(line));
        check(stream.found(), line);
      }
    },
    end: () => check(stream.end(), ""),
  };
};

/** Checks the lines of a connection with many concurrent requests, each with its own limit. */
export interface AnswersCheck {
  /** A request with this id has arrived. */
  asked(request_id: string): void;
  /** Undefined, or the mistake. */
  take(lines: string): HoldfastError | undefined;
}

export const makeAnswersCheck = (inlineMaxOf: (request_id: unknown) => number): AnswersCheck => {
  const order = makeOrder();
  const options: ValidationOptions = {
    level: "spec",
    inlineMaxOf: (envelope) =>
      limitFor(envelope, inlineMaxOf(isObject(envelope.meta) ? envelope.meta.request_id : undefined)),
  };
  return {
    asked: order.asked,
    take(lines) {
      for (const line of lines.split("\n").slice(0, -1)) {
        const envelope: unknown = JSON.parse(line);
        const findings = makeFindings();
        judge(isObject(envelope) ? envelope : {}, () => 1, options, findings);
        const error = defect(findings, line) ?? order.wrong(envelope as JsonObject, line);
        if (error !== undefined) return error;
      }
      return undefined;
    },
  };
};

/** The state of the answer to one id. */
interface RequestProgress {
  /** Requests with this id that have no terminal line yet: a repeated id gets an answer of its own. */
  open: number;
  last: number;
  /** One of several requests with this id has ended, and it is unknown which: the next progress may be the first of another. */
  mayBegin: boolean;
}

/** Checks the order of lines: progress from 0 without a gap, one terminal line, and nothing more until the id is used again. */
const makeOrder = () => {
  const answers = new Map<unknown, RequestProgress>();
  const ended = new Set<unknown>();
  const begun = (id: unknown): RequestProgress => {
    const answer = { open: 0, last: -1, mayBegin: false };
    answers.set(id, answer);
    return answer;
  };
  const end = (id: unknown, answer: RequestProgress): void => {
    answer.open -= 1;
    answer.mayBegin = true;
    if (answer.open > 0) return;
    answers.delete(id);
    ended.add(id);
    for (const oldest of ended) {
      if (ended.size <= ANSWERED_IDS_MAX) break;
      ended.delete(oldest);
    }
  };
  return {
    asked(id: unknown): void {
      ended.delete(id);
      (answers.get(id) ?? begun(id)).open += 1;
    },
    wrong({ status, meta }: JsonObject, line: string): HoldfastError | undefined {
      const { request_id: id, seq } = meta as { readonly request_id?: unknown; readonly seq: number };
      // An unreadable request has no id and may get any number of answers.
      if (id === undefined && status !== "progress") return undefined;
      const wrong = (what: string) => new HoldfastError("INTERNAL", `${what}: ${line.slice(0, 2_000)}`);
      if (ended.has(id)) return wrong("A line of ours follows the terminal one");
      const answer = answers.get(id) ?? begun(id);
      // The daemon gave an id to a request without one, so `asked` was not called for it.
      answer.open = Math.max(1, answer.open);
      if (status !== "progress") {
        end(id, answer);
        return undefined;
      }
      const { last } = answer;
      if (seq !== last + 1 && !(answer.mayBegin && seq === 0))
        return wrong(
          last < 0 ? `Progress of ours begins at ${seq}` : `Progress of ours goes from ${last} to ${seq}`,
        );
      answer.last = seq;
      answer.mayBegin = false;
      return undefined;
    },
  };
};
