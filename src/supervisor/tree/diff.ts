/**
 * The changes between a file and its tree. Pure, so that `agent diff` and `agent up` agree. A child is identified by its
 * path and its kind of node, so a renamed child is removed and created. For the same worker, only a changed spec is a
 * change.
 */
import { isDeepStrictEqual } from "node:util";
import type { TreeChange } from "../../protocol/replies/trees.ts";
import { FIELDS } from "../../protocol/spec-fields.ts";
import type { SupervisorNode, TreeNodeSpec, TreeSpec } from "../../protocol/tree.ts";
import { childPath } from "../../protocol/tree.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { type ChildRef, isTombstone, type SupervisorState, type TreeState } from "./state.ts";

const fieldsThat = (are: "isSupervision" | "isAmbient"): readonly string[] =>
  FIELDS.flatMap(([name, field]) => (field[are] ? [name] : []));
/** A change of only these fields restarts no process. */
const SUPERVISION_FIELDS = fieldsThat("isSupervision");
const IGNORED_FIELDS = fieldsThat("isAmbient");

export const changedFields = (before: WorkerSpec, after: WorkerSpec): readonly string[] => {
  const [a, b] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((field) => !IGNORED_FIELDS.includes(field) && !isDeepStrictEqual(a[field], b[field]))
    .sort();
};

export interface TreeDiff {
  readonly changes: readonly TreeChange[];
  /** Names of children to restart (those that live are stopped first), by the path of their supervisor. */
  readonly restart: Readonly<Record<string, readonly string[]>>;
}

/** `specOf`: the last applied spec of a worker; undefined if it is no longer kept. */
export const diffTree = (
  tree: TreeState | undefined,
  desired: TreeSpec,
  specOf: (workerId: string) => WorkerSpec | undefined,
): TreeDiff => {
  const changes: TreeChange[] = [];
  const restart: Record<string, string[]> = {};
  const again = (supervisor: string, name: string): void => {
    restart[supervisor] = [...(restart[supervisor] ?? []), name];
  };

  const worker = (node: Extract<TreeNodeSpec, { type: "worker" }>, path: string, at: string): void => {
    const ref = refAt(tree, at, node);
    if (ref?.worker_id == null) {
      again(at, node.name);
      changes.push({ path, action: "create", reason: "it is new in the file" });
      return;
    }
    const before = specOf(ref.worker_id);
    const fields = before === undefined ? ["spec"] : changedFields(before, node.spec);
    if (fields.length === 0) {
      changes.push(
        isTombstone(tree as TreeState, ref)
          ? { path, action: "kept_dead", reason: `killed by name; \`agent restart ${path}\` starts it` }
          : { path, action: "unchanged", reason: "" },
      );
      return;
    }
    if (isTombstone(tree as TreeState, ref)) {
      changes.push({
        path,
        action: "kept_dead",
        reason: `killed by name; \`agent restart ${path}\` starts it`,
        fields,
      });
      return;
    }
    if (fields.every((field) => SUPERVISION_FIELDS.includes(field))) {
      changes.push({ path, action: "update", reason: "its supervision changed", fields });
      return;
    }
    again(at, node.name);
    changes.push({ path, action: "restart", reason: "its spec changed", fields });
  };

  const supervisor = (node: SupervisorNode, path: string, at: string | null): void => {
    const state = tree?.supervisors.get(path);
    const fresh = state === undefined || (at !== null && refAt(tree, at, node) === undefined);
    if (fresh) {
      changes.push({ path, action: "create", reason: "it is new in the file" });
      if (at !== null) again(at, node.name);
    } else changes.push(ofSupervisor(state, node, path));
    if (!fresh && at !== null && isDown(state) && !state.tombstone) again(at, node.name);
    for (const child of node.children) {
      const below = childPath(desired.name, path, child.name);
      if (child.type === "worker") worker(child, below, path);
      else supervisor(child, below, path);
    }
    if (fresh || node.config.strategy === "dynamic") return;
    const wanted = new Set(node.children.map(({ type, name }) => `${type} ${name}`));
    for (const ref of state.children)
      if (!ref.removed && !wanted.has(`${ref.worker_id === null ? "supervisor" : "worker"} ${ref.name}`))
        changes.push({ path: ref.path, action: "remove", reason: "it is in the file no more" });
  };

  supervisor(desired.root, desired.name, null);
  return { changes, restart };
};

const isDown = ({ phase }: SupervisorState): boolean => phase === "terminated" || phase === "parked";

const ofSupervisor = (state: SupervisorState, node: SupervisorNode, path: string): TreeChange => {
  const fields = [...new Set([...Object.keys(state.config), ...Object.keys(node.config)])].filter(
    (field) =>
      !isDeepStrictEqual(
        (state.config as Record<string, unknown>)[field],
        (node.config as Record<string, unknown>)[field],
      ),
  );
  if (state.tombstone)
    return { path, action: "kept_dead", reason: `killed by name; \`agent restart ${path}\` starts it` };
  if (isDown(state)) return { path, action: "start", reason: `it was ${state.phase}: ${state.reason}` };
  if (fields.length > 0) return { path, action: "update", reason: "its supervision changed", fields };
  return { path, action: "unchanged", reason: "" };
};

/** The supervisor's present child with this name and kind of node. */
const refAt = (tree: TreeState | undefined, supervisor: string, node: TreeNodeSpec): ChildRef | undefined =>
  tree?.supervisors
    .get(supervisor)
    ?.children.find(
      (ref) =>
        !ref.removed && ref.name === node.name && (ref.worker_id === null) === (node.type === "supervisor"),
    );
