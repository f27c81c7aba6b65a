/** Events of a fleet: faults, people who ask for things, edits of the file. */
import { DURATION_MAX_MS } from "../../src/base/limits.ts";
import { isEnded } from "../../src/protocol/worker.ts";
import { NOT_STARTED } from "../../src/supervisor/child/exits.ts";
import type { ChildInput, ChildState } from "../../src/supervisor/child/inputs.ts";
import { isPaused } from "../../src/supervisor/holds/pause.ts";
import type { Member, SupervisorState } from "../../src/supervisor/tree/state.ts";
import type { Daemon } from "./daemon.ts";
import { randomEdit, randomSpec } from "./generate.ts";
import { exitOf } from "./processes.ts";
import { exited, SPAWNED } from "./shell.ts";

/** How often each happens, against the others. */
const WEIGHTS = {
  exit: 30,
  kill: 4,
  start: 8,
  kill_supervisor: 2,
  restart_supervisor: 4,
  down: 0.5,
  down_then_kill: 0.5,
  kill_then_down: 0.5,
  reload: 4,
  spawn: 12,
  crash: 2,
  crash_midway: 3,
  reboot: 0.5,
  refuse: 3,
  wall_jump: 1,
  limit: 3,
  pause: 4,
  unpause: 6,
  abandon: 0.5,
  stray: 10,
};
export type Act = keyof typeof WEIGHTS;
export const ACTS = Object.keys(WEIGHTS) as readonly Act[];

/** Faults that hit something that is on its way, when it comes at that moment. */
const QUICK: readonly Act[] = [
  "kill",
  "kill_supervisor",
  "start",
  "restart_supervisor",
  "reload",
  "spawn",
  "spawn",
  "limit",
  "pause",
  "unpause",
  "abandon",
  "stray",
  "stray",
];

/** Between two acts; now and then they come in bursts. */
const CALM_MS = 24_000;
const BURST_MS = 150;
const YEAR_MS = 31_536_000_000;

export const unleash = (daemon: Daemon, without: ReadonlySet<string>): void => {
  const { random, timeline } = daemon;
  const weights = { ...WEIGHTS };
  for (const act of ACTS) if (without.has(act)) weights[act] = 0;
  daemon.onUnrest = () => {
    const supervisors = [...daemon.tree.supervisors.values()];
    const isPool = supervisors.some(
      ({ config, phase }) => config.strategy === "dynamic" && UNSETTLED.includes(phase),
    );
    const act = isPool && random.chance(0.8) ? "spawn" : random.pick(QUICK);
    if (!without.has(act)) acts[act](daemon);
  };
  let burst = 0;
  const next = (): void => {
    if (burst === 0 && random.chance(0.03)) burst = 5 + random.below(20);
    else if (burst > 0) burst--;
    timeline.after(
      random.about(burst > 0 ? BURST_MS : CALM_MS),
      () => !daemon.calm,
      () => {
        const act = random.weighted(weights);
        acts[act](daemon);
        next();
      },
    );
  };
  next();
};

const membersOf = (daemon: Daemon): readonly Member[] => [...daemon.tree.members.values()];
/** Most run; the others are what a person meets seldom and a simulation shall meet often. */
const aSupervisor = (daemon: Daemon, from: readonly SupervisorState[]): string | undefined => {
  const { random } = daemon;
  if (from.length === 0) return undefined;
  const others = from.filter(({ phase }) => phase !== "running" && phase !== "terminated");
  const unsettled = from.filter(({ phase }) => UNSETTLED.includes(phase));
  const seldom = unsettled.length > 0 ? unsettled : others;
  return random.pick(seldom.length > 0 && random.chance(0.5) ? seldom : from).path;
};

const ask = (daemon: Daemon, what: "kill" | "restart"): void => {
  const supervisor = aSupervisor(daemon, [...daemon.tree.supervisors.values()]);
  if (supervisor !== undefined) daemon.input({ type: "ask", what, supervisor, by: "user", reason: "" });
};

/** Events of the whole tree, where there is one. */
const askTop = (daemon: Daemon, what: "kill" | "down"): void => {
  const { name, supervisors } = daemon.tree;
  if (supervisors.has(name)) daemon.input({ type: "ask", what, supervisor: name, by: "user", reason: "" });
};

/** While what was asked for before is on its way, or when that is over. */
const soon = (daemon: Daemon, act: () => void): void =>
  daemon.after(daemon.random.about(2_000), () => !daemon.calm, act);

const UNSETTLED: readonly string[] = ["starting", "restarting", "backing_off", "stopping"];
const UNSTEADY = ["starting", "backing_off", "stopping"];

const aMember = (daemon: Daemon): Member | undefined => {
  const members = membersOf(daemon);
  if (members.length === 0) return undefined;
  const others = members.filter(({ child }) => UNSTEADY.includes(child.state));
  const { random } = daemon;
  return random.pick(others.length > 0 && random.chance(0.4) ? others : members);
};

const tell = (daemon: Daemon, { child }: Member, input: ChildInput): void => {
  daemon.input({ type: "worker", worker_id: child.worker_id, input });
};

const kill = (daemon: Daemon, member: Member): void => {
  daemon.faults++;
  const grace_ms = daemon.random.pick([0, 1_000]);
  tell(daemon, member, { type: "kill", by: "user", reason: "killed", grace_ms, signal: "SIGTERM" });
};

const acts: Readonly<Record<Act, (daemon: Daemon) => void>> = {
  exit: (daemon) => {
    const running = [...daemon.processes.of.values()].filter(({ alive }) => alive);
    if (running.length === 0) return;
    const { random } = daemon;
    daemon.faults++;
    daemon.processes.end(random.pick(running), random.pick([exitOf(0), exitOf(1), exitOf(null, "SIGKILL")]));
  },
  kill: (daemon) => {
    const member = aMember(daemon);
    if (member !== undefined) kill(daemon, member);
  },
  /** Somebody wants back what is down. */
  start: (daemon) => {
    const { random } = daemon;
    const top = daemon.tree.supervisors.get(daemon.tree.name);
    if (top === undefined || top.phase === "pending") return daemon.apply();
    if (top.phase === "terminated" || top.phase === "parked") {
      if (random.chance(0.5))
        daemon.input({ type: "ask", what: "restart", supervisor: top.path, by: "user", reason: "" });
      else daemon.apply();
      return;
    }
    const down = membersOf(daemon).filter(({ child }) => isEnded(child.state) || random.chance(0.1));
    if (down.length > 0) tell(daemon, random.pick(down), { type: "restart", by: "user", grace_ms: 1_000 });
  },
  kill_supervisor: (daemon) => {
    daemon.faults++;
    ask(daemon, "kill");
  },
  restart_supervisor: (daemon) => ask(daemon, "restart"),
  down: (daemon) => askTop(daemon, "down"),
  /** A down seems slow, and somebody kills everything in another window; or the other way round. */
  down_then_kill: (daemon) => {
    daemon.faults++;
    askTop(daemon, "down");
    soon(daemon, () => ask(daemon, "kill"));
    soon(daemon, () => askTop(daemon, "kill"));
  },
  kill_then_down: (daemon) => {
    daemon.faults++;
    askTop(daemon, "kill");
    soon(daemon, () => askTop(daemon, "down"));
    soon(daemon, () => ask(daemon, "restart"));
  },
  reload: (daemon) => {
    if (daemon.tree.supervisors.size === 0) return;
    const { tree, restart, changed } = randomEdit(daemon.random, daemon.names, daemon.file);
    daemon.apply(tree, restart, changed);
  },
  spawn: (daemon) => {
    const dynamic = [...daemon.tree.supervisors.values()].filter(
      ({ config }) => config.strategy === "dynamic",
    );
    const path = aSupervisor(daemon, dynamic);
    if (path === undefined || !daemon.up) return;
    const id = `D${daemon.names.next()}`;
    const spec = { ...randomSpec(daemon.random), name: id, supervisor: path };
    daemon.known(id, spec);
    const payload = { spec, clock: daemon.now().clock };
    const stream = `worker:${id}`;
    daemon.input({
      type: "add",
      requested: { type: "worker_spawn_requested", stream, worker_id: id, payload },
      worker_id: id,
    });
  },
  crash: (daemon) => daemon.crash(),
  crash_midway: (daemon) => {
    daemon.dies_in = daemon.random.below(6);
  },
  reboot: (daemon) => daemon.crash(true),
  refuse: (daemon) => daemon.refuse(daemon.random.about(3_000)),
  wall_jump: (daemon) => {
    daemon.faults++;
    daemon.wall_offset_ms += Math.round(
      (daemon.random.next() - 0.5) * 2 * daemon.random.pick([60_000, YEAR_MS]),
    );
  },
  limit: (daemon) => {
    const member = aMember(daemon);
    if (member === undefined) return;
    daemon.faults++;
    const limit = daemon.random.pick(["stall", "stall", "usd", "turns", "wall"] as const);
    tell(daemon, member, { type: "limit", limit, value: 2, bound: 1, grace_ms: 1_000 });
  },
  pause: (daemon) => {
    const member = aMember(daemon);
    if (member === undefined) return;
    const reason = daemon.random.pick(["operator", "operator", "disk"] as const);
    tell(daemon, member, { type: "pause", reason, detail: "", pids: [] });
  },
  unpause: (daemon) => {
    const paused = membersOf(daemon).filter(({ child }) => isPaused(child));
    const member =
      paused.length > 0 && daemon.random.chance(0.8) ? daemon.random.pick(paused) : aMember(daemon);
    if (member === undefined) return;
    const reason = daemon.random.pick([undefined, undefined, "disk"] as const);
    tell(daemon, member, { type: "unpause", by: "user", ...(reason === undefined ? {} : { reason }) });
  },
  /** Holdfast itself fails at a worker: its agent is killed before that is told. */
  abandon: (daemon) => {
    const shells = [...daemon.shells.values()];
    if (shells.length === 0) return;
    daemon.faults++;
    const shell = daemon.random.pick(shells);
    const { id } = shell;
    const process = daemon.processes.of.get(id);
    if (process?.alive === true) daemon.processes.end(process, exitOf(null, "SIGKILL"));
    shell.drop();
    daemon.leave(shell);
    daemon.abandoning.add(id);
    daemon.fact(
      id,
      abandoned,
      () => true,
      () => void daemon.abandoning.delete(id),
    );
  },
  /** A message that comes twice, or too late. */
  stray: (daemon) => {
    const member = aMember(daemon);
    if (member === undefined) return;
    const inputs = strays(daemon, member.child);
    daemon.faults++;
    tell(daemon, member, daemon.random.pick(inputs));
  },
};

const abandoned: ChildInput = {
  type: "abandoned",
  error: { code: "INTERNAL", message: "Holdfast itself failed." },
  exit: NOT_STARTED,
  duration_ms: 1,
};

const strays = (daemon: Daemon, child: ChildState): readonly ChildInput[] => {
  const isOver = isEnded(child.state);
  const condition = "log" as const;
  return [
    ...(child.open || isOver
      ? [{ type: "begin" as const, incarnation: child.incarnation + 1, reason: "late" }]
      : []),
    ...(child.open && !child.spawned
      ? []
      : [
          { type: "launched" as const, spawned: SPAWNED },
          { type: "adopted" as const, spawned: SPAWNED },
        ]),
    ...(child.open
      ? []
      : [
          exited(exitOf(daemon.random.below(2))),
          {
            type: "shutdown" as const,
            by: "late",
            reason: "late",
            grace_ms: DURATION_MAX_MS,
            signal: "SIGTERM",
          },
          { type: "limit" as const, limit: "stall" as const, value: 2, bound: 1, grace_ms: 0 },
          abandoned,
        ]),
    { type: "ready" as const, condition, after_ms: 1 },
  ];
};
