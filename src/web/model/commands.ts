/** The `agent` command that does the same as a button: what a person does here, a script can do. Pure. */
import { LOCAL_HOST } from "../../base/host-address.ts";
import { commandLine } from "../../base/shell.ts";

export const commandOf = (...words: readonly string[]): string => commandLine(["agent", ...words]);

/** The command for a host, as one types it where the dashboard over hosts is served. */
export const atHost = (host: string | undefined, command: string): string =>
  host === undefined || host === LOCAL_HOST
    ? command
    : command.replace(/^agent(?= )/, () => commandLine(["agent", "--host", host]));

/** A worker as a person would type it. */
export const typedName = ({ id, name }: { readonly id: string; readonly name: string | null }): string =>
  name ?? id;
