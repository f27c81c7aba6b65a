/** A worker's shell and its session: it holds it before its agent runs, and ends an agent that is in somebody else's. */
import { Effect } from "effect";
import type { Shell } from "./worker.ts";

/** Its agent has told its session, or a boot has found it in one. */
export const holdSession = (shell: Shell, session_id: string): Effect.Effect<void> =>
  Effect.suspend(() => {
    const refused = shell.bridge.sessions.claim(shell, session_id);
    if (refused === undefined) return Effect.void;
    const holder = String(refused.info.details?.holder);
    return shell.journal.fact({ type: "session_taken", session_id, holder });
  });

/** At a boot: nobody asks for it before its agent is started again. The start asks again for what the store refuses. */
export const keepSession = (shell: Shell): void => {
  const { sessions } = shell.bridge;
  try {
    sessions.claim(shell, sessions.known(shell));
  } catch {
    // The next reader of the log reports it.
  }
};
