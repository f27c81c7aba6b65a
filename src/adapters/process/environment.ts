/**
 * Builds a child's environment; nothing is inherited. It has the variables that
 * every program needs, the credentials that the kind declares, the adapter's variables and the user's. The
 * spawner adds the run's marker.
 */

import { resolve } from "node:path";
import { BASE_VARIABLES, isVariable, referencedVariables, VARIABLE_NAME } from "../../base/environment.ts";
import { SECRET_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { mcpVariables, secretIn } from "../../protocol/mcp-references.ts";
import { isSecretName } from "../../protocol/redact.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { MARKER } from "./marker.ts";
import { PLACED_MARKER } from "./placed-marker.ts";
import { PATH_DEFAULT } from "./programs.ts";

export interface EnvironmentSource {
  readonly spec: Pick<WorkerSpec, "client_env" | "env" | "inherit_env" | "cwd" | "mcp">;
  /** Names of the client's variables that the kind declares. */
  readonly credentials: readonly string[];
  /** Variables that the adapter adds; --env wins over them. */
  readonly planned: Readonly<Record<string, string>>;
  /** More of them, whose values may hold a reference after a word; `--env` wins over them too. */
  readonly references?: Readonly<Record<string, string>> | undefined;
  /** Reads the file of an `@file:` reference by its absolute path. */
  readonly readFile: (path: string) => Promise<string>;
}

export interface BuiltEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /**
   * Values that must not reach the log: those of variables with secret names, and those read from references.
   */
  readonly secrets: readonly string[];
}

const pick = (from: Readonly<Record<string, string>>, patterns: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    Object.entries(from).filter(([name]) => patterns.some((pattern) => isVariable(pattern, name))),
  );

/**
 * The part of the client's environment that incarnations of this worker may need. It is stored with the
 * launch spec.
 */
export const keptEnvironment = (
  spec: EnvironmentSource["spec"],
  variables: readonly string[],
): Record<string, string> => {
  return pick(spec.client_env, [
    ...BASE_VARIABLES,
    ...variables,
    ...spec.inherit_env,
    ...referencedVariables(spec.env),
    ...mcpVariables(spec.mcp),
  ]);
};

/**
 * Fails with SECRET_UNAVAILABLE if a reference cannot be resolved, and with INVALID_REQUEST if a name is not
 * valid in a shell.
 */
export const buildEnvironment = async (source: EnvironmentSource): Promise<BuiltEnvironment> => {
  const { spec, credentials, planned } = source;
  const wrong = Object.keys(spec.env).filter((name) => !VARIABLE_NAME.test(name));
  if (wrong.length > 0) {
    const problems = wrong.map(
      (name) => `"${name}" is not a valid variable name: use letters, digits and _, and no digit first`,
    );
    throw new HoldfastError("INVALID_REQUEST", `${problems.join("; ")}.`, { problems });
  }
  const referenced: string[] = [];
  const read = await readReferences(source.references ?? {}, source);
  referenced.push(...read.secrets);
  const env: Record<string, string> = {
    PATH: PATH_DEFAULT,
    ...pick(spec.client_env, [...BASE_VARIABLES, ...credentials]),
    ...planned,
    ...read.values,
    ...pick(spec.client_env, spec.inherit_env),
  };
  for (const [name, value] of Object.entries(spec.env)) {
    const secret = await resolveReference(name, value, source);
    if (secret !== undefined) referenced.push(secret);
    env[name] = secret ?? value;
  }
  delete env[MARKER];
  delete env[PLACED_MARKER];
  // Base URLs and settings directories are declared as credentials, but they are not secret.
  const named = Object.entries(env).flatMap(([name, value]) => (isSecretName(name) ? [value] : []));
  return { env, secrets: [...new Set([...named, ...referenced])].filter((secret) => secret !== "") };
};

/** The values with their references read, and the secrets among them. Rejects with SECRET_UNAVAILABLE. */
export const readReferences = async (
  given: Readonly<Record<string, string>>,
  source: Pick<EnvironmentSource, "spec" | "readFile">,
): Promise<{ readonly values: Readonly<Record<string, string>>; readonly secrets: readonly string[] }> => {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, value] of Object.entries(given)) {
    const held = secretIn(value);
    const secret = held && (await resolveReference(name, held.reference, source));
    if (secret !== undefined) secrets.push(secret);
    else if (isSecretName(name)) secrets.push(value);
    values[name] = held === undefined ? value : `${held.before}${secret}`;
  }
  return { values, secrets };
};

/** The value that `@env:NAME` or `@file:PATH` refers to; undefined for a plain value. */
const resolveReference = async (
  name: string,
  value: string,
  { spec, readFile }: Pick<EnvironmentSource, "spec" | "readFile">,
): Promise<string | undefined> => {
  const [, kind, target = ""] = /^@(env|file):(.+)$/s.exec(value) ?? [];
  if (kind === undefined) return undefined;
  if (kind === "env") {
    const found = spec.client_env[target];
    if (found !== undefined) return found;
    throw new HoldfastError(
      "SECRET_UNAVAILABLE",
      `${name} refers to the variable ${target}, which was not set at spawn.`,
    );
  }
  const path = resolve(spec.cwd, target);
  const text = await readFile(path).catch((cause: unknown) => {
    throw new HoldfastError(
      "SECRET_UNAVAILABLE",
      `${name} refers to the file ${path}, which cannot be read.`,
      { cause },
    );
  });
  if (Buffer.byteLength(text) > SECRET_MAX_BYTES || text.includes("\0")) {
    throw new HoldfastError(
      "SECRET_UNAVAILABLE",
      `${name} refers to the file ${path}, which is not a text of at most ${SECRET_MAX_BYTES} bytes.`,
    );
  }
  return text.replace(/\r?\n$/, "");
};
