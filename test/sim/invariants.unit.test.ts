/** Each invariant can fail: a view in which all holds, and what breaks it. */
import { describe, expect, it } from "vitest";
import { evolveTree } from "../../src/supervisor/tree/evolve.ts";
import type { ChildRef, Member, SupervisorState, TreeState } from "../../src/supervisor/tree/state.ts";
import { Timeline } from "./clock.ts";
import { Coverage } from "./coverage.ts";
import { Daemon } from "./daemon.ts";
import { randomSpec } from "./generate.ts";
import { History } from "./history.ts";
import { INVARIANTS, unsettled, type View, violationIn } from "./invariants.ts";
import { exitOf, ProcessTable } from "./processes.ts";
import { randomOf } from "./random.ts";

const LIFE = { life_ms: 1_000, works: false };
const HOUR_MS = 3_600_000;

/** A supervisor `top` with a worker `w` that runs. */
const view = (over: Partial<View> = {}): View => {
  const timeline = new Timeline();
  const processes = new ProcessTable(timeline, randomOf(1));
  processes.calm = true;
  processes.make("W", 1, LIFE);
  const history = new History();
  history.lives.set("W", { incarnation: 1, exits: 0, terminals: 0 });
  const built = tree();
  return {
    tree: built,
    before: built,
    committed: [],
    rebuilt: undefined,
    head: 5,
    processes,
    history,
    mailboxes: [0],
    mono_ms: HOUR_MS,
    now_ms: HOUR_MS,
    well_since_ms: 0,
    specOf: () => randomSpec(randomOf(1)),
    ...over,
  };
};

const tree = (
  worker: Partial<Member["child"]> = {},
  supervisor: Partial<SupervisorState> = {},
  ref: Partial<ChildRef> = {},
): TreeState => {
  const spec = randomSpec(randomOf(1));
  const root = {
    type: "supervisor" as const,
    name: "top",
    config: { strategy: "one_for_one", max_restarts: 1, period_ms: 1_000, decay_ms: 0 } as never,
    depends_on: [],
    children: [{ type: "worker" as const, name: "w", worker_id: "W", depends_on: [] }],
  };
  const applied = evolveTree(
    { name: "top", file: "", supervisors: new Map(), members: new Map(), launching: new Set() },
    {
      type: "tree_applied",
      stream: "tree:top",
      payload: { tree: "top", file: "", root, restart: {}, by: "user", clock: { boot_id: "", mono_ns: "0" } },
    },
    0,
    () => spec,
  );
  const top = applied.supervisors.get("top") as SupervisorState;
  const member = applied.members.get("W") as Member;
  const child = {
    ...member.child,
    state: "running" as const,
    incarnation: 1,
    open: true,
    spawned: true,
    ready: true,
  };
  return {
    ...applied,
    supervisors: new Map([
      [
        "top",
        {
          ...top,
          phase: "running" as const,
          children: [{ ...(top.children[0] as ChildRef), ...ref }],
          ...supervisor,
        },
      ],
    ]),
    members: new Map([["W", { ...member, child: { ...child, ...worker } }]]),
  };
};

const restarts = (path: string, count: number) => {
  const history = view().history;
  const list = Array.from({ length: count }, () => ({
    child: "w",
    at: HOUR_MS,
    period_ms: 1_000,
    max: 1,
    decay_ms: 0,
  }));
  history.restarts.set(path, list);
  const draft = { type: "supervisor_restart_scheduled", stream: "", payload: { supervisor: path } } as never;
  return { history, committed: [{ seq: 5, draft, wall_ms: 0 }] };
};
const ended = { open: false, state: "completed" as const };
const backingOff = { open: false, state: "backing_off" as const, due_ms: 0 };
const withHistory = (change: (history: History) => void): View => {
  const given = view();
  change(given.history);
  return given;
};
const gone = (given: View): View => {
  const process = given.processes.of.get("W");
  if (process !== undefined) given.processes.end(process, exitOf(0));
  return given;
};
const stopped = (given: View): View => {
  (given.processes.of.get("W") as { paused: boolean }).paused = true;
  return given;
};
const twice = (): View => {
  const given = view();
  given.processes.make("W", 2, LIFE);
  return given;
};

const broken: Readonly<Record<string, readonly [string, () => View][]>> = {
  "I1 one life": [
    ["two agents of one worker", twice],
    ["a child that stands twice", () => view({ tree: tree({}, { children: [ref("w"), ref("w")] }) })],
    ["a worker that stands nowhere", () => view({ tree: tree({}, { children: [] }) })],
  ],
  "I2 running is alive": [
    ["an end that nobody noticed", () => gone(view())],
    ["a process of another incarnation", () => view({ tree: tree({ incarnation: 2 }) })],
  ],
  "I3 ended is gone": [["an agent of what has ended", () => view({ tree: tree(ended) })]],
  "I4 dense": [["a gap", () => view({ ...restarts("x", 0), head: 7 })]],
  "I5 one end": [
    [
      "two exits",
      () => withHistory(({ lives }) => lives.set("W", { incarnation: 1, exits: 2, terminals: 1 })),
    ],
    ["an incarnation out of turn", () => withHistory(({ odd }) => odd.push("W: 3 after 1"))],
    ["an end without a terminal record", () => gone(view({ tree: tree(ended) }))],
  ],
  "I6 intensity": [["a restart too many", () => view(restarts("top", 2))]],
  "I7 places": [["an agent without a place", () => withoutPlace()]],
  "I9 projected": [
    ["a state that no record made", () => view({ tree: tree({ spent_ms: 7 }) })],
    ["another state after a boot", () => view({ tree: tree({ spent_ms: 7 }), rebuilt: "exact" })],
  ],
  "I10 bounded": [
    ["a mailbox that grows", () => view({ mailboxes: [257] })],
    [
      "a window that grows",
      () => same(tree({}, { restarts: Array.from({ length: 1_001 }, () => ({ at_ms: 0, child: "w" })) })),
    ],
  ],
  "I11 buried": [["a killed one that began", () => withHistory(({ risen }) => risen.push("W"))]],
  "I12 punctual": [["a start that is overdue", () => gone(same(tree(backingOff), endedOnce))]],
  "I13 no orphan": [
    ["a worker that runs below what has ended", () => same(tree({}, { phase: "terminated" }))],
  ],
  "I14 planned": [
    ["a child left to start", () => gone(same(tree({ ...ended, state: "pending" }, starting), endedOnce))],
  ],
  "I15 still": [
    [
      "a paused one that goes on",
      () =>
        view({
          tree: tree({ pause: { isOn: true, since_ms: 0, before_ms: 0 } }),
        }),
    ],
    ["one that was never told to go on", () => stopped(view())],
  ],
  "I16 ends as asked": [
    ["a down that a kill has taken the place of", () => turned(stops("down"), stops("killed"))],
    ["a down that a start has taken the place of", () => turned(stops("down"), starting)],
    ["a kill that a start has taken the place of", () => turned(stops("killed"), starting)],
  ],
  "I17 in order": [
    ["a child that begins before the one before it is up", () => pair("rest_for_one", launched("V"))],
    ["a child that waits and need not", () => pair("one_for_one", {})],
    [
      "a child that is stopped before the one behind it",
      () => pair("rest_for_one", told("W"), stops("down")),
    ],
    ["a child that lives on and need not", () => pair("one_for_one", told("V"), stops("down"))],
  ],
};
/** Two workers: `w`, whose start is on its way, and `v` behind it. All live where they are stopped. */
const pair = (
  strategy: "one_for_one" | "rest_for_one",
  { launching = [], stopping = [] }: { launching?: readonly string[]; stopping?: readonly string[] },
  doing: Partial<SupervisorState> = starting,
): View => {
  const made = tree({ ready: false }, doing);
  const top = made.supervisors.get("top") as SupervisorState;
  const w = made.members.get("W") as Member;
  const stop = { kind: "shutdown", by: "top", grace_ms: 0, signal: "SIGTERM" } as const;
  const isStopping = top.operation?.stage === "stopping";
  const member = (id: string, open: boolean): Member => ({
    ...w,
    path: id.toLowerCase(),
    child: { ...w.child, worker_id: id, open, stop: stopping.includes(id) ? stop : null },
  });
  const state: TreeState = {
    ...made,
    supervisors: new Map([
      [
        "top",
        {
          ...top,
          config: { ...top.config, strategy },
          children: [ref("w"), { ...ref("v"), worker_id: "V" }],
          operation: { ...top.operation, scope: ["w", "v"] } as never,
        },
      ],
    ]),
    members: new Map([
      ["W", member("W", true)],
      ["V", member("V", isStopping)],
    ]),
    launching: new Set(launching),
  };
  return view({ before: made, tree: state });
};
const launched = (id: string) => ({ launching: [id] });
const told = (id: string) => ({ stopping: [id] });
const ref = (name: string): ChildRef => ({
  name,
  path: name,
  worker_id: "W",
  depends_on: [],
  removed: false,
});
const starting = {
  phase: "starting" as const,
  operation: { kind: "start", stage: "starting", scope: ["w"], delay_ms: 0, due_ms: 0, started: [] } as const,
};
const stops = (end: "down" | "killed") => ({
  phase: "stopping" as const,
  operation: {
    kind: "stop",
    stage: "stopping",
    scope: ["w"],
    delay_ms: 0,
    due_ms: 0,
    started: [],
    end,
  } as const,
});
const turned = (before: Partial<SupervisorState>, after: Partial<SupervisorState>): View =>
  view({ before: tree({}, before), tree: tree({}, after) });
const endedOnce = (history: History): void => {
  history.lives.set("W", { incarnation: 1, exits: 1, terminals: 1 });
};
const same = (given: TreeState, change: (history: History) => void = () => undefined): View => {
  const made = view({ tree: given, before: given });
  change(made.history);
  return made;
};
const withoutPlace = (): View => {
  const given = view();
  given.processes.make("X", 1, LIFE);
  return given;
};

describe("the invariants", () => {
  it("hold where all is well", () => {
    expect(violationIn(view())).toBeUndefined();
  });
  it("each have a case below", () => {
    expect(Object.keys(broken)).toEqual(Object.keys(INVARIANTS));
  });
  it.each(
    Object.entries(broken).flatMap(([name, cases]) => cases.map(([what, make]) => ({ name, what, make }))),
  )("$name finds $what", ({ name, make }) => {
    expect(INVARIANTS[name]?.(make())).toEqual(expect.any(String));
  });
});

describe("a tree at peace", () => {
  it("is settled when all runs, and when all is over", () => {
    expect(unsettled(tree())).toBeUndefined();
    expect(unsettled(tree(ended, { phase: "terminated" }))).toBeUndefined();
  });
  it.each([
    ["a supervisor that still starts", tree({ ready: false }, starting)],
    ["a worker that nobody starts", tree({ open: false, state: "pending" })],
    ["a worker that is removed and still there", tree({}, {}, { removed: true })],
  ])("is not settled with %s", (_, given) => {
    expect(unsettled(given)).toEqual(expect.any(String));
  });
});

it("a record of the coverage table stands for what met", () => {
  const coverage = new Coverage();
  const daemon = new Daemon(1, coverage);
  daemon.boot();
  daemon.apply();
  daemon.input({ type: "plan" });
  expect(coverage.counts.get("supervisor starting × plan")).toBeGreaterThan(0);
});
