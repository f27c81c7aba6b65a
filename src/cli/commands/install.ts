/** agent daemon install | uninstall: the daemon as a service of the user. A file that was edited by hand is changed only with --force. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { commandLine } from "../../base/shell.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import { DAEMON_PROGRAM } from "../package.ts";
import type { InstallReply } from "../reports.ts";
import { type ServiceFile, serviceFile, WRITTEN_BY } from "./service.ts";

const fileOf = ({ stateDir, env }: Context): ServiceFile =>
  serviceFile({ stateDir, env, node: process.execPath, program: DAEMON_PROGRAM }, process.platform);

const present = (path: string): string | undefined => {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
};

/** The file ends with a checksum of its text, which reveals edits. */
const SEALED = /\n(?:# |<!-- )checksum ([0-9a-f]{16})(?: -->)?\n$/;
const checksum = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);
const sealed = (text: string): string => {
  const sum = `checksum ${checksum(text)}`;
  return `${text}${text.startsWith("<?xml") ? `\n<!-- ${sum} -->\n` : `\n# ${sum}\n`}`;
};
const isAsWritten = (text: string): boolean => {
  const found = SEALED.exec(text);
  return found !== null && text.includes(WRITTEN_BY) && checksum(text.slice(0, found.index)) === found[1];
};

const refuseEdited = (path: string, text: string | undefined, force: boolean, next: string): void => {
  if (force || text === undefined || isAsWritten(text)) return;
  throw new HoldfastError("ALREADY_EXISTS", `${path} was written or edited by somebody else.`, {
    suggestion: next,
  });
};

/** Runs the commands if the user's service manager answers; otherwise prints them. */
const carryOut = (
  { notice }: Context,
  commands: readonly (readonly string[])[],
): { commands: string[]; ran: boolean } => {
  const told = commands.map(commandLine);
  try {
    for (const [program, ...args] of commands)
      execFileSync(program!, args, { stdio: ["ignore", "ignore", "pipe"] });
    return { commands: told, ran: true };
  } catch (cause) {
    const { stderr, message } = cause as Error & { stderr?: Buffer };
    const why = stderr?.toString().trim().split("\n")[0] || message;
    notice(`Your service manager did not do it: ${why}`);
    return { commands: told, ran: false };
  }
};

export const install: CommandHandler = async (context) => {
  const { flags } = context;
  const file = fileOf(context);
  const text = sealed(file.text);
  const before = present(file.path);
  const isNew = before === undefined;
  const told = { path: file.path, text, commands: file.enable.map(commandLine), ran: false };
  if (flags["dry-run"])
    return success<InstallReply>({ ...told, effect: isNew ? "would_create" : "would_update" });
  refuseEdited(
    file.path,
    before,
    flags.force === true,
    "See what would be written with --dry-run; --force writes it.",
  );
  if (before !== text) {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, text);
  }
  const done = flags.now ? carryOut(context, file.enable) : {};
  const effect = isNew ? "created" : before === text ? "noop" : "updated";
  return success<InstallReply>({ ...told, ...done, effect });
};

export const uninstall: CommandHandler = async (context) => {
  const { flags } = context;
  const file = fileOf(context);
  const before = present(file.path);
  const told = { path: file.path, text: before ?? "", commands: file.forget.map(commandLine), ran: false };
  if (before === undefined) return success<InstallReply>({ ...told, commands: [], effect: "noop" });
  if (flags["dry-run"]) return success<InstallReply>({ ...told, effect: "would_delete" });
  refuseEdited(file.path, before, flags.force === true, "Look at it; --force removes it.");
  const done = flags.now ? carryOut(context, file.disable) : undefined;
  rmSync(file.path);
  if (file.link !== undefined) rmSync(file.link, { force: true });
  return success<InstallReply>({ ...told, ...(done?.ran ? done : {}), effect: "deleted" });
};
