/** The questions of `agent init` on a terminal. A question has a default, which an empty line takes. */
import { HoldfastError } from "../../protocol/errors.ts";

/** Reads an answer: its value, or the rest of a sentence that begins with "It". */
export type ReadAnswer<T> = (text: string) => { readonly value: T } | { readonly problem: string };

export interface Asker {
  ask<T>(question: string, fallback: string, read: ReadAnswer<T>): Promise<T>;
}

/** The terminal stays in line mode, so that Ctrl-C reaches the command as in every other one. */
export const makeAsker = (lines: AsyncIterator<string>, tell: (text: string) => void): Asker => ({
  ask: async (question, fallback, read) => {
    for (;;) {
      tell(`${question} [${fallback}] `);
      const line = await lines.next();
      if (line.done === true)
        throw new HoldfastError(
          "INPUT_REQUIRED",
          "The input ended before the last question; nothing was written.",
          {
            suggestion: "Run it again, or give the answers as flags: agent init --help",
          },
        );
      const given = line.value.trim();
      const answer = read(given === "" ? fallback : given);
      if ("value" in answer) return answer.value;
      tell(`It ${answer.problem}.\n`);
    }
  },
});
