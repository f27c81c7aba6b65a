/** Commands of the event log. */
import { inGroup } from "./command.ts";

export const DB_COMMANDS = inGroup("This machine", [
  {
    words: ["db", "check"],
    request: "db/check",
    danger: "safe",
    summary: "Check the whole event log",
    examples: ["agent db check"],
  },
  {
    words: ["db", "rebuild"],
    request: "db/rebuild",
    danger: "mutating",
    summary: "Rebuild all tables from the log",
    examples: ["agent db rebuild"],
  },
  {
    words: ["db", "gc"],
    request: "db/gc",
    danger: "mutating",
    summary: "Move old output to archives, and free its space",
    details:
      "Moves only the output of incarnations that have ended, and the records of items, messages, schedules and tokens that are gone; decisions, usage, costs and all that is open stay. The daemon does the same by itself after HOLDFAST_RETENTION (30d), and when the log takes more than HOLDFAST_RETENTION_SIZE (no bound). --vacuum is for a database that an early version made; it needs a stopped daemon, and free disk space of twice the size of the database.",
    flags: [
      { name: "older-than", type: "duration", value: "7d", help: "output that is at least this old" },
      {
        name: "max-size",
        type: "size",
        value: "5G",
        help: "also the oldest output, until the log takes no more than this",
      },
      { name: "dry-run", type: "bool", help: "only print how much it would be" },
      { name: "vacuum", type: "bool", help: "then rewrite the database without its free pages" },
      { name: "no-archive", type: "bool", help: "delete the output instead of archiving it" },
    ],
    examples: ["agent db gc --dry-run", "agent db gc --older-than 7d"],
  },
  {
    words: ["db", "export"],
    danger: "safe",
    stream: true,
    summary: "Print the whole log with its archives, one JSON record a line",
    details:
      "--format v2 prints the run and worker events of the runtime architecture instead: a stream for each worker and for each of its runs. Prints text, even to a file or a pipe, unless -o or HOLDFAST_OUTPUT says otherwise.",
    flags: [
      {
        name: "format",
        type: "enum",
        values: ["records", "v2"],
        value: "FORMAT",
        help: "records of the log, or run and worker events",
        default: "records",
      },
      { name: "from", type: "int", value: "SEQ", help: "the first record" },
      { name: "to", type: "int", value: "SEQ", help: "the last record" },
      {
        name: "heartbeats",
        type: "bool",
        help: "with v2, at the end: when each worker's process was last checked. This event is not in the log, so the next event of the stream has the same number",
      },
    ],
    examples: ["agent db export | gzip > log.ndjson.gz", "agent db export --format v2 > events.ndjson"],
  },
]);
