/** Decides what `agent up` does with each worker of a file that a cluster places (decision 0083). Pure. */
import type { NewPlacement, Placement } from "./rows.ts";

/** The file that placed a worker, by the name of its tree. */
export interface TreeOwner {
  readonly tree: string;
  readonly file: string;
}

export interface OwnedRow extends Pick<Placement, "worker" | "desired" | "spec_digest" | "node"> {
  readonly worker_id: string | null;
  readonly tree: string | null;
  readonly file: string | null;
  /** `killed`: by a person. Null where it runs, or ended in another way. */
  readonly over: "completed" | "killed" | null;
  readonly why: string | null;
  /** Its name is free. One that was killed may still stop on its node. */
  readonly is_over: boolean;
}

/** A worker of a file beside its row, in the words of `agent up`. */
interface PlacementChange {
  readonly path: string;
  readonly action: "create" | "restart" | "start" | "remove" | "unchanged" | "kept_dead";
  readonly reason: string;
}

export interface TreePlan {
  readonly changes: readonly PlacementChange[];
  /** No longer in the file. */
  readonly remove: readonly string[];
  /** Each ends before it is placed with its new spec. */
  readonly replace: readonly string[];
  /** To be placed: the new, the changed, and those that failed. */
  readonly place: readonly string[];
}

/** Another file has the name of the tree, or somebody else that of the worker. */
export interface TreeConflict {
  readonly worker: string;
  readonly owner: TreeOwner | null;
}

export const isOf = (row: OwnedRow, { tree, file }: TreeOwner): boolean =>
  row.tree === tree && row.file === file;

/** `rows`: those of the tree, and those with the name of a wanted worker. */
export const planTree = (
  owner: TreeOwner,
  wanted: readonly NewPlacement[],
  rows: readonly OwnedRow[],
): TreePlan | TreeConflict => {
  const other = rows.find((row) => row.tree === owner.tree && row.file !== owner.file);
  if (other !== undefined && wanted.length > 0) return { worker: other.worker, owner: ownerOf(other) };
  const known = new Map(rows.map((row) => [row.worker, row]));
  const taken = wanted
    .map(({ worker }) => known.get(worker))
    .find((row) => row !== undefined && row.desired === "running" && !isOf(row, owner));
  if (taken !== undefined) return { worker: taken.worker, owner: ownerOf(taken) };
  const changes = wanted.map((each) => changeOf(each, known.get(each.worker), owner));
  const names = new Set(wanted.map(({ worker }) => worker));
  const remove = rows.filter((row) => isOf(row, owner) && !names.has(row.worker)).map(({ worker }) => worker);
  const acting = changes.filter(({ action }) => action !== "unchanged" && action !== "kept_dead");
  return {
    changes: [...changes, ...remove.map(removed)],
    remove,
    replace: acting.flatMap(({ path }) => (known.get(path)?.desired === "running" ? [path] : [])),
    place: acting.map(({ path }) => path),
  };
};

const ownerOf = ({ tree, file }: OwnedRow): TreeOwner | null =>
  tree === null || file === null ? null : { tree, file };

const removed = (path: string): PlacementChange => ({
  path,
  action: "remove",
  reason: "it is in the file no more",
});

const changeOf = (
  { worker: path, spec_digest }: NewPlacement,
  row: OwnedRow | undefined,
  owner: TreeOwner,
): PlacementChange => {
  if (row === undefined || !isOf(row, owner))
    return { path, action: "create", reason: "it is new in the file" };
  if (row.over === "killed")
    return { path, action: "kept_dead", reason: "killed by name; `agent up` starts it after `agent down`" };
  if (row.spec_digest !== spec_digest) return { path, action: "restart", reason: "its spec changed" };
  if (row.desired === "running" || row.over === "completed") return { path, action: "unchanged", reason: "" };
  return { path, action: "start", reason: row.why ?? "it had ended" };
};
