/** Ctrl-C and TERM. The first asks the command to end in order; the second ends the process at once (requirements F-013). */
import { constants } from "node:os";

export type Interrupt = "SIGINT" | "SIGTERM";

/** One Ctrl-C may arrive twice: from the terminal, and forwarded by npm, npx or the wrapper for an old Node. */
const SAME_SIGNAL_MS = 150;

/** 130 for SIGINT, 143 for SIGTERM. */
export const exitCodeOfSignal = (signal: Interrupt): number => 128 + constants.signals[signal];

/** Resolves with the first signal; never rejects. */
export const firstInterrupt = (): Promise<Interrupt> =>
  new Promise((resolve) => {
    let firstAt: number | undefined;
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      process.on(signal, () => {
        if (firstAt !== undefined && performance.now() - firstAt > SAME_SIGNAL_MS)
          process.exit(exitCodeOfSignal(signal));
        firstAt ??= performance.now();
        resolve(signal);
      });
    }
  });
