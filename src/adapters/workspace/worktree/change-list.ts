/** The changes in a worktree. Without Node's types: the library's declarations name it. */
export interface ChangedFile {
  readonly path: string;
  readonly change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
  /** The old path of a renamed one. */
  readonly from?: string;
  /** Null of a binary file. */
  readonly insertions: number | null;
  readonly deletions: number | null;
}

export interface ChangeList {
  /** The first CHANGES_FILES_MAX of them, by path. */
  readonly files: readonly ChangedFile[];
  readonly totals: {
    readonly files: number;
    readonly insertions: number;
    readonly deletions: number;
    readonly binary: number;
  };
}
