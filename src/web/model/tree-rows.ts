/** The supervision tree as the rows of an indented list. Pure. */
import type { TreeNode } from "../../protocol/replies/trees.ts";
import { PAUSED } from "./states.ts";

export interface TreeLine {
  readonly node: TreeNode;
  /** From 1, as `aria-level`. */
  readonly level: number;
  /** Undefined for a row without children. */
  readonly isOpen?: boolean;
  readonly place: number;
  readonly siblings: number;
  /** The row of its supervisor, or of the worker that spawned it; -1 at the top. */
  readonly parent: number;
}

export interface RowFilter {
  readonly text: string;
  readonly state: string;
  readonly kind: string;
}

const EVERYTHING: RowFilter = { text: "", state: "", kind: "" };

interface SearchedRow {
  readonly id: string;
  readonly name: string | null;
  readonly task?: string | undefined;
  readonly kind?: string | undefined;
  readonly state?: string | undefined;
  readonly phase?: string | undefined;
  readonly paused?: readonly unknown[] | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
}

/** The words of a row in which a text is searched. */
const wordsOf = ({ id, name, task = "", kind = "", labels = {} }: SearchedRow): string =>
  [id, name ?? "", task, kind, ...Object.entries(labels).map(([key, value]) => `${key}=${value}`)]
    .join("\n")
    .toLowerCase();

export const isShown = (row: SearchedRow, { text, state, kind }: RowFilter): boolean =>
  (kind === "" || row.kind === kind) &&
  (state === "" || (state === PAUSED ? row.paused !== undefined : (row.state ?? row.phase) === state)) &&
  (text === "" || wordsOf(row).includes(text.toLowerCase()));

const isAll = ({ text, state, kind }: RowFilter): boolean => text === "" && state === "" && kind === "";

/** With a filter: the rows that match, and those above them. */
export const treeRows = (
  root: TreeNode,
  closed: ReadonlySet<string>,
  filter: RowFilter = EVERYTHING,
): readonly TreeLine[] => {
  const rows: TreeLine[] = [];
  const matching = isAll(filter) ? undefined : new Set<TreeNode>();
  const mark = (node: TreeNode): boolean => {
    const below = node.children.map(mark).includes(true);
    if (below || isShown(node, filter)) matching?.add(node);
    return below || isShown(node, filter);
  };
  if (matching !== undefined) mark(root);
  const add = (nodes: readonly TreeNode[], level: number, parent: number): void => {
    const shown = nodes.filter((node) => matching?.has(node) !== false);
    shown.forEach((node, index) => {
      const at = rows.length;
      const isOpen = node.children.length === 0 ? undefined : !closed.has(node.id);
      rows.push({ node, level, isOpen, place: index + 1, siblings: shown.length, parent });
      if (isOpen === true) add(node.children, level + 1, at);
    });
  };
  add([root], 1, -1);
  return rows;
};

/** The row to which a key leads from another one, and the node that it opens or closes. Undefined for another key. */
export const treeMove = (
  key: string,
  at: number,
  rows: readonly TreeLine[],
): { readonly to: number; readonly toggle?: string } | undefined => {
  const row = rows[at];
  if (row === undefined) return undefined;
  const within = (to: number) => ({ to: Math.max(0, Math.min(rows.length - 1, to)) });
  switch (key) {
    case "ArrowDown":
      return within(at + 1);
    case "ArrowUp":
      return within(at - 1);
    case "Home":
      return within(0);
    case "End":
      return within(rows.length - 1);
    case "ArrowRight":
      if (row.isOpen === undefined) return within(at);
      return row.isOpen ? within(at + 1) : { to: at, toggle: row.node.id };
    case "ArrowLeft":
      return row.isOpen === true ? { to: at, toggle: row.node.id } : within(row.parent);
    default:
      return undefined;
  }
};
