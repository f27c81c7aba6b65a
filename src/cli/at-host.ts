/** Words of a command about one host: they name it, and the commands that they advise lead there. Pure. */
import type { NamedHost } from "../base/host-address.ts";
import { commandLine } from "../base/shell.ts";
import { COMMANDS } from "../commands/commands.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { CommandResult } from "./context.ts";

const WORDS = COMMANDS.map(({ words }) => words.join(" "))
  .sort((a, b) => b.length - a.length)
  .join("|");
const ADVISED = new RegExp(String.raw`\bagent (?=(?:${WORDS})(?![\w-]))`, "g");

/** The text, with `--host` in each command of it. Commands for this machine need none. */
export const commandsAt = ({ name, address }: NamedHost, text: string): string =>
  address === undefined ? text : text.replace(ADVISED, () => `agent ${commandLine(["--host", name])} `);

const withError = (result: CommandResult, change: (error: HoldfastError) => HoldfastError): CommandResult =>
  result.ok ? result : { ...result, error: change(result.error) };

/** An error of the link to a host has the host's address, and advises what to do on this machine. */
const isOfLink = ({ info }: HoldfastError): boolean => info.details?.host !== undefined;

/** The result, with advice that leads to the host. */
export const leadingTo = (host: NamedHost, result: CommandResult): CommandResult =>
  withError(result, (error) => {
    if (isOfLink(error)) return error;
    const { code, message, info, suggestion } = error;
    const { suggestion_cli } = info;
    return new HoldfastError(code, message, {
      ...info,
      suggestion: commandsAt(host, suggestion),
      ...(suggestion_cli !== undefined && { suggestion_cli: commandsAt(host, suggestion_cli) }),
    });
  });

/** The result of a call for one host alone: its error names the host, and leads there. */
export const ofHost = (host: NamedHost, result: CommandResult): CommandResult =>
  withError(leadingTo(host, result), (error) => {
    const { code, message, info } = error;
    // The address may be its only name.
    if (info.details?.host === host.name) return error;
    return new HoldfastError(code, `${host.name}: ${message}`, {
      ...info,
      details: { ...info.details, host: host.name },
    });
  });
