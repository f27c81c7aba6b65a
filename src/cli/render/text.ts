/** Results as tables and sentences for people. Each is a pure function of the answer; agents' text is made harmless first. */
import type { Replies } from "../../daemon/replies.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerState } from "../../protocol/worker.ts";
import type { PerWorker, TreeNode, WaitReply, WorkerInfo, WorkerView } from "../../supervisor/facade.ts";
import type { DoctorReport } from "../commands/doctor.ts";
import { neutralise, oneLine, type Paint, type Tone, table } from "./terminal.ts";
import { bytes, commandLine, count, duration } from "./units.ts";

export interface TextContext {
  readonly paint: Paint;
  readonly flags: Readonly<Record<string, unknown>>;
  /** Epoch ms: ages are told against it. */
  readonly now: number;
  /** True when stdout is a terminal: agents' text is then made harmless, else passed as it is. */
  readonly terminal: boolean;
}

type TextOf<T> = (value: T, context: TextContext) => string;

const ID_COLUMN_CHARS = 10;

const toneOf = (state: WorkerState | string | undefined): Tone => {
  switch (state) {
    case "running":
    case "ready":
    case "completed":
      return "good";
    case "failed":
    case "parked":
    case "lost":
      return "bad";
    case "cancelled":
      return "dim";
    case "waiting":
    case "backing_off":
    case "stopping":
      return "warn";
    default:
      return "plain";
  }
};

const stateWord = (state: string): string => state.replaceAll("_", " ");

const age = (from: string | null, now: number): string =>
  from === null ? "–" : duration(Math.max(0, now - Date.parse(from)));

/** The fewest characters, at least ten, by which all these ids still differ: a ULID begins with its time. */
const uniqueChars = (ids: readonly string[]): number => {
  const distinct = new Set(ids).size;
  for (let chars = ID_COLUMN_CHARS; chars < 26; chars++)
    if (new Set(ids.map((id) => id.slice(0, chars))).size === distinct) return chars;
  return 26;
};

const ended = (worker: Pick<WorkerView, "exit_code" | "signal" | "ended_at">, now: number): string => {
  if (worker.ended_at === null) return "";
  const how = worker.signal ?? (worker.exit_code === null ? "" : `code ${worker.exit_code}`);
  return `${how ? `${how}, ` : ""}${age(worker.ended_at, now)} ago`;
};

const list: TextOf<Replies["agent/list"]> = ({ workers }, { paint, flags, now }) => {
  if (flags.quiet) return workers.map((worker) => worker.id).join("\n");
  if (workers.length === 0)
    return flags.all
      ? "No workers yet. Start one with: agent spawn -- sleep 60"
      : "No workers are running. See ended ones with: agent list --all";
  const chars = uniqueChars(workers.map((worker) => worker.id));
  const head = ["ID", "NAME", "KIND", "STATE", "RUN", "RESTARTS", "PID", "AGE", flags.all ? "ENDED" : ""];
  const rows = workers.map((worker) => [
    worker.id.slice(0, chars),
    worker.name ?? "–",
    worker.kind,
    paint(toneOf(worker.state), stateWord(worker.state)),
    String(worker.incarnation),
    String(worker.restarts),
    worker.pid === null ? "–" : String(worker.pid),
    age(worker.created_at, now),
    flags.all ? ended(worker, now) : "",
  ]);
  return table([head.map((cell) => paint("dim", cell)), ...rows]);
};

const treeLine = (node: TreeNode, paint: Paint): string => {
  const name = paint("bold", oneLine(node.name ?? node.id));
  const used =
    node.window && node.window.used > 0
      ? paint(
          "warn",
          `  ${node.window.used} of ${count(node.window.max, "restart")} in ${duration(node.window.period_ms)} used`,
        )
      : "";
  if (node.type === "supervisor")
    return `${name}  ${paint("dim", stateWord(node.strategy ?? "supervisor"))}${used}`;
  const state = node.state ?? node.status ?? "";
  const facts = [
    node.kind ?? "",
    node.incarnation && node.incarnation > 1 ? `run ${node.incarnation}` : "",
    node.pid ? `pid ${node.pid}` : "",
  ].filter(Boolean);
  return `${name}  ${paint(toneOf(state), stateWord(state))}  ${paint("dim", facts.join(", "))}${used}`;
};

const tree: TextOf<TreeNode> = (root, { paint }) => {
  const lines = [treeLine(root, paint)];
  const walk = (children: readonly TreeNode[], indent: string): void =>
    children.forEach((child, index) => {
      const isLast = index === children.length - 1;
      lines.push(`${paint("dim", `${indent}${isLast ? "└─ " : "├─ "}`)}${treeLine(child, paint)}`);
      walk(child.children, `${indent}${isLast ? "   " : "│  "}`);
    });
  walk(root.children, "");
  return lines.join("\n");
};

const pairs = (paint: Paint, rows: readonly (readonly [string, string | null | undefined])[]): string =>
  table(
    rows
      .filter((row): row is readonly [string, string] => Boolean(row[1]))
      .map(([key, value]) => [paint("dim", key), value]),
  );

const info: TextOf<WorkerInfo> = (worker, { paint, now }) => {
  const { spec, usage } = worker;
  const tokens = usage.input_tokens + usage.output_tokens;
  const facts = pairs(paint, [
    ["id", worker.id],
    ["name", worker.name],
    ["kind", worker.kind],
    [
      "state",
      `${paint(toneOf(worker.state), stateWord(worker.state))}${worker.reason ? ` (${oneLine(stateWord(worker.reason))})` : ""}`,
    ],
    ["error", worker.error && paint("bad", `${worker.error.code}: ${oneLine(worker.error.message, 300)}`)],
    ["command", spec.argv.length > 0 ? oneLine(commandLine(spec.argv), 200) : null],
    ["prompt", spec.prompt ? oneLine(spec.prompt, 200) : null],
    ["model", spec.model],
    ["cwd", spec.cwd],
    [
      "labels",
      Object.entries(worker.labels)
        .map(([key, value]) => `${key}=${oneLine(value)}`)
        .join(" "),
    ],
    ["process", worker.pid === null ? null : `pid ${worker.pid}, group ${worker.pgid ?? "unknown"}`],
    [
      "incarnation",
      `${worker.incarnation}, restarted ${worker.restarts === 1 ? "once" : `${worker.restarts} times`}`,
    ],
    [
      "restart",
      `${spec.restart}, ${worker.window.used} of ${worker.window.max} in ${duration(worker.window.period_ms)} used, backoff ${duration(spec.backoff_min_ms)}..${duration(spec.backoff_max_ms)}`,
    ],
    [
      "limits",
      [
        `grace ${duration(spec.grace_ms)}`,
        spec.timeout_ms ? `timeout ${duration(spec.timeout_ms)}` : "no timeout",
        spec.stall_ms ? `stall ${duration(spec.stall_ms)}` : "no stall limit",
      ].join(", "),
    ],
    ["supervisor", worker.supervisor],
    ["parent", worker.parent],
    ["session", worker.session_id && oneLine(worker.session_id)],
    [
      "turns",
      worker.turns > 0
        ? `${worker.turns}${tokens > 0 ? `, ${count(usage.input_tokens, "token")} in, ${count(usage.output_tokens, "token")} out` : ""}${usage.cost_usd === null ? "" : `, $${usage.cost_usd.toFixed(4)}`}`
        : null,
    ],
    ["created", `${worker.created_at} (${age(worker.created_at, now)} ago)`],
    ["ended", worker.ended_at && `${worker.ended_at} (${ended(worker, now)})`],
    ["last record", worker.last_event_at && `seq ${worker.last_seq}, ${age(worker.last_event_at, now)} ago`],
    ["run directory", worker.run_dir],
  ]);
  const final = worker.completion?.final_text;
  return final ? `${facts}\n\n${neutralise(final).trimEnd()}` : facts;
};

const EFFECT_WORDS: Readonly<Record<string, string>> = {
  created: "started",
  updated: "restarted",
  deleted: "stopped",
  noop: "had already ended",
  would_create: "would be started",
  would_update: "would be restarted",
  would_delete: "would be stopped",
};

const perWorker: TextOf<{ readonly results: readonly PerWorker[] }> = ({ results }, { paint }) =>
  results.length === 0
    ? "Nothing to do: no workers are running."
    : results
        .map((result) => {
          const who = result.name ?? result.id;
          return result.error
            ? `${who}  ${paint("bad", oneLine(result.error.message, 300))}`
            : `${who}  ${EFFECT_WORDS[result.effect] ?? result.effect}`;
        })
        .join("\n");

const wait: TextOf<{ readonly results: readonly WaitReply[] }> = ({ results }, { paint }) =>
  results
    .map(
      (result) =>
        `${result.name ?? result.id}  ${paint(toneOf(result.status), result.status)}${result.error ? `  ${oneLine(result.error.message, 300)}` : ""}`,
    )
    .join("\n");

/** The id alone, so that a script can keep it; nothing after --watch, which has shown all. */
const spawn: TextOf<Replies["agent/spawn"]> = ({ id, plan }, { paint, flags }) => {
  if (plan === undefined) return flags.watch ? "" : id;
  const env = Object.entries(plan.env).map(([key, value]) => `  ${key}=${oneLine(value, 100)}`);
  return [
    pairs(paint, [
      ["command", neutralise(commandLine(plan.argv))],
      ["cwd", plan.cwd],
      ["stdin", oneLine(plan.stdin)],
    ]),
    paint("dim", "environment"),
    ...env,
  ].join("\n");
};

const output: TextOf<Replies["agent/output"]> = ({ text }, { terminal }) =>
  terminal ? neutralise(text) : text;

const capabilities: TextOf<Replies["agent/capabilities"]> = ({ kinds }, { paint, flags: _flags }) =>
  kinds.length === 1
    ? pairs(paint, [
        ["kind", kinds[0]!.kind],
        ["short names", kinds[0]!.aliases.join(", ")],
        ["what", kinds[0]!.summary],
        ["program", kinds[0]!.binary ?? "–"],
        ["capabilities", kinds[0]!.capabilities.join("\n              ")],
      ])
    : table([
        ["KIND", "SHORT", "PROGRAM", "WHAT"].map((cell) => paint("dim", cell)),
        ...kinds.map((each) => [
          each.kind,
          each.aliases.join(", ") || "–",
          each.binary ?? paint("dim", each.kind === "command" ? "yours" : "not found"),
          each.summary,
        ]),
      ]);

const MARKS: Readonly<Record<string, readonly [Tone, string]>> = {
  ok: ["good", "ok  "],
  warn: ["warn", "warn"],
  fail: ["bad", "FAIL"],
};

const doctor: TextOf<DoctorReport> = ({ checks }, { paint }) =>
  checks
    .map(({ result, name, finding, fix }) => {
      const [tone, mark] = MARKS[result]!;
      return `${paint(tone, mark)}  ${name.padEnd(16)}  ${oneLine(finding, 200)}${fix ? `\n${" ".repeat(24)}${paint("dim", fix)}` : ""}`;
    })
    .join("\n");

const status: TextOf<Replies["daemon/status"]> = (daemon, { paint, now }) =>
  pairs(paint, [
    [
      "daemon",
      `${paint("good", "running")}, version ${daemon.version}, pid ${daemon.pid}, up ${age(daemon.started_at, now)}`,
    ],
    ["workers", `${daemon.workers.live} running, ${daemon.workers.total} in all`],
    ["log", count(daemon.head, "record")],
    ["memory", `${bytes(daemon.rss_bytes)}, heap ${bytes(daemon.heap_bytes)}`],
    [
      "loop lag",
      daemon.loop_lag_ms &&
        `p50 ${daemon.loop_lag_ms.p50}ms, p99 ${daemon.loop_lag_ms.p99}ms, max ${daemon.loop_lag_ms.max}ms`,
    ],
    ["state", daemon.state_dir],
    ["socket", daemon.socket],
    ["node", daemon.node],
  ]);

const started: TextOf<Replies["daemon/status"] & { readonly effect: string }> = ({
  effect,
  pid,
  state_dir,
}) =>
  effect === "noop"
    ? `The daemon runs already, pid ${pid}.`
    : `The daemon runs, pid ${pid}, state in ${state_dir}.`;

const stopped: TextOf<Replies["daemon/stop"] & { readonly effect: string }> = ({ agents, live, effect }) => {
  if (effect === "noop") return "No daemon runs.";
  if (live === 0) return "The daemon has stopped.";
  const workers = count(live, "worker");
  return agents === "keep"
    ? `The daemon has stopped; ${workers} left running for the next one.`
    : `The daemon has stopped, and ${workers} before it.`;
};

const check: TextOf<Replies["db/check"]> = (report, { paint }) =>
  report.ok
    ? `${paint("good", "ok")}  ${count(report.records, "record")}, head ${report.head}`
    : report.findings.map((finding) => paint("bad", oneLine(finding, 300))).join("\n");

/** By Protocol v1 command; a command that is not here prints JSON. */
const TEXTS: Readonly<Record<string, TextOf<never> | undefined>> = {
  "agent/spawn": spawn,
  "agent/list": list,
  "agent/tree": tree,
  "agent/info": info,
  "agent/kill": perWorker,
  "agent/restart": perWorker,
  "agent/wait": wait,
  "agent/output": output,
  "agent/capabilities": capabilities,
  "agent/doctor": doctor,
  "daemon/status": status,
  "daemon/start": started,
  "daemon/stop": stopped,
  "agent/completion": ({ text }: { readonly text: string }) => text,
  "db/check": check,
  "db/rebuild": ({ records }: Replies["db/rebuild"]) => `Folded ${count(records, "record")} again.`,
  "agent/send": (_: unknown, { paint }: TextContext) => paint("dim", "delivered"),
  "agent/manifest": (value: unknown) => JSON.stringify(value, null, 2),
  "agent/version": ({ version }: { readonly version: string }) => `agent ${version}`,
  // Streams have printed their records; there is nothing to add.
  "agent/watch": () => "",
  "agent/logs": () => "",
  "agent/demo": () => "",
};

export const renderText = (command: string, value: unknown, context: TextContext): string => {
  const text = TEXTS[command];
  if (text !== undefined) return text(value as never, context);
  return JSON.stringify(value, null, 2);
};

/** For stderr: what happened, every mistake, and what to do next. */
export const renderError = (error: HoldfastError, paint: Paint): string => {
  const next = paint("dim", neutralise(error.suggestion));
  // The person knows: they pressed the keys.
  if (error.code === "CANCELLED") return `${neutralise(error.message)} ${next}`;
  const problems = error.info.problems ?? [];
  const what =
    problems.length > 1 ? `${problems.length} mistakes; nothing was done` : neutralise(error.message);
  const list = problems.length > 1 ? problems.map((problem) => `\n  ${neutralise(problem)}`).join("") : "";
  const retry =
    error.info.retry_after_s === undefined ? "" : ` (in ${duration(error.info.retry_after_s * 1000)})`;
  return `${paint("bad", "error:")} ${what}${list}\n${next}${retry}`;
};
