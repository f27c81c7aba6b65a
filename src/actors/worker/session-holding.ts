/**
 * Holds the session of a worker before its agent runs, and ends an agent that is in a session held by another worker.
 */
import { Effect } from "effect";
import type { Shell } from "./worker.ts";

/** Called when the agent has told its session, or a boot has found the agent in one. */
export const holdSession = (shell: Shell, session_id: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const refused = shell.bridge.sessions.claim(shell, session_id);
    if (refused === undefined) return Effect.void;
    const holder = String(refused.info.details?.holder);
    return shell.journal.fact({ type: "session_taken", session_id, holder });
  });

/** Claims the session at a boot. If the store cannot be read now, the next start asks again. */
export const keepSession = (shell: Shell): void => {
  const { sessions } = shell.bridge;
  try {
    sessions.claim(shell, sessions.known(shell));
  } catch {
    // The next reader of the log reports it.
  }
};
