/** The address of the cluster's database, as its node was given it: itself, or the file that has it. */
import { readSecretFile } from "../../base/files/regular-file.ts";
import { SECRET_MAX_BYTES } from "../../base/limits.ts";
import { isSecretReference, readReference } from "../../base/secrets/references.ts";
import { HoldfastError } from "../../protocol/errors.ts";

export const addressOf = async (database: string): Promise<string> => {
  if (!isSecretReference(database)) return checkedAddress(database, "The address");
  const secrets = { variable: () => undefined, file: readSecretFile(SECRET_MAX_BYTES) };
  const { value, place } = await readReference(database, secrets);
  if (value === "")
    throw new HoldfastError("INVALID_REQUEST", `${place} has no address: it is missing, closed or empty.`, {
      suggestion: "Write the address of the cluster's Postgres there, and try again.",
    });
  return checkedAddress(value, `The text of ${place}`);
};

const checkedAddress = (text: string, what: string): string => {
  const isAddress = URL.canParse(text) && ["postgres:", "postgresql:"].includes(new URL(text).protocol);
  if (isAddress) return text;
  throw new HoldfastError("INVALID_REQUEST", `${what} is no address of a Postgres.`, {
    suggestion: "Write postgres://USER@HOST/DATABASE, and a password by @env:NAME or @file:PATH alone.",
  });
};
