/** agent token …: names for callers. The secret never crosses the socket at its making, and never stands in an envelope. */
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { newTokenSecret, tokenDigest } from "../../protocol/token.ts";
import type { CommandHandler, Context } from "../context.ts";
import { invalid } from "../parse.ts";

/** A new file that its owner alone may read. */
const writeSecret = (path: string, secret: string): void => {
  try {
    const file = openSync(path, "wx", 0o600);
    try {
      writeSync(file, `${secret}\n`);
    } finally {
      closeSync(file);
    }
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw invalid([`--to ${path} is there already`], "token create");
    throw new HoldfastError("PERMISSION_DENIED", `${path} cannot be written: ${code ?? String(cause)}.`, {
      cause,
      suggestion: "Name another file with --to.",
      phase: "validation",
    });
  }
};

const requireFile = ({ mode }: Context): HoldfastError | undefined =>
  mode === "text"
    ? undefined
    : new HoldfastError("INVALID_REQUEST", "An envelope may hold no secret, so the secret needs a file.", {
        suggestion: "Add --to FILE, or -o text to print the secret alone.",
        phase: "validation",
      });

export const create: CommandHandler = async (context) => {
  const { call, flags, cwd } = context;
  const name = call.args[0] as string;
  const file = flags.to === undefined ? null : resolve(cwd, flags.to as string);
  const refused = file === null ? requireFile(context) : undefined;
  if (refused !== undefined) throw refused;
  const client = await context.connect({ start: true });
  const secret = newTokenSecret();
  if (file !== null) writeSecret(file, secret);
  try {
    const expires_ms = flags.expires as number | undefined;
    const made = await client.request("token/create", { name, sha256: tokenDigest(secret), expires_ms });
    if (file === null) await context.stdout(`${secret}\n`);
    context.hint(
      file === null
        ? "It is shown this once. A client presents it in HOLDFAST_TOKEN."
        : `A client presents it with: HOLDFAST_TOKEN_FILE=${file}`,
      "after",
    );
    return success({ ...made, file });
  } catch (error) {
    if (file !== null) rmSync(file, { force: true });
    throw error;
  }
};

export const list: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("token/list", {});
  if (reply.tokens.length === 0) context.hint("No token. Make one with: agent token create NAME");
  return success(reply);
};

export const revoke: CommandHandler = async (context) =>
  success(await (await context.connect()).request("token/revoke", { name: context.call.args[0] as string }));
