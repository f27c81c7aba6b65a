/**
 * The history checker (docs/explanation/chaos.md): what clients were told, what the log says and what lives at the end must agree.
 * Pure: a history in, a sentence for each disagreement out. It knows nothing of the supervisor's own code.
 */
import type { LogRecord, MessageStep, RecordType } from "../../src/protocol/records.ts";
import {
  isUncounted,
  RESTART_BY_USER,
  RESTART_ENDED,
  restartCause,
} from "../../src/protocol/restart-cause.ts";

/** A request that was answered with success. A request that was not answered may have happened, or not. */
export type Acknowledged =
  | { readonly what: "send"; readonly worker_id: string; readonly message_id: string }
  | { readonly what: "spawn" | "kill" | "restart"; readonly worker_id: string }
  | { readonly what: "apply" | "down"; readonly tree: string };

/** The process of an incarnation, as the test found it in the process table by the identity on record. */
export interface Found {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly alive: boolean;
}

export interface History {
  /** The whole log, in the order in which it was read. */
  readonly records: readonly LogRecord[];
  readonly acknowledged: readonly Acknowledged[];
  /** Workers whose agents print 1, 2, 3 and so on from the first line of each incarnation; other words may follow a number line. */
  readonly counting: readonly string[];
  /** Those of them that were told to stop, and has said `counted N` last. */
  readonly counted: readonly string[];
  /** At the end: every incarnation that has a process on record. */
  readonly found: readonly Found[];
  /** Whether all workers have ended: each message has its last word then. */
  readonly isOver?: boolean;
  /** At the end: whether any process holds a canary of agents that are all over. */
  readonly held: readonly string[];
  /** A history in which nothing happened proves nothing. */
  readonly minimum: {
    readonly records: number;
    readonly acknowledged: number;
    readonly ends: number;
    readonly lines: number;
  };
}

export const checkHistory = (history: History): readonly string[] => [
  ...minimumOfWork(history),
  ...denseSeqs(history),
  ...denseVersions(history),
  ...incarnations(history),
  ...windows(history),
  ...acknowledgements(history),
  ...numbers(history),
  ...tombstones(history),
  ...messages(history),
  ...pauses(history),
  ...standing(history),
];

const TERMINALS: readonly RecordType[] = ["worker_completed", "worker_failed", "worker_cancelled"];

/** Records that only a process, or the care for one, makes. */
const OF_A_PROCESS: readonly RecordType[] = [
  "worker_spawned",
  "worker_started",
  "worker_ready",
  "worker_adopted",
  "worker_heartbeat",
  "worker_stalled",
  "worker_question",
  "worker_limit_reached",
  "worker_log_chunk",
  "session_started",
  "turn_started",
  "turn_completed",
  "agent.event",
];

const minimumOfWork = ({ records, acknowledged, counting, minimum }: History): readonly string[] => {
  const done = {
    records: records.reduce(
      (sum, record) => sum + (record.type === "log_gap" ? record.payload.records : 1),
      0,
    ),
    acknowledged: acknowledged.length,
    ends: records.filter(({ type }) => type === "worker_exited").length,
    lines: records.filter((record) => counting.includes(record.worker_id ?? "") && textOf(record) !== "")
      .length,
  };
  return (Object.keys(done) as (keyof typeof done)[])
    .filter((what) => done[what] < minimum[what])
    .map((what) => `too little happened: ${done[what]} ${what}, at least ${minimum[what]} are asked for`);
};

/** Rising, and what is not there lies in a gap that tells of as many. */
const denseSeqs = ({ records }: History): readonly string[] => {
  const gaps: { readonly to_seq: number; left: number }[] = [];
  let next = 1;
  for (const record of records) {
    for (; next < record.seq; next += 1) {
      const gap = gaps.find(({ to_seq, left }) => next <= to_seq && left > 0);
      if (gap === undefined) return [`after record ${next - 1} of the log comes ${record.seq}`];
      gap.left -= 1;
    }
    if (record.seq < next) return [`after record ${next - 1} of the log comes ${record.seq}`];
    next += 1;
    if (record.type === "log_gap")
      gaps.push({ to_seq: record.payload.to_seq, left: record.payload.records - 1 });
    gaps.sort((a, b) => a.to_seq - b.to_seq);
  }
  return gaps
    .filter(({ left }) => left > 0)
    .map(({ to_seq, left }) => `a gap up to ${to_seq} tells of ${left} more than are missing`);
};

const denseVersions = ({ records }: History): readonly string[] => {
  const newest = new Map<string, number>();
  const findings: string[] = [];
  for (const record of records) {
    const { stream, version } = record;
    const before = newest.get(stream) ?? 0;
    if (version !== before + 1) findings.push(`${stream} has version ${version} after ${before}`);
    newest.set(stream, record.type === "log_gap" ? record.payload.to_version : version);
  }
  return findings;
};

interface Life {
  exits: number;
  terminals: number;
}

/** One exit, then one terminal record, for each incarnation that is over; nothing of its process after that; none before the last one's end. */
const incarnations = ({ records }: History): readonly string[] => {
  const findings: string[] = [];
  const lives = new Map<string, Life & { incarnation: number }>();
  for (const record of records) {
    const { worker_id, incarnation = 0, type } = record;
    if (worker_id === undefined) continue;
    const life = lives.get(worker_id) ?? { incarnation: 0, exits: 0, terminals: 0 };
    lives.set(worker_id, life);
    const what = `${worker_id}/${incarnation}`;
    if (type === "worker_state_changed" && record.payload.to === "starting") {
      if (life.incarnation > 0 && life.terminals === 0)
        findings.push(`${what} began before ${life.incarnation} had a terminal record`);
      else if (incarnation !== life.incarnation + 1) findings.push(`${what} began after ${life.incarnation}`);
      Object.assign(life, { incarnation, exits: 0, terminals: 0 });
      continue;
    }
    if (OF_A_PROCESS.includes(type)) {
      if (incarnation > 0 && incarnation !== life.incarnation)
        findings.push(`${type} of ${what}, while ${life.incarnation} is the newest`);
      else if (life.terminals > 0) findings.push(`${type} of ${what} after its terminal record`);
    }
    if (type === "worker_exited") {
      life.exits += 1;
      if (life.exits > 1) findings.push(`${what} has ${life.exits} exits`);
    }
    if (!TERMINALS.includes(type)) continue;
    life.terminals += 1;
    if (life.terminals > 1) findings.push(`${what} has ${life.terminals} terminal records`);
    if (life.exits === 0) findings.push(`${what} has a terminal record and no exit`);
  }
  for (const [id, { incarnation, exits, terminals }] of lives)
    if (exits > 0 && terminals === 0)
      findings.push(`${id}/${incarnation} has an exit and no terminal record`);
  return findings;
};

interface Restart {
  readonly at_ms: number;
  readonly boot_id: string;
}

/** In any window of a worker's or supervisor's period no more restarts than its intensity. */
const windows = ({ records }: History): readonly string[] => {
  const restarts = new Map<string, Restart[]>();
  const findings: string[] = [];
  // A worker of a file is counted by its supervisor.
  const ownWindows = new Set<string>();
  const supervisorOf = new Map<string, string>();
  for (const record of records) {
    if (record.type === "worker_spawn_requested") {
      const { supervisor } = record.payload.spec;
      if (supervisor === "root") ownWindows.add(record.worker_id ?? "");
      else supervisorOf.set(record.worker_id ?? "", supervisor);
    }
    // A supervisor that gave up, or was started by name, begins with an empty window.
    if (
      record.type === "supervisor_state_changed" &&
      ["terminated", "pending", "parked"].includes(record.payload.to)
    )
      restarts.delete(record.payload.supervisor);
    if (record.type === "supervisor_asked" && record.payload.what === "restart")
      restarts.delete(record.payload.supervisor);
    if (record.type === "tree_removed")
      for (const who of restarts.keys()) if (!ownWindows.has(who)) restarts.delete(who);
    if (record.type !== "worker_restart_scheduled" && record.type !== "supervisor_restart_scheduled")
      continue;
    const { clock, max_restarts, period_ms } = record.payload;
    if (record.type === "worker_restart_scheduled") {
      const id = record.worker_id ?? "";
      const cause = restartCause(record.payload);
      // A start by name begins with an empty window; in a supervisor's, what it has counted of this child counts no more.
      if (cause === RESTART_BY_USER) restarts.delete(supervisorOf.get(id) ?? id);
      if (!ownWindows.has(id) || cause !== RESTART_ENDED) continue;
    }
    const who =
      record.type === "supervisor_restart_scheduled" ? record.payload.supervisor : (record.worker_id ?? "");
    const at_ms = Number(BigInt(clock.mono_ns) / 1_000_000n);
    const kept = (restarts.get(who) ?? []).filter(
      (one) => one.boot_id === clock.boot_id && at_ms - one.at_ms <= period_ms,
    );
    kept.push({ at_ms, boot_id: clock.boot_id });
    restarts.set(who, kept);
    if (kept.length > max_restarts)
      findings.push(
        `${who} was restarted ${kept.length} times in ${period_ms} ms, ${max_restarts} are allowed`,
      );
  }
  return findings;
};

/** Records that each acknowledgement must have left in the log. */
const acknowledgements = ({ records, acknowledged }: History): readonly string[] => {
  const ofWorkers = new Map<string, LogRecord[]>();
  for (const record of records) {
    if (record.worker_id === undefined || record.type === "agent.event") continue;
    const known = ofWorkers.get(record.worker_id);
    if (known === undefined) ofWorkers.set(record.worker_id, [record]);
    else known.push(record);
  }
  const has = (id: string, is: (record: LogRecord) => boolean) => ofWorkers.get(id)?.some(is) === true;
  const isOnRecord = (one: Acknowledged): boolean => {
    switch (one.what) {
      case "send":
        return has(
          one.worker_id,
          (record) => record.type === "worker_message" && record.payload.message_id === one.message_id,
        );
      case "spawn":
        return has(one.worker_id, ({ type }) => type === "worker_spawn_requested");
      case "kill":
        return has(
          one.worker_id,
          (record) => record.type === "worker_cancel_requested" && record.payload.tombstone,
        );
      case "restart":
        return has(
          one.worker_id,
          (record) =>
            (record.type === "worker_cancel_requested" && !record.payload.tombstone) ||
            (record.type === "worker_restart_scheduled" && isUncounted(restartCause(record.payload))),
        );
      case "apply":
        return records.some((record) => record.type === "tree_applied" && record.payload.tree === one.tree);
      case "down":
        return records.some((record) => record.type === "tree_removed" && record.payload.tree === one.tree);
    }
  };
  return acknowledged
    .filter((one) => !isOnRecord(one))
    .map(
      (one) =>
        `${one.what} of ${"tree" in one ? one.tree : one.worker_id} was acknowledged and is not in the log`,
    );
};

const textOf = (record: LogRecord): string =>
  record.type === "agent.event" && record.payload.kind === "TextOutput"
    ? String(record.payload.text ?? "")
    : "";

/** Stands for what retention has removed. */
const REMOVED = "\0";

/** 1, 2, 3 and so on, whatever was killed, for every reader. */
const numbers = ({ records, counting, counted }: History): readonly string[] => {
  const texts = new Map<string, string[]>();
  const wanted = new Set(counting);
  for (const record of records) {
    if (!wanted.has(record.worker_id ?? "")) continue;
    const text = record.type === "log_gap" ? REMOVED : textOf(record);
    if (text === "") continue;
    const key = `${record.worker_id}/${record.incarnation}`;
    const known = texts.get(key);
    if (known === undefined) texts.set(key, [text]);
    else known.push(text);
  }
  const wrong = [...texts].flatMap(([key, parts]) => {
    const findings: string[] = [];
    for (const [nth, stretch] of parts.join("").split(REMOVED).entries()) {
      // A line right after a gap may be the rest of a line.
      const lines = stretch.split("\n").slice(nth === 0 ? 0 : 1);
      const found = lines.filter((line) => /^\d+$/.test(line));
      const first = nth === 0 ? 1 : Number(found[0]);
      const at = found.findIndex((line, index) => line !== String(first + index));
      if (at !== -1) findings.push(`${key} has line ${found[at]} where ${first + at} belongs`);
    }
    return findings;
  });
  const cut = counted.flatMap((id) => {
    const lines = (texts.get(`${id}/1`) ?? []).join("").split("\n");
    return lines.at(-2) === `counted ${lines.length - 2}`
      ? []
      : [`${id} counted to its end, and the end is missing`];
  });
  return [...wrong, ...cut];
};

/** A worker that was killed by name begins by nothing but its name. */
const tombstones = ({ records }: History): readonly string[] => {
  const buried = new Set<string>();
  const findings: string[] = [];
  for (const record of records) {
    const id = record.worker_id ?? "";
    if (record.type === "worker_cancel_requested" && record.payload.tombstone) buried.add(id);
    if (record.type === "worker_restart_scheduled" && restartCause(record.payload) === "user")
      buried.delete(id);
    if (record.type === "worker_state_changed" && record.payload.to === "starting" && buried.has(id))
      findings.push(`${id}/${record.incarnation} began although it was killed`);
  }
  return findings;
};

/** A run that is not over has a live process; one that is over, or was killed with its canary, has none. */
const standing = ({ records, found, held }: History): readonly string[] => {
  const over = new Set(
    records
      .filter(({ type }) => type === "worker_exited")
      .map(({ worker_id, incarnation }) => `${worker_id}/${incarnation}`),
  );
  const known = new Set(found.map(({ worker_id, incarnation }) => `${worker_id}/${incarnation}`));
  const spawned = new Set(
    records
      .filter(({ type }) => type === "worker_spawned")
      .map(({ worker_id, incarnation }) => `${worker_id}/${incarnation}`),
  );
  return [
    ...found.flatMap(({ worker_id, incarnation, alive }) => {
      const key = `${worker_id}/${incarnation}`;
      if (alive && over.has(key)) return [`${key} is over and its process lives`];
      if (!alive && !over.has(key)) return [`${key} runs by the log and its process is gone`];
      return [];
    }),
    ...[...spawned].filter((key) => !known.has(key)).map((key) => `nobody looked for the process of ${key}`),
    ...held.map((canary) => `somebody holds ${canary}, whose agents are all over`),
  ];
};

const LAST_WORDS: readonly string[] = ["acknowledged", "undeliverable", "unknown"];

/** A line of the agent's protocol is answered by nobody: that it is in the agent's input is all there is to know. */
const isLast = (step: MessageStep): boolean =>
  LAST_WORDS.includes(step.state) || (step.state === "delivered" && step.acknowledges === false);

/** The prompt of a conversation that ended before its agent took it in, and was restarted by name. */
const isPromptAgain = ({ id }: LogRecord): boolean => /^message:\w+:prompt:\d+$/.test(id);

/** Accepted once and first; handed once to an incarnation, and to none after its last word, which is one. */
const messages = ({ records, isOver = false }: History): readonly string[] => {
  const steps = new Map<
    string,
    { readonly state: string; readonly isLast: boolean; readonly incarnation: number }[]
  >();
  const findings: string[] = [];
  for (const record of records) {
    if (record.type !== "worker_message") continue;
    const { message_id, state } = record.payload;
    const { incarnation = 0 } = record;
    const all = steps.get(message_id) ?? [];
    const isNew = isPromptAgain(record) && ["undeliverable", "unknown"].includes(all.at(-1)?.state ?? "");
    const before = isNew ? [] : all;
    const says = (what: string) => findings.push(`message ${message_id} is ${state} ${what}`);
    if ((state === "accepted") !== (before.length === 0)) says(`after ${before.length} steps`);
    if (before.some((step) => step.isLast)) says("after its last word");
    if (
      state === "delivered" &&
      before.some((step) => step.state === state && step.incarnation === incarnation)
    )
      says(`twice to incarnation ${incarnation}`);
    if (state === "acknowledged" && before.every((step) => step.state !== "delivered"))
      says("and was not delivered");
    steps.set(message_id, [...before, { state, isLast: isLast(record.payload), incarnation }]);
  }
  const open = [...steps].filter(([, all]) => all.at(-1)?.isLast !== true);
  return [...findings, ...(isOver ? open.map(([id]) => `message ${id} has no last word`) : [])];
};

/** A reason to stand still is there once, and what is lifted was there. */
const pauses = ({ records }: History): readonly string[] => {
  const reasons = new Map<string, Set<string>>();
  return records.flatMap((record) => {
    const id = record.worker_id ?? "";
    const held = reasons.get(id) ?? new Set();
    reasons.set(id, held);
    switch (record.type) {
      case "worker_paused":
        if (held.has(record.payload.reason)) return [`${id} was paused twice by ${record.payload.reason}`];
        held.add(record.payload.reason);
        return [];
      case "worker_unpaused":
        return held.delete(record.payload.reason)
          ? []
          : [`${id} goes on, and was not paused by ${record.payload.reason}`];
      // A stop, and an end, lift all without a word.
      case "worker_cancel_requested":
      case "worker_exited":
        held.clear();
        return [];
      default:
        return [];
    }
  });
};
