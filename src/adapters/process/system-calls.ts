/** Numbers of system calls that perl makes for us (asm/unistd.h). */
export interface SystemCallNumbers {
  readonly prctl: number;
  readonly close: number;
  readonly setsid: number;
  readonly signalfd4: number;
  readonly rt_sigprocmask: number;
}

const CALLS: Partial<Record<NodeJS.Architecture, SystemCallNumbers>> = {
  x64: { prctl: 157, close: 3, setsid: 112, signalfd4: 289, rt_sigprocmask: 14 },
  arm64: { prctl: 167, close: 57, setsid: 157, signalfd4: 74, rt_sigprocmask: 135 },
};

/** The same number on every processor. Kernels before 5.9 lack it. */
export const CLOSE_RANGE = 436;
export const PR_SET_CHILD_SUBREAPER = 36;

/** Undefined on a processor whose numbers are unknown. */
export const theCalls = (): SystemCallNumbers | undefined =>
  process.platform === "linux" ? CALLS[process.arch] : undefined;
