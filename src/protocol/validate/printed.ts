/**
 * In test mode (HOLDFAST_VALIDATE=1, which the tests set) every envelope that we print is judged by the document's rules before it goes
 * out. Unset, none of this is loaded.
 */
import { SENT_WHOLE } from "../artifactize.ts";
import { HoldfastError } from "../errors.ts";
import { INLINE_MAX_BYTES } from "../limits.ts";
import { judge, type Options } from "./envelope.ts";
import { type Findings, makeFindings } from "./finding.ts";
import { isObject, type JsonObject } from "./forms.ts";
import { type LineValidator, makeStreamValidator } from "./stream.ts";

/** Who asks for less than the document's limit still gets a summary. A result that cannot be kept as an artifact is sent whole, and says so (decision 0026). */
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

/** The lines of one command: `end` also asks for the terminal one. Throws INTERNAL. */
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

/** The lines of a connection, of many requests at once, each with the limit that it asked for; undefined, or what is wrong. */
export const makeAnswersCheck = (
  inlineMaxOf: (request_id: unknown) => number,
): ((lines: string) => HoldfastError | undefined) => {
  const lastSeq = new Map<unknown, number>();
  const options: Options = {
    level: "spec",
    inlineMaxOf: (envelope) =>
      limitFor(envelope, inlineMaxOf(isObject(envelope.meta) ? envelope.meta.request_id : undefined)),
  };
  return (lines) => {
    for (const line of lines.split("\n").slice(0, -1)) {
      const envelope: unknown = JSON.parse(line);
      const findings = makeFindings();
      judge(isObject(envelope) ? envelope : {}, () => 1, options, findings);
      const error = defect(findings, line) ?? outOfOrder(envelope as JsonObject, lastSeq, line);
      if (error !== undefined) return error;
    }
    return undefined;
  };
};

/** Progress of one request is numbered without a gap; its terminal line lets the number be forgotten. */
const outOfOrder = (
  { status, meta }: JsonObject,
  lastSeq: Map<unknown, number>,
  line: string,
): HoldfastError | undefined => {
  const { request_id, seq } = meta as { readonly request_id?: unknown; readonly seq: number };
  if (status !== "progress") {
    lastSeq.delete(request_id);
    return undefined;
  }
  const last = lastSeq.get(request_id);
  lastSeq.set(request_id, seq);
  return last === undefined || seq === last + 1
    ? undefined
    : new HoldfastError("INTERNAL", `Progress of ours goes from ${last} to ${seq}: ${line.slice(0, 2_000)}`);
};
