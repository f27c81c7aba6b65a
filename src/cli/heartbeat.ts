/** Prints a sign of life after a long silence, so that a reader can tell a wait from a hang (notes B.3, F-053 and O-012). */
export interface IdlePrinter {
  /** Something was printed, so the silence starts again. */
  printed(): void;
  stop(): void;
}

/** `beat` gets the milliseconds since `started`. With `every_ms` 0 it is never called. */
export const makeHeartbeat = (
  every_ms: number,
  started: number,
  beat: (elapsed_ms: number) => void,
): IdlePrinter => {
  if (every_ms === 0) return { printed: () => {}, stop: () => {} };
  const timer = setInterval(() => beat(Math.round(performance.now() - started)), every_ms);
  timer.unref();
  return { printed: () => void timer.refresh(), stop: () => clearInterval(timer) };
};
