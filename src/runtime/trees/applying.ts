/**
 * Applies a file's tree completely or not at all: every spec is checked, every name must be free, and the difference is
 * decided under the tree's lock.
 */
import { Effect } from "effect";
import { attemptAsync } from "../../actors/machine/attempt.ts";
import { SPEC_WRITES_MAX } from "../../base/limits.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { newId } from "../../protocol/ids.ts";
import { type RecordDraft, workerStream } from "../../protocol/records.ts";
import type { TreeChange } from "../../protocol/replies/trees.ts";
import {
  childPath,
  type SupervisorNode,
  type TreeNodeSpec,
  type TreeSpec,
  type WorkerNode,
} from "../../protocol/tree.ts";
import type { TreeRef, TreeSupervisorRef } from "../../protocol/tree-records.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { changedFields, diffTree } from "../../supervisor/tree/diff.ts";
import type { TreeInput } from "../../supervisor/tree/inputs.ts";
import type { TreeState } from "../../supervisor/tree/state.ts";
import type { Core } from "../core.ts";
import { makeSpecs, type Specs, type StartableSpec } from "../specs.ts";
import type { Tree } from "./tree-decider.ts";

export interface KnownTrees {
  find(name: string): Tree | undefined;
  all(): readonly Tree[];
}

interface WantedWorker {
  readonly path: string;
  readonly supervisor: string;
  readonly startable: StartableSpec;
}

export interface ApplyOptions {
  readonly dry_run: boolean;
  readonly by: string;
  /** Placed workers of a cluster that end before: their names are free then. */
  readonly ending: readonly string[];
}

export class Applying {
  private readonly core: Core;
  private readonly known: KnownTrees;
  private readonly specs: Specs;

  constructor(core: Core, known: KnownTrees) {
    this.core = core;
    this.known = known;
    this.specs = makeSpecs(core);
  }

  /** Brings a tree in line with its file and returns the changes. A dry run changes nothing. */
  apply(
    tree: Tree,
    spec: TreeSpec,
    { dry_run, by, ending }: ApplyOptions,
  ): Effect.Effect<readonly TreeChange[], HoldfastError> {
    const applied = Effect.gen({ self: this }, function* () {
      const taken = this.refuseTaken(spec, ending);
      if (taken !== undefined) return yield* Effect.fail(taken);
      const wanted = yield* this.checkAll(spec);
      const desired = withSpecs(spec, wanted);
      if (dry_run) return (yield* this.diff(tree.state(), desired)).changes;
      const fresh = new Map<string, WorkerSpec>();
      let changes: readonly TreeChange[] = [];
      const input = (state: TreeState) =>
        Effect.gen({ self: this }, function* () {
          const diff = yield* this.diff(state, desired);
          changes = diff.changes;
          const { drafts, ids } = yield* this.keep(state, wanted, diff.before, fresh, by);
          const root = refOf(spec.name, desired.root, spec.name, ids) as TreeSupervisorRef;
          const { file } = spec;
          return { type: "apply", file, root, restart: diff.restart, drafts, by } satisfies TreeInput;
        });
      yield* tree.change(input, fresh);
      return changes;
    });
    return Effect.catchDefect(applied, (defect) => Effect.fail(asHoldfastError(defect)));
  }

  /** Checks every worker of the file and returns them by path. Fails with every mistake at once. */
  private checkAll(spec: TreeSpec): Effect.Effect<ReadonlyMap<string, WantedWorker>, HoldfastError> {
    return Effect.gen({ self: this }, function* () {
      const wanted = new Map<string, WantedWorker>();
      const errors: { readonly path: string; readonly error: HoldfastError }[] = [];
      for (const { node, path, supervisor } of nodesOf(spec).filter(isWorker)) {
        const given = { ...node.spec, name: path, supervisor };
        const startable = Effect.flatMap(this.specs.checked(given), ({ spec: checked, adapter }) =>
          this.specs.startable(checked, adapter),
        );
        const isPlaced = given.placement !== undefined;
        const made = yield* Effect.result(isPlaced ? Effect.fail(notHere()) : startable);
        if (made._tag === "Failure") errors.push({ path, error: made.failure });
        else wanted.set(path, { path, supervisor, startable: made.success });
      }
      const [first] = errors;
      if (first === undefined) return wanted;
      const problems = errors.map(({ path, error }) => `${path}: ${error.message}`);
      return yield* Effect.fail(
        new HoldfastError(first.error.code, problems.join(" "), { ...first.error.info, problems }),
      );
    });
  }

  private refuseTaken(spec: TreeSpec, ending: readonly string[]): HoldfastError | undefined {
    const own = this.known.find(spec.name)?.state();
    if (own !== undefined && own.file !== "" && own.file !== spec.file)
      return new HoldfastError("ALREADY_EXISTS", `The tree "${spec.name}" belongs to ${own.file}.`, {
        suggestion: `Give this file another \`name\`, or take that one down with \`agent down ${spec.name}\`.`,
      });
    const paths = new Set([spec.name, ...nodesOf(spec).map(({ path }) => path)]);
    for (const other of this.known.all()) {
      if (other.name === spec.name) continue;
      const taken = takenBy(other.state()).find((path) => paths.has(path));
      if (taken !== undefined)
        return new HoldfastError("ALREADY_EXISTS", `"${taken}" belongs to ${other.state().file} already.`, {
          suggestion:
            "Names at the top of a file must be unique over all files of a daemon: choose another one.",
        });
    }
    for (const { id, spec: living } of this.core.roster.live.values())
      if (
        living.supervisor === "root" &&
        living.name !== undefined &&
        paths.has(living.name) &&
        !(living.placed?.worker === living.name && ending.includes(living.name))
      )
        return new HoldfastError(
          "ALREADY_EXISTS",
          `A living worker is called "${living.name}" already: ${id}.`,
        );
    return undefined;
  }

  /** The changes, and the specs of the tree's workers as last applied. */
  private diff(state: TreeState, desired: TreeSpec) {
    return Effect.map(this.lastSpecs(state), (before) => ({
      before,
      ...diffTree(state.supervisors.size === 0 ? undefined : state, desired, (id) => before.get(id)),
    }));
  }

  private lastSpecs(state: TreeState): Effect.Effect<ReadonlyMap<string, WorkerSpec>> {
    const { files } = this.core.services;
    return Effect.gen(function* () {
      const found = new Map<string, WorkerSpec>();
      for (const id of state.members.keys()) {
        const loaded = yield* Effect.option(attemptAsync(() => files.load(id)));
        if (loaded._tag === "Some") found.set(id, loaded.value);
      }
      return found;
    });
  }

  /** Saves new and changed specs, also into `fresh`. Returns their records, and the id of each path. */
  private keep(
    state: TreeState,
    wanted: ReadonlyMap<string, WantedWorker>,
    before: ReadonlyMap<string, WorkerSpec>,
    fresh: Map<string, WorkerSpec>,
    by: string,
  ) {
    const { services, wallMs, now } = this.core;
    return Effect.gen(function* () {
      const drafts: RecordDraft[] = [];
      const ids = new Map<string, string>();
      const changed: { readonly id: string; readonly kept: WorkerSpec }[] = [];
      for (const { path, supervisor, startable } of wanted.values()) {
        const { kept, masked } = startable;
        const old = idAt(state, supervisor, path);
        const last = old === undefined ? undefined : before.get(old);
        const id = old ?? newId(wallMs());
        ids.set(path, id);
        const fields = last === undefined ? [] : changedFields(last, kept);
        if (old !== undefined && last !== undefined && fields.length === 0) continue;
        changed.push({ id, kept });
        fresh.set(id, kept);
        const about = { stream: workerStream(id), worker_id: id };
        drafts.push(
          old === undefined
            ? { ...about, type: "worker_spawn_requested", payload: { spec: masked, by, clock: now().clock } }
            : { ...about, type: "worker_spec_changed", payload: { spec: masked, fields, by } },
        );
      }
      yield* Effect.forEach(changed, ({ id, kept }) => attemptAsync(() => services.files.save(id, kept)), {
        concurrency: SPEC_WRITES_MAX,
        discard: true,
      });
      return { drafts, ids };
    });
  }
}

const idAt = (state: TreeState, supervisor: string, path: string): string | undefined =>
  state.supervisors
    .get(supervisor)
    ?.children.find((ref) => !ref.removed && ref.path === path && ref.worker_id !== null)?.worker_id ??
  undefined;

/** The daemon takes such workers out of a tree: here is a program that embeds the runtime. */
const notHere = (): HoldfastError =>
  new HoldfastError("INVALID_STATE", "Only a daemon that is a node places the workers of a tree.", {
    phase: "validation",
    suggestion: "Bring the file up at a daemon that is a node: agent up",
  });

interface PlacedNode<Node extends TreeNodeSpec = TreeNodeSpec> {
  readonly node: Node;
  readonly path: string;
  readonly supervisor: string;
}

/** All nodes below the top, in start order. */
const nodesOf = (spec: TreeSpec): readonly PlacedNode[] => {
  const below = ({ children }: SupervisorNode, supervisor: string): readonly PlacedNode[] =>
    children.flatMap((node) => {
      const path = childPath(spec.name, supervisor, node.name);
      return [{ node, path, supervisor }, ...(node.type === "worker" ? [] : below(node, path))];
    });
  return below(spec.root, spec.name);
};

const isWorker = (placed: PlacedNode): placed is PlacedNode<WorkerNode> => placed.node.type === "worker";

const takenBy = (state: TreeState): readonly string[] => [
  ...state.supervisors.keys(),
  ...[...state.supervisors.values()].flatMap(({ children }) => children.map(({ path }) => path)),
];

/** The same tree, with the specs as they are kept. */
const withSpecs = (spec: TreeSpec, wanted: ReadonlyMap<string, WantedWorker>): TreeSpec => {
  const below = (node: SupervisorNode, at: string): SupervisorNode => ({
    ...node,
    children: node.children.map((child) => {
      const path = childPath(spec.name, at, child.name);
      if (child.type === "supervisor") return below(child, path);
      return { ...child, spec: (wanted.get(path) as WantedWorker).startable.kept };
    }),
  });
  return { ...spec, root: below(spec.root, spec.name) };
};

const refOf = (tree: string, node: TreeNodeSpec, path: string, ids: ReadonlyMap<string, string>): TreeRef =>
  node.type === "worker"
    ? { type: "worker", name: node.name, worker_id: ids.get(path) as string, depends_on: node.depends_on }
    : {
        type: "supervisor",
        name: node.name,
        config: node.config,
        depends_on: node.depends_on,
        children: node.children.map((child) => refOf(tree, child, childPath(tree, path, child.name), ids)),
      };
