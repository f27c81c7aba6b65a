/** A failed system call (EMFILE, EIO, ENOSPC, …). Other errors of Node and ours have a code too, but no errno. */
export const isOfTheSystem = (cause: unknown): cause is NodeJS.ErrnoException =>
  cause instanceof Error && typeof (cause as NodeJS.ErrnoException).errno === "number";

/** The disk or the quota is full. */
export const isFullDisk = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && /^(ENOSPC|EDQUOT)$/.test(String(cause.code));

/** No file descriptor is free, of this process or of the machine. */
export const isShortOfDescriptors = (cause: unknown): boolean =>
  cause instanceof Error && "code" in cause && /^(EMFILE|ENFILE)$/.test(String(cause.code));
