/** agent token …: names for callers. The secret never crosses the socket at its making, and never stands in an envelope. */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { newTokenSecret, tokenDigest } from "../../protocol/token.ts";
import type { CommandHandler, Context } from "../context.ts";
import { writePrivate } from "./private-file.ts";

const requireFile = ({ mode }: Context): HoldfastError | undefined =>
  mode === "text"
    ? undefined
    : new HoldfastError("INVALID_REQUEST", "An envelope may hold no secret, so the secret needs a file.", {
        suggestion: "Add --to FILE, or -o text to print the secret alone.",
        phase: "validation",
      });

interface TokenToMake {
  readonly name: string;
  readonly expires_ms: number | undefined;
}

/** Makes a token, and hands over a text with its secret: in the file of `--to`, or printed alone. */
export const made = async (
  context: Context,
  client: Client,
  { name, expires_ms }: TokenToMake,
  textOf: (secret: string) => string,
) => {
  const { flags, cwd } = context;
  const file = flags.to === undefined ? null : resolve(cwd, flags.to as string);
  const secret = newTokenSecret();
  if (file !== null)
    writePrivate(file, Buffer.from(`${textOf(secret)}\n`), { flag: "--to", command: "token create" });
  try {
    const token = await client.request("token/create", { name, sha256: tokenDigest(secret), expires_ms });
    if (file === null) await context.stdout(`${textOf(secret)}\n`);
    return { ...token, file };
  } catch (error) {
    if (file !== null) rmSync(file, { force: true });
    throw error;
  }
};

/** An envelope may hold no secret. */
export const refuseWithoutFile = (context: Context): void => {
  const refused = context.flags.to === undefined ? requireFile(context) : undefined;
  if (refused !== undefined) throw refused;
};

export const create: CommandHandler = async (context) => {
  refuseWithoutFile(context);
  const client = await context.connect({ start: true });
  const asked = {
    name: context.call.args[0] as string,
    expires_ms: context.flags.expires as number | undefined,
  };
  const reply = await made(context, client, asked, (secret) => secret);
  context.hint(
    reply.file === null
      ? "It is shown this once. A client presents it in HOLDFAST_TOKEN."
      : `A client presents it with: HOLDFAST_TOKEN_FILE=${reply.file}`,
    "after",
  );
  return success(reply);
};

export const list: CommandHandler = async (context) => {
  const reply = await (await context.connect()).request("token/list", {});
  if (reply.tokens.length === 0) context.hint("No token. Make one with: agent token create NAME");
  return success(reply);
};

export const revoke: CommandHandler = async (context) =>
  success(await (await context.connect()).request("token/revoke", { name: context.call.args[0] as string }));
