/** The texts of `agent db check` and `agent db gc`. */
import type { Replies } from "../../daemon/replies.ts";
import { oneLine } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { bytes, count } from "./units.ts";

export const checkText: TextOf<Replies["db/check"]> = (report, { paint }) =>
  report.ok
    ? [
        `${paint("good", "ok")}  ${count(report.records, "record")}, head ${report.head}`,
        ...(report.notes ?? []).map((note) => paint("dim", oneLine(note, 300))),
      ].join("\n")
    : report.findings.map((finding) => paint("bad", oneLine(finding, 300))).join("\n");

export const collectedText: TextOf<Replies["db/gc"] & { readonly effect: string }> = (report, { paint }) => {
  const hint =
    report.needs_vacuum && report.reusable_bytes > 0
      ? `\n${paint("dim", `An early version made this database: its free pages go back to the disk by: agent daemon stop --keep-agents && agent db gc --vacuum && agent daemon start`)}`
      : "";
  return `${collectedSentence(report)}${hint}`;
};

const whatOf = ({ records, settled_records: settled }: Replies["db/gc"]): string => {
  const output = count(records - settled, "record");
  const done = `${count(settled, "record")} of what was settled`;
  if (settled === 0) return `${output} of output`;
  return records === settled ? done : `${output} of output and ${done}`;
};

const collectedSentence = (report: Replies["db/gc"] & { readonly effect: string }): string => {
  const what = whatOf(report);
  if (report.effect === "noop")
    return `Nothing is old enough${report.freed_bytes > 0 ? `; ${bytes(report.freed_bytes)} given back` : ""}.`;
  if (report.effect === "would_delete") return `Would remove ${what} from the log.`;
  const into =
    report.archives.length === 0 ? "" : ` to ${report.archives.map((name) => `archive/${name}`).join(", ")}`;
  return `Moved ${what}${into}; ${bytes(report.freed_bytes)} given back${report.reusable_bytes > 0 ? `, ${bytes(report.reusable_bytes)} kept for new records` : ""}.`;
};
