/** Results as tables and sentences for people. Each is a pure function of the answer, and makes agents' text harmless first. */
import { commandLine } from "../../base/shell.ts";
import { PROGRAM_KIND } from "../../commands/kinds.ts";
import type { Replies } from "../../daemon/replies.ts";
import type { ResolvedDefault } from "../../protocol/defaults.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { TreeNode, TreeSupervisor, WaitReply, WorkerInfo } from "../../runtime/replies.ts";
import type { Valid } from "../reports.ts";
import { approvalsText, approvedText } from "./approvals.ts";
import * as artifacts from "./artifacts.ts";
import { BLACKBOARD_TEXTS } from "./blackboard.ts";
import { BOARD_TEXTS } from "./board.ts";
import { questionWords, spentWords } from "./budgets.ts";
import { CARE_TEXTS } from "./care.ts";
import { changesText, sandboxWords, worktreeWords } from "./changes.ts";
import { CLUSTER_TEXTS } from "./cluster.ts";
import { CONFIG_TEXTS, defaultRows } from "./config.ts";
import * as daemon from "./daemon-text.ts";
import { checkText, collectedText } from "./db.ts";
import { deniedAdvice } from "./denied.ts";
import { doctor } from "./doctor-text.ts";
import { elsewhereInfo, type ShownElsewhere, type WithElsewhere, withElsewhereText } from "./elsewhere.ts";
import { IDENTITY_TEXTS } from "./identity.ts";
import { inboxText } from "./inbox.ts";
import { JOB_TEXTS } from "./jobs.ts";
import { capabilities, mcpText } from "./kinds-text.ts";
import { limitsOf } from "./limits.ts";
import { LineWriter } from "./line.ts";
import { ended, list, TASK_COLUMNS } from "./list.ts";
import { MAIL_TEXTS } from "./mailbox.ts";
import { messagesText, sentText } from "./messages.ts";
import { NOTIFY_TEXTS } from "./notify.ts";
import { age, pairs } from "./pairs.ts";
import { PEER_TEXTS } from "./peers.ts";
import { archivedText, killText, pauseText, removedText, restartText, unpauseText } from "./per-worker.ts";
import { makePrinter } from "./pieces.ts";
import { isElsewhere, runtimeWords } from "./runtimes.ts";
import { SCHEDULE_TEXTS, scheduleLine } from "./schedules.ts";
import { searchText } from "./search.ts";
import { SKILL_TEXTS } from "./skills.ts";
import { spawnManyText } from "./spawn-many.ts";
import { stateWord, toneOf } from "./states.ts";
import { cut, neutralise, oneLine, type Paint, wrapLines } from "./terminal.ts";
import { TOKEN_TEXTS } from "./tokens.ts";
import { diffText, downText, upText } from "./tree-changes.ts";
import { count, duration, uniqueChars } from "./units.ts";
import { spentOf, subtreeWords, usageText } from "./usage.ts";
import { resourceWords } from "./wide.ts";

export interface TextContext {
  readonly paint: Paint;
  readonly flags: Readonly<Record<string, unknown>>;
  /** Epoch ms, for ages. */
  readonly now: number;
  /** True if stdout is a terminal: agents' text is then made harmless, otherwise passed unchanged. */
  readonly terminal: boolean;
  /** Width of the terminal, if it is one; tables end there. */
  readonly columns?: number | undefined;
}

/** In text mode `info` also shows the newest records. */
export interface ShownWorker extends WorkerInfo {
  readonly recent: readonly LogRecord[];
}

export type TextOf<T> = (value: T, context: TextContext) => string;

const supervisorLine = (node: TreeSupervisor, name: string, used: string, paint: Paint): string => {
  const strategy = paint("dim", stateWord(node.strategy));
  if (node.phase === undefined) return `${name}  ${strategy}${used}`;
  const { window, phase, scope = [], reason = "" } = node;
  const windowUsed = window
    ? paint(
        window.used > 0 ? "warn" : "dim",
        `  ${window.used} of ${window.max} in ${duration(window.period_ms)}`,
      )
    : "";
  const doing = scope.length > 0 ? ` ${scope.map((one) => oneLine(one)).join(", ")}` : "";
  const calm = phase === "running";
  const why = calm || reason === "" ? "" : `  ${paint("dim", oneLine(reason))}`;
  const dead = node.tombstone ? paint("dim", "  killed by name") : "";
  const { budget } = node;
  const spent = budget ? paint(budget.state === "open" ? "dim" : "warn", `  ${spentWords(budget)}`) : "";
  const asks = node.question ? paint("warn", `; ${questionWords(node.question, node.id)}`) : "";
  return `${name}  ${paint(toneOf(phase), stateWord(phase))}${calm ? "" : doing}  ${strategy}${windowUsed}${spent}${asks}${dead}${why}`;
};

/** Reasons that the state already expresses. */
const PLAIN_REASONS = ["spawn", "restart", "spawn_requested", "the agent runs"];

const treeLine = (node: TreeNode, chars: number, paint: Paint): string => {
  const name = paint("bold", oneLine(node.name ?? node.id.slice(0, chars)));
  const used =
    node.window && node.window.used > 0
      ? paint(
          "warn",
          `  ${node.window.used} of ${count(node.window.max, "restart")} in ${duration(node.window.period_ms)} used`,
        )
      : "";
  if (node.type === "supervisor") return supervisorLine(node, name, used, paint);
  const { state, reason } = node;
  const facts = [
    node.kind,
    node.incarnation > 1 ? `run ${node.incarnation}` : "",
    node.pid === null ? "" : `pid ${node.pid}`,
    isElsewhere(node) ? `in ${oneLine(node.backend_kind)}` : "",
  ].filter(Boolean);
  const task = node.task === "" ? "" : `  ${paint("dim", oneLine(node.task, TASK_COLUMNS))}`;
  const why =
    reason === "" || (state === "running" && !node.paused && !node.question) || PLAIN_REASONS.includes(reason)
      ? ""
      : `  ${paint("dim", oneLine(stateWord(reason)))}`;
  const dead = node.tombstone ? paint("dim", "  killed by name") : "";
  return `${name}  ${paint(toneOf(state), stateWord(state))}  ${paint("dim", facts.join(", "))}${used}${dead}${why}${task}`;
};

const idsBelow = (node: TreeNode): readonly string[] =>
  node.children.flatMap((child) => [child.id, ...idsBelow(child)]);

const tree: TextOf<TreeSupervisor> = (root, { paint, flags, now, columns = Number.POSITIVE_INFINITY }) => {
  const chars = uniqueChars(idsBelow(root));
  const fiberOf = ({ fiber }: TreeNode): string =>
    flags.fibers ? paint("dim", fiber === undefined ? "no fiber  " : `fiber ${fiber}  `) : "";
  const lines = [`${fiberOf(root)}${treeLine(root, chars, paint)}`];
  const walk = (node: TreeNode, indent: string): void =>
    [...((node.type === "supervisor" && node.schedules) || []), ...node.children].forEach(
      (each, index, all) => {
        const isLast = index === all.length - 1;
        const line = "cron" in each ? scheduleLine(each, paint, now) : treeLine(each, chars, paint);
        const fiber = "cron" in each ? "" : fiberOf(each);
        lines.push(cut(`${paint("dim", `${indent}${isLast ? "└─ " : "├─ "}`)}${fiber}${line}`, columns));
        if (!("cron" in each)) walk(each, `${indent}${isLast ? "   " : "│  "}`);
      },
    );
  walk(root, "");
  return lines.join("\n");
};

const why: TextOf<Replies["agent/why"]> = (
  { id, name, state, reason, suggestion, denied, records, omitted, names },
  { paint, columns },
) => {
  const { line, know } = new LineWriter(paint, { verbose: true, columns });
  for (const [worker, itsName] of Object.entries(names)) know(worker, itsName);
  const head = `${paint("bold", oneLine(name ?? id))}  ${paint(toneOf(state), stateWord(state))}  ${oneLine(stateWord(reason), 300)}`;
  const left =
    omitted > 0
      ? [paint("dim", `${count(omitted, "older decision")} not shown: agent watch ${name ?? id} --from 0`)]
      : [];
  const next = suggestion === null ? [] : [paint("warn", oneLine(suggestion, 300))];
  const refused = denied ? [paint("warn", deniedAdvice(denied))] : [];
  const said = [head, ...next, ...refused, ...left].map((each) => wrapLines(each, columns));
  return [...said, ...records.flatMap((record) => line(record) ?? [])].join("\n");
};

const restartRule = ({ spec, window, ended_at }: WorkerInfo): string =>
  spec.restart === "temporary"
    ? "temporary: never"
    : `${spec.restart}, ${ended_at === null ? `${window.used} of ${window.max}` : `at most ${window.max}`} in ${duration(window.period_ms)}${ended_at === null ? " used" : ""}, backoff ${duration(spec.backoff_min_ms)}..${duration(spec.backoff_max_ms)}`;

/** The state in words, and the reason if it adds anything. */
const condition = (worker: WorkerInfo, now: number): string => {
  const since = worker.ended_at === null && worker.started_at ? `, for ${age(worker.started_at, now)}` : "";
  const reason = worker.state === "running" && !worker.paused ? "" : oneLine(stateWord(worker.reason));
  return `${stateWord(worker.state)}${reason ? ` (${reason})` : ""}${worker.state === "running" ? since : ""}`;
};

const movedSentence = ({
  records,
  archives,
  from_seq,
  to_seq,
}: NonNullable<WorkerInfo["moved_output"]>): string =>
  archives.length === 0
    ? `${count(records, "record")} removed from the log, without an archive`
    : `${count(records, "record")} moved to ${archives.map((name) => `archive/${name}`).join(", ")}: agent db export --from ${from_seq} --to ${to_seq}`;

const tamperedWords = ({ id, name, run_findings = [] }: WorkerInfo): string =>
  `${oneLine([...new Set(run_findings.map(({ file }) => file))].join(", "), 300)}: agent why ${name ?? id}`;

const info: TextOf<ShownWorker> = (worker, { paint, now, columns }) => {
  const { spec } = worker;
  const lines = new LineWriter(paint, { verbose: false, columns });
  lines.know(worker.id, worker.name);
  const facts = pairs(paint, [
    ["id", worker.id],
    ["name", worker.name],
    ["kind", worker.kind],
    ["state", paint(worker.paused ? "warn" : toneOf(worker.state), condition(worker, now))],
    ["asks", worker.question && paint("warn", questionWords(worker.question, worker.name ?? worker.id))],
    ["permission", worker.kind === PROGRAM_KIND ? null : spec.permission],
    ["denied", worker.denied ? paint("warn", deniedAdvice(worker.denied)) : null],
    ["approvals", worker.approvals ? paint("warn", "it waits for a person: agent approvals") : null],
    ["error", worker.error && paint("bad", `${worker.error.code}: ${oneLine(worker.error.message, 300)}`)],
    ["command", spec.argv.length > 0 ? oneLine(commandLine(spec.argv), 200) : null],
    ["prompt", spec.prompt ? oneLine(spec.prompt, 200) : null],
    ["model", spec.model && oneLine(spec.model)],
    ["cwd", oneLine(spec.cwd, 300)],
    ["worktree", worker.workspace && worktreeWords(worker.workspace)],
    [
      "labels",
      Object.entries(worker.labels)
        .map(([key, value]) => oneLine(`${key}=${value}`))
        .join(" "),
    ],
    ["variables", Object.keys(spec.env).join(" ")],
    ["process", worker.pid === null ? null : `pid ${worker.pid}, group ${worker.pgid ?? "unknown"}`],
    ["uses", resourceWords(worker)],
    ["runtime", runtimeWords(worker)],
    ["run", `${worker.incarnation}, ${count(worker.restarts, "restart")} by the supervisor`],
    ["restart", restartRule(worker)],
    ["limits", limitsOf(worker.spec)],
    ...worker.budgets.map((budget): [string, string] => [
      budget.owner === worker.id ? "budget" : `budget of ${oneLine(budget.owner)}`,
      paint(budget.state === "open" ? "plain" : "warn", spentWords(budget)),
    ]),
    [
      "stdin",
      spec.interactive && worker.ended_at === null
        ? `open: agent send ${worker.name ?? worker.id} TEXT`
        : null,
    ],
    ["supervisor", worker.supervisor],
    ["parent", worker.parent],
    ["session", worker.session_id && oneLine(worker.session_id)],
    ["turns", worker.turns === 0 ? null : spentOf(worker)],
    ["with all below", subtreeWords(worker.subtree, worker.name ?? worker.id)],
    ["created", `${worker.created_at} (${age(worker.created_at, now)} ago)`],
    ["ended", worker.ended_at && `${worker.ended_at} (${ended(worker, now)})`],
    ["heartbeat", worker.heartbeat_at && `${age(worker.heartbeat_at, now)} ago`],
    ["said last", worker.last_event_at && `${age(worker.last_event_at, now)} ago`],
    ["its output", worker.moved_output && movedSentence(worker.moved_output)],
    ["run directory", worker.run_dir],
    ["tampered with", worker.run_findings ? paint("warn", tamperedWords(worker)) : null],
    [
      "its stderr",
      worker.error && worker.kind !== PROGRAM_KIND
        ? `agent logs ${worker.name ?? worker.id} --raw --stderr`
        : null,
    ],
  ]);
  const printer = makePrinter(lines);
  const recent = worker.recent.map(printer.record).join("");
  return recent === "" ? facts : `${facts}\n\n${recent.trimEnd()}`;
};

const wait: TextOf<{ readonly results: readonly WaitReply[] }> = ({ results }, { paint }) =>
  results
    .map(
      (result) =>
        `${result.name ?? result.id}  ${paint(toneOf(result.status), result.status)}${result.error ? `  ${oneLine(result.error.message, 300)}` : ""}`,
    )
    .join("\n");

/** Only the id, so that a script can store it; nothing after --watch, which has shown everything. */
const spawn: TextOf<Replies["agent/spawn"] & { readonly defaults?: readonly ResolvedDefault[] }> = (
  { id, plan, defaults = [] },
  { paint, flags },
) => {
  if (plan === undefined) return flags.watch ? "" : id;
  const env = Object.entries(plan.env)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `  ${key}=${neutralise(value)}`);
  return [
    pairs(paint, [
      ["command", neutralise(commandLine(plan.argv))],
      ["cwd", neutralise(plan.cwd)],
      ["worktree", plan.worktree && worktreeWords(plan.worktree)],
      ["sandbox", plan.sandbox && sandboxWords(plan.sandbox)],
      ["stdin", oneLine(plan.stdin)],
      ["mcp", plan.mcp?.join(", ")],
    ]),
    ...(defaults.length === 0 ? [] : [paint("dim", "defaults"), pairs(paint, defaultRows(defaults))]),
    paint("dim", "environment"),
    ...env,
  ].join("\n");
};

const output: TextOf<{ readonly text: string }> = ({ text }, { terminal }) =>
  terminal ? neutralise(text) : text;

const validText: TextOf<Valid> = ({ input, level, lines }, { paint }) =>
  `${paint("good", "valid")}  ${input === "-" ? "stdin" : input}${lines === undefined ? "" : `, ${count(lines, "line")}`}${level === undefined ? "" : `, by ${level}`}`;

/** Wraps a text that consists of sentences. */
const inRoom =
  <T>(text: TextOf<T>): TextOf<T> =>
  (value, context) =>
    wrapLines(text(value, context), context.columns);

/** By Protocol v1 command; a command that is not listed prints JSON. */
/** They have printed their records, or speak another protocol, so nothing is added. */
const SILENT =
  "agent/watch agent/logs agent/demo agent/top agent/attach agent/acp agent/relay mcp/serve".split(" ");

const TEXTS: Readonly<Record<string, TextOf<never> | undefined>> = {
  "agent/spawn": spawn,
  "agent/resume": spawn,
  "agent/fork": spawn,
  "agent/list": list,
  "agent/tree": (
    value: (TreeSupervisor & WithElsewhere) | { readonly trees: number },
    context: TextContext,
  ) => ("trees" in value ? "" : withElsewhereText(tree(value, context), value, context)),
  "agent/why": why,
  "agent/usage": usageText,
  "agent/info": (value: ShownWorker | ShownElsewhere, context: TextContext) =>
    "source" in value ? elsewhereInfo(value, context) : info(value, context),
  "agent/kill": killText,
  "agent/restart": restartText,
  "agent/pause": pauseText,
  "agent/spawn-many": spawnManyText,
  "agent/unpause": unpauseText,
  "agent/archive": archivedText,
  ...CARE_TEXTS,
  "agent/up": upText,
  "agent/diff": diffText,
  "agent/down": downText,
  "agent/wait": wait,
  "agent/output": output,
  "agent/changes": changesText,
  "worktree/remove": removedText,
  "agent/capabilities": capabilities,
  "agent/doctor": doctor,
  "mcp/list": mcpText,
  "mcp/get": mcpText,
  "mcp/add": mcpText,
  "mcp/remove": mcpText,
  "daemon/status": daemon.status,
  "daemon/upgrade": inRoom(daemon.upgraded),
  "daemon/install": daemon.installed,
  "daemon/uninstall": daemon.installed,
  "daemon/run": () => "",
  "daemon/start": inRoom(daemon.started),
  "daemon/stop": inRoom(daemon.stopped),
  "agent/completion": ({ text }: { readonly text: string }) => text,
  "db/check": checkText,
  "db/rebuild": ({ records }: Replies["db/rebuild"]) => `Folded ${count(records, "record")} again.`,
  "db/gc": collectedText,
  "db/export": () => "",
  "cas/put": artifacts.putText,
  "cas/get": artifacts.gotText,
  "cas/pin": artifacts.pinnedText,
  "cas/unpin": artifacts.unpinnedText,
  "cas/list": artifacts.artifactsText,
  "cas/gc": artifacts.artifactsCollectedText,
  "agent/answer": (_: unknown, { paint }: TextContext) => paint("dim", "answered"),
  "agent/send": sentText,
  "agent/ask": output,
  "agent/messages": messagesText,
  "agent/inbox": inboxText,
  ...JOB_TEXTS,
  ...CONFIG_TEXTS,
  ...IDENTITY_TEXTS,
  "jobs/result": output,
  "jobs/cancel": killText,
  ...BOARD_TEXTS,
  ...MAIL_TEXTS,
  ...SCHEDULE_TEXTS,
  ...NOTIFY_TEXTS,
  ...TOKEN_TEXTS,
  ...PEER_TEXTS,
  ...CLUSTER_TEXTS,
  "agent/approvals": approvalsText,
  "approvals/approve": approvedText,
  "approvals/deny": approvedText,
  "agent/cancel": ({ effect }: { readonly effect: string }, { paint }: TextContext) =>
    paint("dim", effect === "noop" ? "no turn was open" : "its turn is being ended"),
  "agent/search": searchText,
  ...BLACKBOARD_TEXTS,
  ...SKILL_TEXTS,
  "proto/validate": validText,
  "event/validate": validText,
  "agent/manifest": (value: unknown) => JSON.stringify(value, null, 2),
  "agent/version": ({ version }: { readonly version: string }) => `agent ${version}`,
  ...Object.fromEntries(SILENT.map((command) => [command, () => ""])),
};

export const renderText = (command: string, value: unknown, context: TextContext): string => {
  const text = TEXTS[command];
  return text === undefined ? JSON.stringify(value, null, 2) : text(value as never, context);
};

/** For stderr: what happened, every mistake, and the next step. */
export const renderError = (error: HoldfastError, paint: Paint): string => {
  const next = paint("dim", neutralise(error.suggestion));
  // The user knows, having pressed the keys.
  if (error.code === "CANCELLED") return `${neutralise(error.message)} ${next}`;
  const problems = error.info.problems ?? [];
  // A fault in an envelope is not a mistake of the call.
  const isCall = problems.length > 1 && error.code !== "ENVELOPE_INVALID";
  const what = isCall ? `${problems.length} mistakes; nothing was done` : neutralise(error.message);
  const list = problems.length > 1 ? problems.map((problem) => `\n  ${neutralise(problem)}`).join("") : "";
  const retry =
    error.info.retry_after_s === undefined ? "" : ` (in ${duration(error.info.retry_after_s * 1000)})`;
  return `${paint("bad", "error:")} ${what}${list}\n${next}${retry}`;
};
