/** Ends a process that may have ended a moment ago, between the look that found it and this signal. */
export const killIfThere = (pid: number): void => {
  try {
    process.kill(pid, "SIGKILL");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ESRCH") throw cause;
  }
};
