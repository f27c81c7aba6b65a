/** Secrets by reference, `@env:NAME` or `@file:PATH`, read at the moment of use. A value goes to its server and nowhere else. */
import { readSecretFile } from "../base/files/regular-file.ts";
import { SECRET_MAX_BYTES } from "../base/limits.ts";
import { readReference, type Secrets } from "../base/secrets/references.ts";
import { HoldfastError } from "../protocol/errors.ts";

export type { Secrets };

export const secretsOf = (env: Readonly<Record<string, string | undefined>>): Secrets => ({
  variable: (name) => env[name],
  file: readSecretFile(SECRET_MAX_BYTES),
});

/** Other characters cannot stand in a header, and the error of the HTTP client would show the value. */
const IS_HEADER = /^[\x21-\x7e]+$/;

/** The value. Rejects with SECRET_UNAVAILABLE: the error names `owner` and the reference, never the value. */
export const secretOf = async (reference: string, owner: string, secrets: Secrets): Promise<string> => {
  const { value, place } = await readReference(reference, secrets);
  if (value === "")
    throw new HoldfastError("SECRET_UNAVAILABLE", `There is no key for ${owner}: ${place} has none.`);
  if (!IS_HEADER.test(value))
    throw new HoldfastError(
      "SECRET_UNAVAILABLE",
      `The key for ${owner} in ${place} has characters that no key can have.`,
    );
  return value;
};
