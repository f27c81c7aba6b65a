/** The findings of `agent doctor`, for people. */
import type { DoctorReport } from "../reports.ts";
import { oneLine, type Tone, wrap } from "./terminal.ts";
import type { TextOf } from "./text.ts";

const MARKS: Readonly<Record<string, readonly [Tone, string]>> = {
  ok: ["good", "ok  "],
  warn: ["warn", "warn"],
  fail: ["bad", "FAIL"],
};

/** The column where findings begin. On a narrow terminal, a finding stands below the name of its check. */
const FINDING_AT = 24;
const FINDING_AT_NARROW = 6;
const NARROW_COLUMNS = 72;

export const doctor: TextOf<DoctorReport> = ({ checks }, { paint, columns = Number.POSITIVE_INFINITY }) => {
  const at = columns < NARROW_COLUMNS ? FINDING_AT_NARROW : FINDING_AT;
  const indent = `\n${" ".repeat(at)}`;
  const room = columns - at;
  return checks
    .map(({ result, name, finding, fix }) => {
      const [tone, mark] = MARKS[result]!;
      const head = `${paint(tone, mark)}  ${at === FINDING_AT ? `${name.padEnd(16)}  ` : `${name}${indent}`}`;
      const next = fix ? wrap(fix, room).map((line) => `${indent}${paint("dim", line)}`) : [];
      return `${head}${wrap(oneLine(finding, 200), room).join(indent)}${next.join("")}`;
    })
    .join("\n");
};
