/** The key of a provider, read at the moment of a request. Its value goes into a header and nowhere else. */
import { readSecretFile } from "../../base/files/regular-file.ts";
import { SECRET_MAX_BYTES } from "../../base/limits.ts";
import { ModelError } from "../model.ts";
import type { Provider } from "./provider.ts";

export interface Secrets {
  variable(name: string): string | undefined;
  /** Rejects if the file cannot be read. */
  file(path: string): Promise<string>;
}

export const secretsOf = (env: Readonly<Record<string, string | undefined>>): Secrets => ({
  variable: (name) => env[name],
  file: readSecretFile(SECRET_MAX_BYTES),
});

/** Other characters cannot stand in a header, and the error of the HTTP client would show the value. */
const IS_HEADER = /^[\x21-\x7e]+$/;

/** Undefined if the provider needs no key. Throws a ModelError that names the reference, never the value. */
export const keyOf = async (
  { name, key }: Pick<Provider, "name" | "key">,
  secrets: Secrets,
): Promise<string | undefined> => {
  if (key === undefined) return undefined;
  const [kind, target] = [key.slice(1, key.indexOf(":")), key.slice(key.indexOf(":") + 1)];
  const value = kind === "env" ? secrets.variable(target) : await secrets.file(target).catch(() => undefined);
  const of_it = kind === "env" ? `the variable ${target}` : `the file ${target}`;
  if (value === undefined || value.trim() === "")
    throw new ModelError("auth", `There is no key for the provider ${name}: ${of_it} has none.`);
  if (!IS_HEADER.test(value.trim()))
    throw new ModelError(
      "auth",
      `The key for the provider ${name} in ${of_it} has characters that no key can have.`,
    );
  return value.trim();
};
