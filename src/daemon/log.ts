/**
 * The daemon's own log: one line per message on stderr, which is `daemon.log` for a daemon in the background.
 * JSON, unless a person reads it.
 */

export type Log = (
  level: "info" | "warn" | "error",
  message: string,
  facts?: Readonly<Record<string, unknown>>,
) => void;

export const makeLog =
  (write: (line: string) => void, json: boolean, now: () => Date): Log =>
  (level, message, facts = {}) => {
    const ts = now().toISOString();
    const told = Object.entries(facts).map(
      ([name, fact]) => ` ${name}=${typeof fact === "string" ? fact : JSON.stringify(fact)}`,
    );
    write(
      json
        ? `${JSON.stringify({ ts, level, message, ...facts })}\n`
        : `${ts} ${level} ${message}${told.join("")}\n`,
    );
  };

/** The text of a thrown value: its stack, if it has one. */
export const textOf = (cause: unknown): unknown => (cause instanceof Error ? cause.stack : cause);
