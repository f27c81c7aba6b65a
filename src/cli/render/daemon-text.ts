/** The output of the daemon's commands as text for people. */
import type { Replies } from "../../daemon/replies.ts";
import { CONFIGURATION_CHANGED } from "../../protocol/configuration-changed.ts";
import type { InstallReply, UpgradeReply } from "../reports.ts";
import { diskWords } from "./limits.ts";
import { age, pairs } from "./pairs.ts";
import { runtimesWords, troublesOf } from "./runtimes.ts";
import { oneLine } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { bytes, count, duration } from "./units.ts";

const TROUBLE_SHOWN_CHARS = 500;

export const status: TextOf<Replies["daemon/status"]> = (daemon, { paint, now }) =>
  pairs(paint, [
    [
      "daemon",
      `${paint("good", "running")}, version ${daemon.version}, pid ${daemon.pid}, up ${age(daemon.started_at, now)}`,
    ],
    [
      "workers",
      `${daemon.workers.live} running, ${daemon.workers.total} in all${daemon.workers.polled > 0 ? `; ${daemon.workers.polled} read on a timer (no inotify watches left)` : ""}`,
    ],
    // A daemon of an earlier version does not report this.
    ["runtimes", daemon.runtimes && runtimesWords(daemon.runtimes)],
    ...troublesOf(daemon.runtimes).map(({ since, message, suggestion }): [string, string] => [
      "down",
      paint(
        "bad",
        `${oneLine(message, TROUBLE_SHOWN_CHARS)} For ${age(since, now)}. ${oneLine(suggestion, TROUBLE_SHOWN_CHARS)}`,
      ),
    ]),
    ["log", count(daemon.head, "record")],
    ["log error", daemon.store_error && paint("bad", oneLine(daemon.store_error.message, 300))],
    // A daemon of an earlier version does not report this.
    ["disk", daemon.disk && diskWords(daemon.disk)],
    ["memory", `${bytes(daemon.rss_bytes)}, heap ${bytes(daemon.heap_bytes)}`],
    [
      "loop lag",
      daemon.loop_lag_ms &&
        `p50 ${daemon.loop_lag_ms.p50}ms, p99 ${daemon.loop_lag_ms.p99}ms, max ${daemon.loop_lag_ms.max}ms`,
    ],
    [
      "stalls",
      daemon.health?.stalls.count
        ? paint(
            "warn",
            `${count(daemon.health.stalls.count, "time")}, at most ${duration(daemon.health.stalls.longest_ms)}`,
          )
        : undefined,
    ],
    [
      "defects",
      daemon.defects?.newest &&
        `${paint("warn", `${daemon.defects.count} contained`)}, the newest ${age(daemon.defects.newest.at, now)} ago: ${oneLine(daemon.defects.newest.where)} (${daemon.defects.newest.error})`,
    ],
    ["config", daemon.configuration_changed ? paint("warn", CONFIGURATION_CHANGED) : undefined],
    [
      "callers",
      daemon.callers?.from === "claims"
        ? paint("warn", `not verified: ${oneLine(daemon.callers.reason ?? "")}`)
        : undefined,
    ],
    ["http", daemon.http && (daemon.http.url ?? paint("bad", oneLine(daemon.http.trouble ?? "", 300)))],
    ["telemetry", daemon.telemetry && telemetryLine(daemon.telemetry, paint)],
    ["served by", daemon.served_by === "program" ? `a program, pid ${daemon.pid}` : undefined],
    ["state", daemon.state_dir],
    ["socket", daemon.socket],
    ["node", daemon.node],
  ]);

export const started: TextOf<Replies["daemon/status"] & { readonly effect: string }> = ({
  effect,
  pid,
  state_dir,
}) =>
  effect === "noop"
    ? `The daemon runs already, pid ${pid}.`
    : `The daemon runs, pid ${pid}, state in ${state_dir}.`;

interface StopSummary {
  readonly agents: Replies["daemon/stop"]["agents"] | "refuse";
  readonly live: number;
  readonly effect: string;
}

export const stopped: TextOf<StopSummary> = ({ agents, live, effect }) => {
  if (effect === "noop") return "No daemon runs.";
  if (effect === "would_delete") {
    if (live === 0) return "It would stop the daemon.";
    if (agents === "refuse") return `It would refuse: ${count(live, "worker")} still run.`;
    return `It would stop the daemon and ${agents === "keep" ? "leave" : "end"} ${count(live, "worker")}.`;
  }
  if (live === 0) return "The daemon has stopped.";
  const workers = count(live, "worker");
  return agents === "keep"
    ? `The daemon has stopped; ${workers} left running for the next one: agent daemon start`
    : `The daemon has stopped, and ${workers} before it.`;
};

export const upgraded: TextOf<UpgradeReply> = ({ from, to, pid, workers, gap_ms, effect }) =>
  effect === "noop"
    ? `The daemon is version ${to} already, pid ${pid}.`
    : `Version ${to} has taken over from ${from}, pid ${pid}, with ${count(workers, "worker")}; no daemon answered for ${duration(gap_ms)}.`;

const DONE = {
  created: "Written",
  updated: "Rewritten",
  deleted: "Removed",
  noop: "Nothing to do",
} as const;

export const installed: TextOf<InstallReply> = ({ path, text, commands, ran, effect }) => {
  if (effect === "would_create" || effect === "would_update") return `# ${path}\n${text.trimEnd()}`;
  if (effect === "would_delete") return `Would remove ${path}.`;
  const did = `${DONE[effect]}: ${path}`;
  if (commands.length === 0) return did;
  return ran ? `${did}\nRan: ${commands.join(" && ")}` : `${did}\nNow run: ${commands.join(" && ")}`;
};

const telemetryLine = (
  { endpoint, spans_sent, spans_dropped, failing }: NonNullable<Replies["daemon/status"]["telemetry"]>,
  paint: (style: "warn" | "bad", text: string) => string,
): string => {
  const dropped = spans_dropped === 0 ? "" : `, ${paint("warn", `${spans_dropped} dropped`)}`;
  if (failing !== null) return `${paint("bad", oneLine(failing, 300))}${dropped}`;
  return `${endpoint}, ${spans_sent} spans sent${dropped}`;
};
