/** docs/reference/records.md, from the union of all record types. */
import { commentAt, linesOf } from "./declarations.ts";
import { table } from "./markdown.ts";

const SOURCE = "src/protocol/records.ts";
/** The interfaces that the union is made of, and their files. */
const PARTS = [
  [SOURCE, "    PeerRecords {"],
  ["src/protocol/schedule-records.ts", "export interface ScheduleRecords {"],
  ["src/protocol/skill-records.ts", "export interface SkillRecords {"],
  ["src/protocol/spawn-records.ts", "export interface SpawnRecords {"],
  ["src/protocol/board-records.ts", "export interface BoardRecords {"],
  ["src/protocol/mail-records.ts", "export interface MailRecords {"],
  ["src/protocol/token-records.ts", "export interface TokenRecords {"],
  ["src/protocol/peer-records.ts", "export interface PeerRecords {"],
] as const;

interface RecordRow {
  readonly type: string;
  readonly words: string;
  /** Names of the members of its payload, optional ones with `?`; or the name of a type. */
  readonly members: string;
}

/** For types whose source leaves their meaning to the name. */
const PLAIN: Readonly<Record<string, string>> = {
  worker_spawned: "Its process runs: the launcher, and the agent below it.",
  worker_cancel_requested: "A stop was requested: a kill (a tombstone), or for the reason in `purpose`.",
  worker_signal_sent: "A signal was sent to these processes.",
  worker_failed: "Its incarnation failed.",
  worker_cancelled: "Its incarnation was stopped.",
  worker_adopted: "A daemon took over a run that an earlier one had started.",
  supervisor_state_changed: "A supervisor of a file went from one phase to another.",
  worker_answered: "Its question was answered.",
  worker_limit_reached: "One of its clocks or budgets exceeded its bound.",
  approval_answered: "A rule, a person, another worker or the deadline answered.",
  schedule_paused: "Its times have no runs.",
  schedule_started: "The run has its worker.",
  session_started: "Its agent reported the provider's session.",
  turn_started: "A turn began.",
  turn_completed: "A turn ended; the record has its usage.",
  "agent.event": "The agent said or did something: an event of `agent-event.txt`.",
  daemon_started: "A daemon opened the log.",
  daemon_stopped: "A daemon closed the log in order; without this record it was killed.",
};

/** Members of the payload itself: those at the least depth of its text. */
const membersOf = (declaration: string): string => {
  const [, named] = /^(\w+);$/.exec(declaration) ?? [];
  if (named !== undefined) return `as \`${named}\``;
  let depth = 0;
  const names = new Set<string>();
  for (const [token, name] of declaration
    .replace(/\/\*\*.*?\*\//gs, "")
    .matchAll(/[{}]|readonly (\w+\??):/g)) {
    if (token === "{") depth += 1;
    else if (token === "}") depth -= 1;
    else if (depth === 1) names.add(`\`${name}\``);
  }
  const [, more] = /& (\w+)/.exec(declaration) ?? [];
  return [...names, ...(more === undefined ? [] : [`those of \`${more}\``])].join(", ");
};

export const recordRows = (): readonly RecordRow[] =>
  PARTS.flatMap(([source, head]) => rowsOf(linesOf(source), head));

const rowsOf = (lines: readonly string[], head: string): readonly RecordRow[] => {
  const rows: RecordRow[] = [];
  let words = "";
  let at = lines.indexOf(head) + 1;
  if (at === 0) throw new Error(`No source begins an interface with: ${head}`);
  while (lines[at] !== "}") {
    const comment = commentAt(lines, at);
    if (comment !== undefined) {
      words = comment.words;
      at = comment.next;
      continue;
    }
    const end = lines.findIndex(
      (line, index) =>
        index >= at && line.endsWith(";") && /^( {2}(?!\};)\S|\})/.test(lines[index + 1] ?? ""),
    );
    const [, type = "", declaration = ""] =
      /^ {2}"?([\w.]+)"?:\s*(.*)$/s.exec(lines.slice(at, end + 1).join("\n")) ?? [];
    rows.push({ type, words: words === "" ? (PLAIN[type] ?? "") : words, members: membersOf(declaration) });
    words = "";
    at = end + 1;
  }
  return rows;
};

const GROUPS: readonly (readonly [string, RegExp])[] = [
  [
    "A worker and its incarnations",
    /^(worker_(?!message|question|answered|stalled|limit|paused|unpaused|log_chunk|run_finding)|run_)/,
  ],
  ["Clocks, limits, pauses and questions", /^worker_(stalled|limit|paused|unpaused|question|answered)/],
  [
    "Output, messages, sessions and turns",
    /^(agent\.event|worker_(log_chunk|message)|session_|turn_|log_gap)/,
  ],
  ["Approvals", /^approval_/],
  ["The blackboard", /^bb_/],
  ["Schedules", /^schedule_/],
  ["Boards", /^(issue\.|board_)/],
  ["Mailboxes", /^mailbox_/],
  ["Skills", /^skill_/],
  ["Tokens", /^token_/],
  ["Federation", /^(peer_|audit_)/],
  ["Supervisors, trees and groups", /^(supervisor_|tree_|spawn_)/],
  ["The daemon and the log", /./],
];

const groups = (): string => {
  const left = [...recordRows()];
  return GROUPS.map(([title, fits]) => {
    const rows = left.filter(({ type }) => fits.test(type));
    for (const row of rows) left.splice(left.indexOf(row), 1);
    const cells = rows.map(({ type, words, members }) => [`\`${type}\``, words, members]);
    return `## ${title}\n\n${table(["type", "meaning", "payload"], cells)}`;
  }).join("\n\n");
};

export const recordsPage = (): string => `# Records

A record is a durable fact; every status and every table is folded from records.
Generated from [${SOURCE}](../../${SOURCE}) by \`npm run docs\`; that file has the type of every member.

\`agent watch -o ndjson\` prints the records of workers as they come, \`agent db export\` prints all of them, and \`agent watch --schema\` their JSON Schema.
Every record has these members beside its payload:

| member | meaning |
|---|---|
| \`seq\` | its place in the log; a cursor is the \`seq\` of the last record that a reader has |
| \`id\` | its own id; a record with an id that the log already has is not written again |
| \`stream\`, \`version\` | \`worker:<id>\`, \`tree:<name>\`, \`mailbox:<address>\`, \`bb:<namespace>\`, \`board:<name>\`, \`schedule:<name>\`, \`token:<name>\`, \`peer:<hub>\`, \`audit\` or \`daemon\`, and its number in that stream, without a gap |
| \`type\`, \`payload\` | as in the tables below |
| \`recorded_at\` | RFC 3339, UTC, milliseconds |
| \`worker_id\`, \`incarnation\` | in records of a worker |
| \`correlation_id\`, \`causation_id\` | the request from which it results, and its direct cause |

A name with \`?\` may be absent.
A member that a later version adds is absent in older records, and older records are read for ever.

${groups()}
`;
