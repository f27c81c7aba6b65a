/** A sign of life where nothing else is printed for long, so that who reads can tell a wait from a hang (notes B.3, F-053 and O-012). */
export interface Heartbeat {
  /** Something was printed: the silence begins anew. */
  printed(): void;
  stop(): void;
}

/** `beat` gets the milliseconds since `started`. `every_ms` 0 is never. */
export const makeHeartbeat = (
  every_ms: number,
  started: number,
  beat: (elapsed_ms: number) => void,
): Heartbeat => {
  if (every_ms === 0) return { printed: () => {}, stop: () => {} };
  const timer = setInterval(() => beat(Math.round(performance.now() - started)), every_ms);
  timer.unref();
  return { printed: () => void timer.refresh(), stop: () => clearInterval(timer) };
};
