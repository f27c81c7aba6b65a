/** The history checker is proved by planted faults: each doctored history gives exactly its finding, a sound one none. */
import { describe, expect, it } from "vitest";
import type { LogRecord } from "../../src/protocol/records.ts";
import { checkHistory, type History } from "./history.ts";

type Draft = Record<string, unknown> & { type: string; stream: string; payload: object };

const clock = (ms: number) => ({ boot_id: "boot", mono_ns: `${ms}000000` });
const of = (id: string, incarnation: number, type: string, payload: object = {}): Draft => ({
  type,
  stream: `worker:${id}`,
  worker_id: id,
  incarnation,
  payload,
});
const begin = (id: string, n: number): Draft => of(id, n, "worker_state_changed", { to: "starting" });
const spawned = (id: string, n: number): Draft => of(id, n, "worker_spawned");
const line = (id: string, n: number, text: string): Draft =>
  of(id, n, "agent.event", { kind: "TextOutput", text });
const exited = (id: string, n: number): Draft => of(id, n, "worker_exited");
const failed = (id: string, n: number): Draft => of(id, n, "worker_failed");
const again = (id: string, n: number, ms: number, reason = "it failed"): Draft =>
  of(id, n, "worker_restart_scheduled", {
    reason,
    clock: clock(ms),
    max_restarts: 1,
    period_ms: 100,
    restarts_in_window: reason === "user" ? 0 : 1,
  });
const killed = (id: string, n: number): Draft => of(id, n, "worker_cancel_requested", { tombstone: true });

const said = (state: string): Draft => of("A", 2, "worker_message", { message_id: "m", state });
const paused = of("A", 2, "worker_paused", { reason: "operator" });
const unpaused = of("A", 2, "worker_unpaused", { reason: "operator" });

/** As the log would number them. */
const logOf = (drafts: readonly Draft[]): LogRecord[] => {
  const versions = new Map<string, number>();
  return drafts.map((draft, index) => {
    const version = (versions.get(draft.stream) ?? 0) + 1;
    versions.set(draft.stream, version);
    return { ...draft, seq: index + 1, version, id: `r${index}` } as unknown as LogRecord;
  });
};

/** A counts and is killed by a crash once; B is killed by name; a tree comes and goes. */
const SOUND: readonly Draft[] = [
  { ...of("A", 0, "worker_spawn_requested", { spec: { supervisor: "root" } }), incarnation: undefined },
  begin("A", 1),
  spawned("A", 1),
  line("A", 1, "1\n2\n"),
  line("A", 1, "3\n"),
  exited("A", 1),
  failed("A", 1),
  again("A", 1, 1_000),
  begin("A", 2),
  spawned("A", 2),
  line("A", 2, "1\n"),
  { ...of("B", 0, "worker_spawn_requested", { spec: { supervisor: "root" } }), incarnation: undefined },
  begin("B", 1),
  spawned("B", 1),
  killed("B", 1),
  exited("B", 1),
  of("B", 1, "worker_cancelled"),
  of("B", 1, "worker_ended"),
  { type: "tree_applied", stream: "tree:shop", payload: { tree: "shop" } },
];

const history = (drafts: readonly Draft[] = SOUND, over: Partial<History> = {}): History => ({
  records: logOf(drafts),
  acknowledged: [
    { what: "spawn", worker_id: "A" },
    { what: "spawn", worker_id: "B" },
    { what: "kill", worker_id: "B" },
    { what: "apply", tree: "shop" },
  ],
  counting: ["A"],
  counted: [],
  found: [
    { worker_id: "A", incarnation: 1, alive: false },
    { worker_id: "A", incarnation: 2, alive: true },
    { worker_id: "B", incarnation: 1, alive: false },
  ],
  held: [],
  minimum: { records: 10, acknowledged: 4, ends: 2, lines: 3 },
  ...over,
});

const without = (index: number) => SOUND.filter((_, at) => at !== index);
const inserted = (index: number, ...more: readonly Draft[]) => [
  ...SOUND.slice(0, index + 1),
  ...more,
  ...SOUND.slice(index + 1),
];
const replaced = (index: number, draft: Draft) => SOUND.map((one, at) => (at === index ? draft : one));
const renumbered = (index: number, change: Partial<LogRecord>): History => {
  const sound = history();
  return {
    ...sound,
    records: sound.records.map((one, at) => (at === index ? ({ ...one, ...change } as LogRecord) : one)),
  };
};

const WITH_A_TALK: readonly Draft[] = [
  ...SOUND,
  paused,
  said("accepted"),
  unpaused,
  said("delivered"),
  said("acknowledged"),
];

/** Both of A's first output records are removed, and a gap in their place tells of so many. */
const withGap = (count: number): History => {
  const sound = history(SOUND, { minimum: { records: 10, acknowledged: 4, ends: 2, lines: 1 } });
  const records = logOf(SOUND).filter((_, at) => at !== 4);
  const first = records[3] as LogRecord;
  const payload = { from_seq: 4, to_seq: 5, to_version: first.version + 1, records: count };
  records[3] = { ...first, type: "log_gap", payload } as unknown as LogRecord;
  return { ...sound, records };
};

describe("the history checker", () => {
  it("finds nothing in a sound history", () => {
    expect(checkHistory(history())).toEqual([]);
  });

  it("takes a gap that tells of what is missing, a pause that is lifted, and a message to its last word", () => {
    expect(checkHistory(history(WITH_A_TALK, { isOver: true }))).toEqual([]);
    expect(checkHistory(withGap(2))).toEqual([]);
  });

  it.each<[string, History, RegExp]>([
    ["a gap that tells of too little", withGap(1), /^after record 4 of the log comes 6$/],
    ["a gap that tells of too much", withGap(3), /^a gap up to 5 tells of 1 more than are missing$/],
    [
      "a sent message that is not in the log",
      history(SOUND, {
        acknowledged: [...history().acknowledged, { what: "send", worker_id: "A", message_id: "m" }],
      }),
      /^send of A was acknowledged and is not in the log$/,
    ],
    [
      "a message without a beginning",
      history([...SOUND, said("delivered")]),
      /^message m is delivered after 0 steps$/,
    ],
    [
      "a message delivered twice",
      history([...SOUND, said("accepted"), said("delivered"), said("delivered")]),
      /^message m is delivered twice to incarnation 2$/,
    ],
    [
      "a message with two last words",
      history([...WITH_A_TALK, said("unknown")]),
      /^message m is unknown after its last word$/,
    ],
    [
      "a message acknowledged undelivered",
      history([...SOUND, said("accepted"), said("acknowledged")]),
      /^message m is acknowledged and was not delivered$/,
    ],
    [
      "a message that hangs when all is over",
      history([...SOUND, said("accepted")], { isOver: true }),
      /^message m has no last word$/,
    ],
    ["a pause told twice", history([...SOUND, paused, paused]), /^A was paused twice by operator$/],
    [
      "a pause lifted that was none",
      history([...SOUND, unpaused]),
      /^A goes on, and was not paused by operator$/,
    ],
    ["a gap in seq", renumbered(18, { seq: 20 }), /^after record 18 of the log comes 20$/],
    ["a seq told twice", renumbered(18, { seq: 18 }), /^after record 18 of the log comes 18$/],
    ["a gap in a stream's versions", renumbered(17, { version: 9 }), /^worker:B has version 9 after 6$/],
    ["an exit told twice", history(inserted(5, exited("A", 1))), /^A\/1 has 2 exits$/],
    ["two terminal records", history(inserted(6, failed("A", 1))), /^A\/1 has 2 terminal records$/],
    ["an exit without a terminal record", history(without(16)), /^B\/1 has an exit and no terminal record$/],
    [
      "a terminal record without an exit",
      history(without(15), {
        minimum: { records: 10, acknowledged: 4, ends: 1, lines: 3 },
        found: history().found.filter(({ worker_id }) => worker_id === "A"),
        // Else its missing end would be found twice.
        records: logOf(
          without(15).filter(({ type, worker_id }) => type !== "worker_spawned" || worker_id === "A"),
        ),
      }),
      /^B\/1 has a terminal record and no exit$/,
    ],
    [
      "output after the terminal record",
      history(inserted(7, line("A", 1, "4\n"))),
      /^agent\.event of A\/1 after its terminal record$/,
    ],
    [
      "a heartbeat of an older incarnation",
      history(inserted(9, of("A", 1, "worker_heartbeat"))),
      /^worker_heartbeat of A\/1, while 2 is the newest$/,
    ],
    [
      "an incarnation that begins twice",
      history(inserted(8, begin("A", 2))),
      /^A\/2 began before 2 had a terminal record$/,
    ],
    [
      "an incarnation that is left out",
      history([...SOUND, exited("A", 2), failed("A", 2), begin("A", 4), spawned("A", 4)], {
        found: [
          ...history().found.filter(({ incarnation }) => incarnation === 1),
          { worker_id: "A", incarnation: 2, alive: false },
          { worker_id: "A", incarnation: 4, alive: true },
        ],
      }),
      /^A\/4 began after 2$/,
    ],
    [
      "one restart more than allowed",
      history(inserted(7, again("A", 1, 1_050))),
      /^A was restarted 2 times in 100 ms, 1 are allowed$/,
    ],
    [
      "a spawn that is not in the log",
      history(SOUND, { acknowledged: [...history().acknowledged, { what: "spawn", worker_id: "C" }] }),
      /^spawn of C was acknowledged and is not in the log$/,
    ],
    [
      "a kill that is not in the log",
      history(SOUND, { acknowledged: [...history().acknowledged, { what: "kill", worker_id: "A" }] }),
      /^kill of A was acknowledged and is not in the log$/,
    ],
    [
      "a restart that is not in the log",
      history(SOUND, { acknowledged: [...history().acknowledged, { what: "restart", worker_id: "B" }] }),
      /^restart of B was acknowledged and is not in the log$/,
    ],
    [
      "a tree that is not in the log",
      history(SOUND, { acknowledged: [...history().acknowledged, { what: "down", tree: "shop" }] }),
      /^down of shop was acknowledged and is not in the log$/,
    ],
    ["a line left out", history(replaced(4, line("A", 1, "4\n"))), /^A\/1 has line 4 where 3 belongs$/],
    ["a line told twice", history(replaced(4, line("A", 1, "2\n"))), /^A\/1 has line 2 where 3 belongs$/],
    [
      "a last line left out",
      history(replaced(4, line("A", 1, "counted 3\n")), { counted: ["A"] }),
      /^A counted to its end, and the end is missing$/,
    ],
    [
      "a killed worker that begins again",
      history([...SOUND, begin("B", 2), spawned("B", 2)], {
        found: [...history().found, { worker_id: "B", incarnation: 2, alive: true }],
      }),
      /^B\/2 began although it was killed$/,
    ],
    [
      "a running worker without a process",
      history(SOUND, {
        found: history().found.map((one) => (one.incarnation === 2 ? { ...one, alive: false } : one)),
      }),
      /^A\/2 runs by the log and its process is gone$/,
    ],
    [
      "a process of what is over",
      history(SOUND, {
        found: history().found.map((one) => (one.worker_id === "B" ? { ...one, alive: true } : one)),
      }),
      /^B\/1 is over and its process lives$/,
    ],
    [
      "a process that nobody looked for",
      history(SOUND, { found: history().found.slice(1) }),
      /^nobody looked for the process of A\/1$/,
    ],
    ["a canary that is held", history(SOUND, { held: ["canary-1"] }), /^somebody holds canary-1/],
    [
      "less than the minimum of work",
      history(SOUND, { minimum: { records: 10, acknowledged: 4, ends: 3, lines: 3 } }),
      /^too little happened: 2 ends, at least 3 are asked for$/,
    ],
  ])("finds %s, and nothing else", (_fault, doctored, finding) => {
    expect(checkHistory(doctored)).toEqual([expect.stringMatching(finding)]);
  });

  it("is not satisfied by a history in which nothing happened", () => {
    const empty = history([], { acknowledged: [], found: [] });
    expect(checkHistory(empty)).toHaveLength(4);
  });

  it("takes the last word of who counted to its end", () => {
    const whole = [line("A", 1, "3\n"), line("A", 1, "counted 3\n")];
    expect(
      checkHistory(history([...SOUND.slice(0, 4), ...whole, ...SOUND.slice(5)], { counted: ["A"] })),
    ).toEqual([]);
  });

  it("lets a person start again what was killed, and counts no restart that somebody asked for", () => {
    const restarted = history(
      [...SOUND, again("B", 1, 1_000, "user"), again("B", 1, 1_010, "user"), begin("B", 2), spawned("B", 2)],
      { found: [...history().found, { worker_id: "B", incarnation: 2, alive: true }] },
    );
    expect(checkHistory(restarted)).toEqual([]);
  });
});
