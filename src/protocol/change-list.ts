/** The changes in a worktree. Uses no types of Node, because the declarations of the library include it. */
export interface ChangedFile {
  readonly path: string;
  readonly change: "added" | "modified" | "deleted" | "renamed" | "type_changed";
  /** The old path of a renamed file. */
  readonly from?: string;
  /** Null for a binary file. */
  readonly insertions: number | null;
  readonly deletions: number | null;
}

export interface ChangeList {
  /** The first CHANGES_FILES_MAX files by path. */
  readonly files: readonly ChangedFile[];
  readonly totals: {
    readonly files: number;
    readonly insertions: number;
    readonly deletions: number;
    readonly binary: number;
  };
}
