/** The `agent` command that does the same as a button: what a person does here, a script can do. Pure. */
import { commandLine } from "../../base/shell.ts";

export const commandOf = (...words: readonly string[]): string => commandLine(["agent", ...words]);

/** A worker as a person would type it. */
export const typedName = ({ id, name }: { readonly id: string; readonly name: string | null }): string =>
  name ?? id;
