/** A run that messages can be written to. */
import type { Run, RunInput } from "../../adapters/spawner.ts";

export type Conversation = Run & { readonly input: RunInput };

export const takesInput = (run: Run): run is Conversation => run.input !== undefined;
