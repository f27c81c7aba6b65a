/** Random files: a tree of supervisors and workers, and what an edit makes of it. */
import { SupervisorConfig } from "../../src/protocol/tree.ts";
import { WorkerSpec } from "../../src/protocol/worker.ts";
import type { Random } from "./random.ts";

export interface WorkerDef {
  readonly type: "worker";
  readonly name: string;
  readonly id: string;
  readonly spec: WorkerSpec;
  readonly depends_on: readonly string[];
}
export interface SupervisorDef {
  readonly type: "supervisor";
  readonly name: string;
  readonly config: SupervisorConfig;
  readonly depends_on: readonly string[];
  readonly children: readonly Def[];
}
export type Def = WorkerDef | SupervisorDef;

const DEPTH_MAX = 3;
const CHILDREN_MAX = 4;
const PERIODS_MS = [1_000, 5_000, 60_000, 600_000];
const GRACES_MS = [0, 50, 1_000, 10_000];
const WITHIN_MS = [500, 30_000];

export interface Namer {
  next(): number;
}

/** Paths of all that stands before a child in start order: what it may wait for. */
const dependsOn = (random: Random, before: readonly string[]): readonly string[] =>
  before.length > 0 && random.chance(0.15) ? [random.pick(before)] : [];

const delays = (random: Random) => {
  const backoff_min_ms = random.pick([0, 10, 1_000, 20_000]);
  return { backoff_min_ms, backoff_max_ms: backoff_min_ms * random.pick([1, 8, 60]) };
};

export const randomSpec = (random: Random): WorkerSpec =>
  WorkerSpec.parse({
    kind: "command",
    argv: ["true"],
    cwd: "/",
    restart: random.weighted({ permanent: 6, transient: 2, temporary: 1 }),
    shutdown: random.weighted({ grace: 6, brutal_kill: 1, infinity: 1 }),
    significant: random.chance(0.15),
    grace_ms: random.pick(GRACES_MS),
    max_restarts: random.below(5),
    restart_period_ms: random.pick(PERIODS_MS),
    ...delays(random),
    ...(random.chance(0.25) ? { ready: { log: "ready", within_ms: random.pick(WITHIN_MS) } } : {}),
  });

const randomConfig = (random: Random, isTop: boolean): SupervisorConfig => {
  const strategy = random.weighted({
    one_for_one: 4,
    one_for_all: 3,
    rest_for_one: 3,
    dynamic: isTop ? 0 : 2,
  });
  return SupervisorConfig.parse({
    strategy,
    // A dynamic supervisor that never gives up would never be seen to wait.
    max_restarts: random.pick(strategy === "dynamic" ? [0, 0, 1, 3] : [0, 1, 1, 3, 3, 10, 10, 1_000]),
    period_ms: random.pick(PERIODS_MS),
    decay_ms: random.chance(0.15) ? random.pick([1_000, 60_000]) : 0,
    on_intensity: random.weighted({ escalate: 5, park: 1 }),
    auto_shutdown: random.weighted({ never: 6, any: 1, all: 1 }),
    restart: random.weighted({ permanent: 6, transient: 1, temporary: 1 }),
    significant: random.chance(0.15),
    ...delays(random),
  });
};

const randomSupervisor = (
  random: Random,
  names: Namer,
  name: string,
  prefix: string,
  before: readonly string[],
  depth: number,
): SupervisorDef => {
  const config = randomConfig(random, depth === 0);
  const children: Def[] = [];
  const seen = [...before];
  const count = config.strategy === "dynamic" ? 0 : 1 + random.below(CHILDREN_MAX);
  for (let n = 0; n < count; n++) {
    const child = randomChild(random, names, prefix, seen, depth + 1);
    children.push(child);
    seen.push(`${prefix}${child.name}`);
  }
  return {
    type: "supervisor",
    name,
    config,
    depends_on: depth === 0 ? [] : dependsOn(random, before),
    children,
  };
};

const randomChild = (
  random: Random,
  names: Namer,
  prefix: string,
  before: readonly string[],
  depth: number,
): Def => {
  const n = names.next();
  if (depth < DEPTH_MAX && random.chance(0.4))
    return randomSupervisor(random, names, `s${n}`, `${prefix}s${n}/`, before, depth);
  return {
    type: "worker",
    name: `w${n}`,
    id: `W${n}`,
    spec: randomSpec(random),
    depends_on: dependsOn(random, before),
  };
};

export const TREE = "top";
export const randomTree = (random: Random, names: Namer): SupervisorDef =>
  randomSupervisor(random, names, TREE, "", [], 0);

export interface Edit {
  readonly tree: SupervisorDef;
  /** Children to start anew, by the path of their supervisor. */
  readonly restart: Record<string, string[]>;
  readonly changed: ReadonlyMap<string, WorkerSpec>;
}

/** One edit of a file: children added, removed, changed, moved; flags changed. */
export const randomEdit = (random: Random, names: Namer, tree: SupervisorDef): Edit => {
  const restart: Record<string, string[]> = {};
  const changed = new Map<string, WorkerSpec>();
  const again = (path: string, name: string): void => {
    restart[path] = [...(restart[path] ?? []), name];
  };
  const edit = (at: SupervisorDef, path: string, prefix: string): SupervisorDef => {
    const config = random.chance(0.2)
      ? { ...randomConfig(random, true), strategy: at.config.strategy }
      : at.config;
    if (at.config.strategy === "dynamic") return { ...at, config };
    const kept = at.children.filter(() => !random.chance(0.12));
    const children = kept.map((child): Def => {
      if (child.type === "supervisor")
        return edit(child, `${prefix}${child.name}`, `${prefix}${child.name}/`);
      if (!random.chance(0.12)) return child;
      const spec = randomSpec(random);
      changed.set(child.id, spec);
      if (random.chance(0.7)) again(path, child.name);
      return { ...child, spec };
    });
    if (random.chance(0.25)) {
      const added = randomChild(random, names, prefix, [], 2);
      children.splice(random.below(children.length + 1), 0, added);
      again(path, added.name);
    }
    return { ...at, config, children };
  };
  return { tree: unbroken(edit(tree, tree.name, "")), restart, changed };
};

/** Without references to what is there no more, or stands later now. */
const unbroken = (tree: SupervisorDef): SupervisorDef => {
  const seen = new Set<string>();
  const clean = (at: SupervisorDef, prefix: string): SupervisorDef => ({
    ...at,
    children: at.children.map((child): Def => {
      const depends_on = child.depends_on.filter((path) => seen.has(path));
      const path = `${prefix}${child.name}`;
      const cleaned =
        child.type === "worker" ? { ...child, depends_on } : { ...clean(child, `${path}/`), depends_on };
      seen.add(path);
      return cleaned;
    }),
  });
  return clean(tree, "");
};
