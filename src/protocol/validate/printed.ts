/**
 * In test mode (HOLDFAST_VALIDATE=1, which the tests set) every envelope that we print is judged by the document's rules before it goes
 * out. Unset, none of this is loaded.
 */
import { HoldfastError } from "../errors.ts";
import { judge, type Options } from "./envelope.ts";
import { type Findings, makeFindings } from "./finding.ts";
import { isObject, type JsonObject } from "./forms.ts";
import { type LineValidator, makeStreamValidator } from "./stream.ts";

/** Long lists and single large events are sent inline (docs/conformance.md, Protocol v1, Deviations). */
const OPTIONS: Options = { level: "spec", without: ["data.inline"] };

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
export const makePrintedCheck = (): { take(lines: string): void; end(): void } => {
  const stream: LineValidator = makeStreamValidator(OPTIONS);
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

/** The lines of a connection, of many requests at once; undefined, or what is wrong. */
export const makeAnswersCheck = (): ((lines: string) => HoldfastError | undefined) => {
  const lastSeq = new Map<unknown, number>();
  return (lines) => {
    for (const line of lines.split("\n").slice(0, -1)) {
      const envelope: unknown = JSON.parse(line);
      const findings = makeFindings();
      judge(isObject(envelope) ? envelope : {}, () => 1, OPTIONS, findings);
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
