/** agent identity …: the key pairs by which Weblisk knows this state directory and its agents. Works on their files directly. */
import { resolve } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import type { Call } from "../parse.ts";
import { writePrivate } from "./private-file.ts";

/** Cryptography is loaded by these commands alone. */
const files = () => import("../../weblisk/identity/opened.ts");

/** weblisk.txt, AgentManifest: the name of an agent; a folder of keys has it too. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export const identityProblems = ({ args: [name] }: Call): readonly string[] =>
  name === undefined || NAME.test(name)
    ? []
    : [`NAME is 1 to 64 lower-case letters, digits and dashes, not "${name}"`];

export const nameIn = async ({ call }: Context): Promise<string> =>
  call.args[0] ?? (await files()).ORCHESTRATOR;

export const show: CommandHandler = async (context) => {
  const { ensureIdentity, publicPart } = await files();
  const name = await nameIn(context);
  const { directory, isNew, key } = ensureIdentity(context.stateDir, name);
  return success({ ...publicPart(name, key), directory, effect: isNew ? "created" : "noop" });
};

export const exported: CommandHandler = async (context) => {
  const { privateBytes, publicPart, readIdentity } = await files();
  const name = await nameIn(context);
  const known = readIdentity(context.stateDir, name);
  if (known === undefined)
    throw new HoldfastError("WORKER_NOT_FOUND", `There is no identity ${name}.`, {
      suggestion: `Make it with: agent identity show${context.call.args[0] === undefined ? "" : ` ${name}`}`,
    });
  const file = context.flags.private as string | undefined;
  const path = file === undefined ? null : resolve(context.cwd, file);
  if (path !== null)
    writePrivate(path, privateBytes(known.key), { flag: "--private", command: "identity export" });
  return success({ ...publicPart(name, known.key), private_file: path });
};
