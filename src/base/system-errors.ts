/** A call to the kernel that failed (EMFILE, EIO, ENOSPC, …). Errors of Node and of ours have a code too, and no number. */
export const isOfTheSystem = (cause: unknown): cause is NodeJS.ErrnoException =>
  cause instanceof Error && typeof (cause as NodeJS.ErrnoException).errno === "number";

/** There is no room for what was to be written. */
export const isFullDisk = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && /^(ENOSPC|EDQUOT)$/.test(String(cause.code));
