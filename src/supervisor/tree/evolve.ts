/** Folds records into a tree's state: the same at run time and after a crash. */
import type { RecordDraft, RecordPayloads, RecordType } from "../../protocol/records.ts";
import { RESTART_BY_USER, restartCause } from "../../protocol/restart-cause.ts";
import { childPath } from "../../protocol/tree.ts";
import type { SupervisorOperation, TreeRef, TreeSupervisorRef } from "../../protocol/tree-records.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import { evolve, newChild } from "../child/evolve.ts";
import { decayedWindow } from "../restart/window.ts";
import type { ChildRef, Member, SupervisorState, TreeState } from "./state.ts";

/** The records of a tree's own stream that are folded. */
export const TREE_RECORDS: readonly RecordType[] = [
  "tree_applied",
  "tree_removed",
  "supervisor_state_changed",
  "supervisor_restart_scheduled",
  "supervisor_asked",
];

export const emptyTree = (name: string): TreeState => ({
  name,
  file: "",
  supervisors: new Map(),
  members: new Map(),
  launching: new Set(),
});

const newMember = (path: string, supervisor: string, workerId: string, spec: WorkerSpec): Member => ({
  child: newChild(workerId, spec),
  path,
  supervisor,
  significant: spec.significant,
  shutdown: spec.shutdown,
  grace_ms: spec.grace_ms,
});

/** The spec of a worker that the tree has not seen before. */
export type SpecOf = (workerId: string) => WorkerSpec;

/** `at` is the time of the record in monotonic milliseconds of this boot. */
export const evolveTree = (tree: TreeState, record: RecordDraft, at: number, specOf: SpecOf): TreeState => {
  switch (record.type) {
    case "tree_applied":
      return applied(tree, record.payload, specOf);
    case "tree_removed":
      return emptyTree(tree.name);
    case "supervisor_state_changed": {
      const { supervisor, to, reason, operation } = record.payload;
      const parent = tree.supervisors.get(supervisor)?.parent ?? null;
      const noted = to === "starting" && parent !== null ? started(tree, parent, supervisor) : tree;
      return withSupervisor(noted, supervisor, (old) => ({
        ...old,
        phase: to,
        reason,
        operation:
          operation === undefined
            ? null
            : { ...operation, due_ms: at + operation.delay_ms, started: begunBefore(operation) },
        // A supervisor that starts a new life begins with an empty window; one that continues keeps its own.
        restarts: to === "terminated" || to === "pending" || to === "parked" ? [] : old.restarts,
      }));
    }
    case "supervisor_restart_scheduled":
      return withSupervisor(tree, record.payload.supervisor, (old) => ({
        ...old,
        restarts: decayedWindow(
          [...old.restarts, { at_ms: at, child: record.payload.child }],
          at,
          old.config,
        ),
      }));
    case "supervisor_asked": {
      const { supervisor, what, by } = record.payload;
      return withSupervisor(tree, supervisor, (old) => ({
        ...old,
        asked_by: by,
        tombstone: what === "kill",
        restarts: what === "restart" ? [] : old.restarts,
      }));
    }
    case "worker_spawn_requested":
      return joined(tree, record.worker_id as string, record.payload.spec);
    default: {
      const id = record.worker_id;
      const member = id === undefined ? undefined : tree.members.get(id);
      if (id === undefined || member === undefined) return tree;
      return settled(tree, id, member, record, at);
    }
  }
};

const begunBefore = ({ scope, anew }: SupervisorOperation): readonly string[] =>
  anew === undefined ? [] : scope.filter((name) => !anew.includes(name));

/** A dynamic supervisor's new child. The children of a file come with `tree_applied`. */
const joined = (tree: TreeState, id: string, spec: WorkerSpec): TreeState => {
  if (tree.members.has(id)) return tree;
  const supervisor = tree.supervisors.get(spec.supervisor);
  if (supervisor?.config.strategy !== "dynamic") return tree;
  const name = spec.name ?? id;
  const ref: ChildRef = {
    name,
    path: childPath(tree.name, supervisor.path, id),
    worker_id: id,
    depends_on: [],
    removed: false,
  };
  const members = new Map(tree.members).set(id, newMember(ref.path, supervisor.path, id, spec));
  return withSupervisor({ ...tree, members }, supervisor.path, (old) => ({
    ...old,
    children: [...old.children, ref],
  }));
};

const settled = (tree: TreeState, id: string, member: Member, record: RecordDraft, at: number): TreeState => {
  const child = evolve(member.child, record, at);
  const spec = record.type === "worker_spec_changed" ? record.payload.spec : undefined;
  const changed =
    spec === undefined
      ? { ...member, child }
      : { ...newMember(member.path, member.supervisor, id, spec), child };
  const begun = record.type === "worker_state_changed" && record.payload.to === "starting";
  // The worker has begun, or will not begin any more.
  const settles =
    begun ||
    record.type === "worker_ended" ||
    (record.type === "worker_state_changed" && record.payload.to === "pending");
  const launching =
    settles && tree.launching.has(id)
      ? new Set([...tree.launching].filter((one) => one !== id))
      : tree.launching;
  const told = { ...tree, launching, members: new Map(tree.members).set(id, changed) };
  if (record.type === "worker_restart_scheduled" && restartCause(record.payload) === RESTART_BY_USER)
    return forgiven(told, member);
  const next = begun ? started(told, member.supervisor, member.path) : told;
  if (record.type !== "worker_ended") return next;
  // OTP: a dynamic supervisor forgets a child that is over. Every supervisor also forgets an ended child that was removed
  // from its file.
  const supervisor = next.supervisors.get(member.supervisor);
  const ref = supervisor?.children.find((one) => one.worker_id === id);
  return ref?.removed === true || supervisor?.config.strategy === "dynamic"
    ? forget(next, member.supervisor, id)
    : next;
};

/** A start by name clears this child's restarts from its supervisor's window. */
const forgiven = (tree: TreeState, { supervisor, path }: Member): TreeState =>
  withSupervisor(tree, supervisor, (old) => {
    const name = old.children.find((ref) => ref.path === path)?.name;
    return { ...old, restarts: old.restarts.filter(({ child }) => child !== name) };
  });

/** The supervisor's operation has started this child. */
const started = (tree: TreeState, supervisor: string, path: string): TreeState => {
  const state = tree.supervisors.get(supervisor);
  const name = state?.children.find((ref) => ref.path === path)?.name;
  const operation = state?.operation;
  if (
    state === undefined ||
    name === undefined ||
    operation?.stage !== "starting" ||
    operation.started.includes(name)
  )
    return tree;
  return withSupervisor(tree, supervisor, (old) => ({
    ...old,
    operation: { ...operation, started: [...operation.started, name] },
  }));
};

const forget = (tree: TreeState, supervisor: string, id: string): TreeState => {
  const members = new Map(tree.members);
  members.delete(id);
  return withSupervisor({ ...tree, members }, supervisor, (old) => ({
    ...old,
    children: old.children.filter(({ worker_id }) => worker_id !== id),
  }));
};

const withSupervisor = (
  tree: TreeState,
  path: string,
  change: (old: SupervisorState) => SupervisorState,
): TreeState => {
  const old = tree.supervisors.get(path);
  if (old === undefined) return tree;
  const next = { ...tree, supervisors: new Map(tree.supervisors).set(path, change(old)) };
  return pruned(next, path);
};

/** Forgets a supervisor that was removed from its file, with everything below it, once it has ended. */
const pruned = (tree: TreeState, path: string): TreeState => {
  const state = tree.supervisors.get(path) as SupervisorState;
  if (state.parent === null || state.phase !== "terminated") return tree;
  const parent = tree.supervisors.get(state.parent);
  if (parent?.children.some((ref) => ref.path === path && ref.removed) !== true) return tree;
  const supervisors = new Map(tree.supervisors);
  const members = new Map(tree.members);
  const drop = (at: string): void => {
    for (const ref of supervisors.get(at)?.children ?? []) {
      if (ref.worker_id === null) drop(ref.path);
      else members.delete(ref.worker_id);
    }
    supervisors.delete(at);
  };
  drop(path);
  supervisors.set(parent.path, { ...parent, children: parent.children.filter((ref) => ref.path !== path) });
  return { ...tree, supervisors, members };
};

/** Applies a new shape. A child that was already there keeps its life; a removed one is moved to the end and marked as removed. */
const applied = (
  tree: TreeState,
  { file, root }: RecordPayloads["tree_applied"],
  specOf: SpecOf,
): TreeState => {
  const supervisors = new Map(tree.supervisors);
  const members = new Map(tree.members);
  /** An ended worker needs no stop, so it is forgotten at once. */
  const hasEnded = ({ worker_id }: ChildRef): boolean =>
    worker_id !== null && isEnded(members.get(worker_id)?.child.state ?? "completed");
  const place = (given: TreeSupervisorRef, path: string, parent: string | null): void => {
    const old = supervisors.get(path);
    const refs = given.children.map((one) => refOf(tree.name, path, one));
    const kept = new Set(refs.map(keyOf));
    const gone = (old?.children ?? []).filter(
      (ref) => !kept.has(keyOf(ref)) && given.config.strategy !== "dynamic",
    );
    const leaving = gone.filter((ref) => !hasEnded(ref)).map((ref) => ({ ...ref, removed: true }));
    for (const ref of gone) if (ref.worker_id !== null && hasEnded(ref)) members.delete(ref.worker_id);
    const dynamic = given.config.strategy === "dynamic" ? (old?.children ?? []) : [];
    const fresh: SupervisorState = old ?? {
      path,
      parent,
      config: given.config,
      children: [],
      phase: "pending",
      reason: "",
      operation: null,
      restarts: [],
      tombstone: false,
    };
    supervisors.set(path, { ...fresh, config: given.config, children: [...refs, ...dynamic, ...leaving] });
    given.children.forEach((one, index) => {
      const ref = refs[index] as ChildRef;
      if (one.type === "supervisor") place(one, ref.path, path);
      else if (!members.has(one.worker_id))
        members.set(one.worker_id, newMember(ref.path, path, one.worker_id, specOf(one.worker_id)));
    });
  };
  place(root, tree.name, null);
  return { ...tree, file, supervisors, members };
};

const refOf = (tree: string, supervisor: string, given: TreeRef): ChildRef => ({
  name: given.name,
  path: childPath(tree, supervisor, given.name),
  worker_id: given.type === "worker" ? given.worker_id : null,
  depends_on: given.depends_on,
  removed: false,
});

/** A worker is identified by its id, a supervisor by its path. */
const keyOf = (ref: ChildRef): string => ref.worker_id ?? `supervisor ${ref.path}`;
