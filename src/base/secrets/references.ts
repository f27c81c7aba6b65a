/** Secrets by reference, `@env:NAME` or `@file:PATH`: a configuration says where a secret is, and never the secret. */

/** The places of secrets. */
export interface Secrets {
  variable(name: string): string | undefined;
  /** Rejects if the file cannot be read. */
  file(path: string): Promise<string>;
}

const REFERENCE = /^@(env|file):(.+)$/s;
export const isSecretReference = (text: string): boolean => REFERENCE.test(text);

/** The value without the white space around it, empty if there is none, and its place in words. */
export const readReference = async (
  reference: string,
  secrets: Secrets,
): Promise<{ readonly value: string; readonly place: string }> => {
  const [, kind, target = ""] = REFERENCE.exec(reference) ?? [];
  const read = kind === "env" ? secrets.variable(target) : await secrets.file(target).catch(() => undefined);
  return {
    value: read?.trim() ?? "",
    place: kind === "env" ? `the variable ${target}` : `the file ${target}`,
  };
};
