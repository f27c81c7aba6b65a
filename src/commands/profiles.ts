/** The profiles of Protocol v1 that these commands implement. */
import { profilesOf } from "../protocol/profiles.ts";
import { BUILTIN_COMMANDS } from "../protocol/words.ts";
import { COMMANDS } from "./commands.ts";

/** Computed from the list of commands; a test compares them with the daemon's handlers. */
export const PROFILES: readonly string[] = profilesOf([
  ...COMMANDS.map(({ command }) => command),
  ...BUILTIN_COMMANDS,
]);
