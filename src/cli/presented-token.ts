/** The secret of a named token that this client presents: from a variable or a file, and never from an argument, which others could read. */
import { statSync } from "node:fs";
import { resolve } from "node:path";
import { readNamed } from "../base/files/regular-file.ts";
import { TOKEN_FILE_MAX_BYTES, TOKEN_MAX_CHARS } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";

export const presentedToken = (
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
): string | undefined => {
  const { HOLDFAST_TOKEN: token, HOLDFAST_TOKEN_FILE: file } = env;
  if (token !== undefined && token !== "") return bounded("HOLDFAST_TOKEN", token.trim());
  if (file === undefined || file === "") return undefined;
  const path = resolve(cwd, file);
  return bounded(`HOLDFAST_TOKEN_FILE ${path}`, secretIn(path));
};

/** A longer text would be refused in the words of the wire, which say nothing of the variable. */
const bounded = (place: string, token: string): string => {
  if (token.length <= TOKEN_MAX_CHARS) return token;
  throw new HoldfastError(
    "NOT_AUTHORISED",
    `${place} holds no token: it has more than ${TOKEN_MAX_CHARS} characters.`,
    { suggestion: "Give it the secret alone, as `agent token create` prints it.", phase: "validation" },
  );
};

const secretIn = (path: string): string => {
  let text: string | undefined;
  let mode = 0;
  try {
    ({ mode } = statSync(path));
    text = readNamed(path, TOKEN_FILE_MAX_BYTES)?.toString("utf8").trim();
  } catch {
    // Told below.
  }
  if (text === undefined || text === "")
    throw new HoldfastError("SECRET_UNAVAILABLE", `HOLDFAST_TOKEN_FILE ${path} cannot be read.`, {
      suggestion: "Name the file that `agent token create --to FILE` has written.",
      phase: "validation",
    });
  if ((mode & 0o077) !== 0)
    throw new HoldfastError("PERMISSION_DENIED", `Others may read HOLDFAST_TOKEN_FILE ${path}.`, {
      suggestion: `Close it to them: chmod 600 ${path}`,
      phase: "validation",
    });
  return text;
};
