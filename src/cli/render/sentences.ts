/** One record as a sentence for people. Pure. An unknown record type is shown by its name. */

import { commandLine } from "../../base/shell.ts";
import type { AgentEvent } from "../../protocol/agent-event.ts";
import { breakSentence } from "../../protocol/cursor.ts";
import { SESSION_HANDLE } from "../../protocol/facets.ts";
import type { ExitCause, LinePurpose, LogRecord, RecordType, StartKind } from "../../protocol/records.ts";
import {
  isUncounted,
  RESTART_BY_SUPERVISOR,
  RESTART_BY_USER,
  RESTART_NEVER_STARTED,
  RESTART_RATE_LIMITED,
  restartCause,
  type UncountedRestart,
} from "../../protocol/restart-cause.ts";
import { argumentOf } from "../../protocol/tool-arguments.ts";
import { PROGRAM_KIND } from "../../protocol/words.ts";
import { amount } from "./budgets.ts";
import { CONTROL_SENTENCES } from "./control-sentences.ts";
import { PEER_SENTENCES } from "./peer-sentences.ts";
import {
  bad,
  because,
  bySomebody,
  dim,
  good,
  type Payload,
  plain,
  quiet,
  type Sentence,
  warn,
} from "./sentence.ts";
import { neutralise, oneLine } from "./terminal.ts";
import { bytes, count, duration } from "./units.ts";

const CAUSES: Readonly<Record<ExitCause, string>> = {
  supervisor_died: "its daemon died",
  lease_lost: "its node of the cluster had no lease",
  machine_restarted: "the machine was restarted",
  out_of_memory: "killed by the kernel, out of memory",
};

const STARTS: Readonly<Record<StartKind, string>> = {
  first: "",
  after_stop: "",
  after_crash: ", after the last one died",
  after_reboot: ", after the machine was restarted",
};

const exited = (exit: Payload<"worker_exited">): Sentence => {
  const after = ` after ${duration(exit.duration_ms)}`;
  const swept =
    exit.sweep && exit.sweep.killed > 0
      ? `; ended ${count(exit.sweep.killed, "process", "processes")} that it left behind`
      : "";
  const survive =
    exit.sweep && exit.sweep.survivors.length > 0
      ? `; still alive: pid ${exit.sweep.survivors.join(", ")}`
      : "";
  const left = exit.sweep?.left_container;
  const container = left === undefined ? "" : `; its container is still there: podman rm --force ${left}`;
  const tail = `${exit.cause === undefined ? "" : `: ${CAUSES[exit.cause]}`}${swept}${survive}${container}`;
  if (exit.reason === "start_failed")
    return bad(`did not start${exit.error ? `: ${oneLine(exit.error.message)}` : ""}${tail}`);
  if (exit.reason === "unknown")
    return warn(exit.cause === undefined ? `ended, and nobody saw how${tail}` : `ended${tail}`);
  if (exit.signal !== null)
    return warn(
      `ended by ${exit.signal}${exit.signal_inferred ? " (according to its exit status; Holdfast did not send it)" : ""}${after}${tail}`,
    );
  const sentence = `exited with code ${exit.exit_code ?? "unknown"}${after}${tail}`;
  return exit.exit_code === 0 ? plain(sentence) : bad(sentence);
};

const toolName = (event: AgentEvent): string => {
  const data = event.data as { tool?: { tool_name?: unknown; kind?: unknown } } | null | undefined;
  const name = data?.tool?.tool_name ?? data?.tool?.kind;
  return typeof name === "string" ? name : (event.channel ?? "tool");
};

/** An exchange between agent and runtime that people need not see: about its session, which has its own record, or in the agent's protocol. */
const isProtocol = ({ data }: AgentEvent): boolean => {
  const { schema, protocol } = (data ?? {}) as { schema?: unknown; protocol?: unknown };
  return protocol === true || schema === SESSION_HANDLE;
};

const spoke = (event: AgentEvent): Sentence => {
  const words = event.text ?? event.message ?? "";
  switch (event.kind) {
    case "TextOutput":
      return { text: neutralise(words), tone: event.channel === "stderr" ? "warn" : "plain", spoken: true };
    case "ToolCall":
      return { text: `uses ${oneLine(toolName(event))}${words ? `: ${oneLine(words)}` : ""}`, tone: "name" };
    case "ToolResult":
      if ((event.data as { unended?: unknown } | null)?.unended === true)
        return dim(`${oneLine(toolName(event))} did not end: ${oneLine(words)}`);
      return dim(`${oneLine(toolName(event))} answered${words ? `: ${oneLine(words)}` : ""}`);
    case "Error": {
      const sentence = bad(`error: ${oneLine(words, 500) || "without a message"}`);
      // A command's only error is its exit, which has its own record.
      return event.agent_kind === PROGRAM_KIND ? quiet(sentence) : sentence;
    }
    case "Status":
      if (isProtocol(event)) return quiet(dim(oneLine(words)));
      return words ? dim(oneLine(words)) : quiet(dim("status"));
    default:
      return quiet(dim(`unknown event${words ? `: ${oneLine(words)}` : ""}`));
  }
};

const turnDone = (turn: Payload<"turn_completed">): Sentence => {
  const { usage } = turn;
  const tokens =
    usage.input_tokens + usage.output_tokens > 0
      ? `, ${count(usage.input_tokens, "token")} in and ${count(usage.output_tokens, "token")} out`
      : "";
  const reported = usage.cost_usd === null ? "" : `, $${usage.cost_usd.toFixed(4)}`;
  const cost =
    usage.estimated_usd === undefined ? reported : `${reported}, ~$${usage.estimated_usd.toFixed(4)}`;
  const took = turn.duration_ms === null ? "" : ` in ${duration(turn.duration_ms)}`;
  return turn.error
    ? bad(`turn ${turn.turn} failed${took}: ${oneLine(turn.error.message)}`)
    : dim(`turn ${turn.turn} done${took}${tokens}${cost}`);
};

const NOUNS = {
  answer: "answer to its request for permission",
  interrupt: "interrupt of its turn",
  protocol: "line of its protocol",
} as const;

/** A line of the adapter, or the answer to a permission request, is not a message. */
const messageNoun = ({ purpose, line }: { readonly purpose?: LinePurpose; readonly line?: true }): string =>
  purpose === undefined && line === undefined ? "message of" : `${NOUNS[purpose ?? "protocol"]},`;

const messageSentence = (message: Payload<"worker_message">): Sentence => {
  switch (message.state) {
    case "accepted":
      return quiet(
        dim(
          message.closes
            ? "end of its input requested"
            : `${messageNoun(message)} ${bytes(message.bytes)} accepted`,
        ),
      );
    case "delivered":
      if (message.closes) return dim("its input was closed");
      if (message.purpose === "protocol") return quiet(dim(`${NOUNS.protocol} delivered`));
      if (message.purpose !== undefined) return dim(`${NOUNS[message.purpose]} delivered`);
      return dim(
        message.acknowledges
          ? "message delivered"
          : "message delivered; its kind does not acknowledge messages",
      );
    case "acknowledged":
      if (message.closes) return quiet(dim("it has read its input to the end"));
      return dim(
        message.turn === null ? "message acknowledged" : `message acknowledged in turn ${message.turn}`,
      );
    case "undeliverable":
      return bad(`message undeliverable: ${oneLine(message.reason)}`);
    case "unknown":
      return bad(`it is unknown whether a message was read: ${oneLine(message.reason)}`);
  }
};

const limitReached = ({
  limit,
  value,
  bound,
  owner,
  unpausable,
}: Payload<"worker_limit_reached">): Sentence => {
  const of = owner === undefined ? "" : ` of ${oneLine(owner)}`;
  const ended = unpausable === true ? "; ended, because its runtime cannot pause it" : "";
  if (limit === "deadline") return warn(`its deadline has passed: ${amount(limit, bound)}`);
  return warn(
    limit === "stall"
      ? `stuck: silent for ${amount(limit, value)}, ${amount(limit, bound)} allowed`
      : `${limit.replace("_", " ")} limit${of} reached: ${amount(limit, value)} of ${amount(limit, bound)}${ended}`,
  );
};

const UNCOUNTED: Readonly<Record<UncountedRestart, string>> = {
  [RESTART_BY_USER]: "restarted by user",
  [RESTART_NEVER_STARTED]: "started again: the daemon died before the agent was started",
  supervisor_died: "started again: it died with its daemon",
  lease_lost: "started again: it had ended with the lease of its node",
  machine_restarted: "started again: the machine was restarted",
  session_lost: "started again, in a fresh session",
  answered: "started again, as the answer said",
  woken: "woken by a message",
  rate_limited: "waits until the provider's rate limit resets",
};

/** The sentence already says it. */
const STARTED_BELOW = "started by its supervisor";

const SENTENCES: { readonly [T in RecordType]: (payload: Payload<T>) => Sentence } = {
  worker_spawn_requested: ({ spec, by }) =>
    quiet(
      dim(
        `requested${bySomebody(by)}: ${spec.kind}${spec.argv.length > 0 ? ` ${oneLine(commandLine(spec.argv))}` : ""}, restart ${spec.restart}`,
      ),
    ),
  worker_queued: ({ place, priority, waits_for }) =>
    warn(
      `waits for ${waits_for === "slot" ? "a slot" : waits_for === "disk" ? "room on the disk" : "memory"}: place ${place}, priority ${priority}`,
    ),
  worker_state_changed: ({ from, to, reason }) =>
    to === "waiting" || to === "lost"
      ? warn(`${to}${because(reason)}`)
      : quiet(dim(`${from} → ${to}${because(reason)}`)),
  worker_spawned: ({ pid, runtime, argv }) =>
    plain(
      `started, ${pid === undefined ? `in runtime ${oneLine(runtime ?? "")}` : `pid ${pid}`}: ${oneLine(commandLine(argv), 80)}`,
    ),
  worker_started: () => quiet(dim("runs")),
  worker_heartbeat: ({ process, idle_ms }) => {
    const sentence = `process is ${process}, silent for ${duration(idle_ms)}`;
    return process === "running" ? quiet(dim(sentence)) : warn(sentence);
  },
  worker_cancel_requested: ({ by, reason, grace_ms, signal }) =>
    warn(
      `stop requested by ${oneLine(by)}${because(reason === "killed" ? undefined : reason)}: ${signal}, then KILL after ${duration(grace_ms)}`,
    ),
  worker_signal_sent: ({ signal, pids }) =>
    dim(
      `sent ${signal} to ${pids.length === 1 ? `pid ${pids[0]}` : count(pids.length, "process", "processes")}`,
    ),
  worker_exited: exited,
  worker_completed: () => good("completed"),
  worker_failed: ({ error }) => bad(`failed: ${oneLine(error.message, 500)}`),
  worker_cancelled: ({ error }) => warn(`cancelled: ${oneLine(error.message, 500)}`),
  worker_restart_scheduled: (payload) => {
    const { delay_ms, restarts_in_window, max_restarts, period_ms, reason, note } = payload;
    const cause = restartCause(payload);
    if (isUncounted(cause))
      return warn(
        `${UNCOUNTED[cause]}${cause === RESTART_RATE_LIMITED ? `, ${duration(delay_ms)}` : ""}${because(note)}`,
      );
    return warn(
      cause === RESTART_BY_SUPERVISOR
        ? `started again by its supervisor${because(reason === STARTED_BELOW ? undefined : reason)}`
        : `restart ${restarts_in_window} of at most ${max_restarts} in ${duration(period_ms)}; it starts after ${duration(delay_ms)}`,
    );
  },
  worker_ended: ({ state, reason }) =>
    state === "parked" ? bad(`parked${because(reason)}`) : quiet(dim(`stays ${state}${because(reason)}`)),
  worker_ready: ({ condition, after_ms }) =>
    good(`ready after ${duration(after_ms)} (${condition.replace(/_ms$/, "").replaceAll("_", " ")})`),
  worker_spec_changed: ({ fields }) => plain(`spec changes at its next start: ${fields.join(", ")}`),
  worker_workspace_assigned: ({ path, branch, base_commit }) =>
    plain(`worktree ${oneLine(path)}, branch ${oneLine(branch)} at ${base_commit.slice(0, 12)}`),
  supervisor_escalated: ({ supervisor, child, action, max_restarts, period_ms }) =>
    bad(
      `${child === undefined ? "supervisor" : oneLine(supervisor)} gave up${child === undefined ? "" : ` on ${oneLine(child)}`}: ${count(max_restarts, "restart")} in ${duration(period_ms)} ${max_restarts === 1 ? "was" : "were"} not enough${action === "park" ? "; parked" : ""}`,
    ),
  tree_applied: ({ tree, file, by }) =>
    plain(`tree ${oneLine(tree)} applied from ${oneLine(file)}, by ${oneLine(by)}`),
  tree_removed: ({ tree, by }) => warn(`tree ${oneLine(tree)} was taken down by ${oneLine(by)}`),
  supervisor_state_changed: ({ supervisor, to, reason, operation }) => {
    const { stage, scope = [], anew = scope } = operation ?? {};
    const names = stage === "stopping" ? anew : scope;
    const about = names.length === 0 ? "" : `: ${stage} ${names.map((name) => oneLine(name)).join(", ")}`;
    const sentence = `${oneLine(supervisor)} ${to.replaceAll("_", " ")}${about}${because(reason)}`;
    return to === "terminated" || to === "parked" ? bad(sentence) : plain(sentence);
  },
  supervisor_restart_scheduled: ({
    supervisor,
    child,
    scope,
    delay_ms,
    restarts_in_window,
    max_restarts,
    period_ms,
    reason,
  }) =>
    warn(
      `${oneLine(supervisor)}: ${oneLine(child)} failed${because(reason)}: restart ${restarts_in_window} of at most ${max_restarts} in ${duration(period_ms)} of ${scope.map((name) => oneLine(name)).join(", ")}; it starts after ${duration(delay_ms)}`,
    ),
  supervisor_asked: ({ supervisor, what, by, reason }) =>
    warn(`${what} of ${oneLine(supervisor)} requested by ${oneLine(by)}${because(reason)}`),
  worker_adopted: ({ agent }) =>
    good(agent ? `taken over from an earlier daemon, pid ${agent.pid}` : "taken over from an earlier daemon"),
  worker_stalled: ({ idle_ms, bound_ms }) =>
    warn(`silent for ${duration(idle_ms)}, no tool running; ${duration(bound_ms)} allowed`),
  worker_question: (asked) =>
    warn(
      asked.about === "budget"
        ? `the budget of ${oneLine(asked.owner)} is spent: ${amount(asked.limit, asked.value)} of ${amount(asked.limit, asked.bound)} (${asked.limit.replace("_", " ")}). All workers in it are paused: agent answer ${oneLine(asked.owner)} ${asked.answers.join("|")}`
        : asked.about === "interrupted"
          ? `its turn was interrupted${asked.tools.length === 0 ? "" : ` while ${asked.tools.map((tool) => oneLine(tool)).join(", ")} ran, which may run again`}: agent answer ID ${asked.answers.join("|")}`
          : `stuck? silent for ${duration(asked.idle_ms)}. Answer within ${duration(asked.answer_within_ms)}: agent answer ID ${asked.answers.join("|")}`,
    ),
  spawn_decided: ({ accepted, spawned, denied, by }) => {
    const group = `${count(spawned.length + denied.length, "agent")} asked for by ${oneLine(by)}`;
    return accepted ? plain(`${group}: all start`) : warn(`${group}: none starts`);
  },
  worker_renamed: ({ name, before, by }) =>
    dim(
      `called ${oneLine(name)}${before === null ? "" : ` and no longer ${oneLine(before)}`}, by ${oneLine(by)}`,
    ),
  worker_archived: ({ undone, by }) => dim(`${undone ? "listed again" : "archived"}, by ${oneLine(by)}`),
  worker_pruned: ({ freed_bytes, worktree, by }) =>
    dim(
      `its run directory${worktree ? " and worktree are" : " is"} removed, ${bytes(freed_bytes)}, by ${oneLine(by)}`,
    ),
  worker_paused: ({ reason, detail, by }) => warn(`paused${bySomebody(by)}${because(detail || reason)}`),
  worker_unpaused: ({ by, reason }) => good(`continues, by ${oneLine(by)}${because(reason)}`),
  worker_answered: ({ answer, by }) => plain(`answered by ${oneLine(by)}: ${answer}`),
  worker_question_withdrawn: ({ reason }) =>
    good(`${reason === "raised" ? "it may spend more" : "continues by itself"}; the question is withdrawn`),
  worker_limit_reached: limitReached,
  worker_log_chunk: ({ stream, reason, bytes: size, limit_bytes }) =>
    warn(
      reason === "line_too_long"
        ? `a line of ${stream} with ${bytes(size)} is not kept: the limit is ${bytes(limit_bytes)}`
        : reason === "stopped"
          ? `${bytes(size)} of ${stream} were not read before the stop and are not in the log; agent logs --raw has them`
          : reason === "released"
            ? `${bytes(size)} of ${stream} were lost when an older copy replaced the log`
            : `${stream} has lost its last ${bytes(size)}, which had already been read: the machine went down`,
    ),
  worker_message: (message) => messageSentence(message),
  approval_requested: ({ approval_id, tool, title, input }) =>
    warn(
      `asks to use ${oneLine(tool ?? "a tool")}${because(argumentOf(input) ?? title)}: agent approvals approve|deny ${approval_id}`,
    ),
  approval_answered: ({ decision, by, message }) =>
    (decision === "allow" ? good : warn)(
      `${decision === "allow" ? "allowed" : "denied"} by ${oneLine(by)}${because(message ?? "")}`,
    ),
  approval_withdrawn: () => dim("withdrew its request for permission"),
  ...PEER_SENTENCES,
  ...CONTROL_SENTENCES,
  session_started: ({ session_id }) => dim(`session ${oneLine(session_id)}`),
  session_abandoned: ({ session_id, reason }) =>
    warn(`does not continue session ${oneLine(session_id)}${because(reason)}`),
  session_conflict: ({ session_id, holder }) =>
    bad(`worker ${oneLine(holder)} already uses session ${oneLine(session_id)}: ended at once`),
  turn_started: ({ turn }) => quiet(dim(`turn ${turn}`)),
  turn_completed: turnDone,
  "agent.event": spoke,
  daemon_started: ({ version, pid, start }) => {
    const sentence = `started, version ${version}, pid ${pid}${STARTS[start]}`;
    return start === "after_crash" ? warn(sentence) : dim(sentence);
  },
  run_orphaned: ({ worker_id, incarnation, pids, why }) =>
    warn(
      `run ${oneLine(worker_id)}.${incarnation}, ${why === "ended" ? "which has ended" : "which has no record"}, still had ${count(pids.length, "process", "processes")}: ended`,
    ),
  worker_run_finding: ({ file, detail }) =>
    warn(`its run directory was tampered with: ${oneLine(file)} is not used, because ${oneLine(detail)}`),
  log_gap: ({ records, archive, from_seq, to_seq }) =>
    dim(
      `${count(records, "record")} of output ${records === 1 ? "was" : "were"} ${archive === null ? "removed by retention, without an archive" : `moved by retention to archive/${archive}: agent db export --from ${from_seq} --to ${to_seq}`}`,
    ),
  log_epoch_began: (broken) => warn(breakSentence(broken)),
  daemon_resumed: ({ kind, gap_ms }) =>
    warn(
      kind === "suspended"
        ? `the machine slept for ${duration(gap_ms)}; all clocks start over`
        : `was stopped for ${duration(gap_ms)}; all clocks start over`,
    ),
  skill_connection: ({ decision, reason }) => (decision === "allowed" ? dim : bad)(oneLine(reason)),
  skill_denied: ({ skill, reason }) => bad(`${skill} was refused: ${oneLine(reason)}`),
  daemon_defect: ({ where, error }) => bad(`a defect was contained: ${oneLine(where)} (${oneLine(error)})`),
  daemon_stopped: ({ reason, by }) => dim(`stopped${bySomebody(by)}${because(reason)}`),
};

export const RECORD_TYPES: readonly string[] = Object.keys(SENTENCES);

/** Whether the record is shown without --verbose. */
export const isShown = (record: LogRecord): boolean => sentenceOf(record).quiet !== true;

export const sentenceOf = (record: LogRecord): Sentence => {
  const say = (SENTENCES as Record<string, ((payload: never) => Sentence) | undefined>)[record.type];
  return say ? say(record.payload as never) : dim(String(record.type));
};
