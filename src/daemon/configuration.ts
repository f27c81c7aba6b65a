/** Reads the configuration of a daemon. One that cannot be read is told of and counts as none: what it allows is off, and agents go on. */
import { readFileSync } from "node:fs";
import { parseDocument } from "yaml";
import { makeRegistry, type Registry } from "../adapters/registry.ts";
import { loadAdapters } from "../adapters/user-adapters.ts";
import { Configuration, NO_CONFIGURATION } from "../protocol/configuration.ts";
import { CONFIGURATION_MAX_BYTES } from "../protocol/limits.ts";
import { configurationPath } from "./paths.ts";

export interface Read {
  readonly configuration: Configuration;
  /** One sentence a mistake. */
  readonly problems: readonly string[];
}

export const parseConfiguration = (text: string): Read => {
  if (Buffer.byteLength(text) > CONFIGURATION_MAX_BYTES)
    return bad([`it is over ${CONFIGURATION_MAX_BYTES} bytes`]);
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return bad(document.errors.map(({ message }) => message.split("\n")[0]!.replace(/:$/, "")));
  const parsed = Configuration.safeParse(plainOf(document) ?? {});
  if (parsed.success) return { configuration: parsed.data, problems: [] };
  return bad(
    parsed.error.issues.map(({ path, message }) =>
      path.length > 0 ? `${path.join(".")}: ${message}` : message,
    ),
  );
};

/** An alias that refers to more and more is refused by the parser, with an error. */
const plainOf = (document: ReturnType<typeof parseDocument>): unknown => {
  try {
    return document.toJS();
  } catch (cause) {
    return (cause as Error).message;
  }
};

const bad = (problems: readonly string[]): Read => ({ configuration: NO_CONFIGURATION, problems });

/** Undefined where there is none. */
export const readConfiguration = (stateDir: string): Read | undefined => {
  try {
    return parseConfiguration(readFileSync(configurationPath(stateDir), "utf8"));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return code === "ENOENT" ? undefined : bad([`it cannot be read: ${message}`]);
  }
};

/** The kinds of a daemon, with those of its users; what is left out is in `refused`. */
export const configuredRegistry = async (stateDir: string): Promise<Registry> => {
  const read = readConfiguration(stateDir);
  if (read === undefined) return makeRegistry();
  const { configuration, problems } = read;
  const { users, refused } = await loadAdapters(configuration.adapters);
  return makeRegistry({
    users,
    refused: [...problems.map((why) => ({ module: configurationPath(stateDir), why })), ...refused],
    options: configuration.kinds,
    binaries: configuration.binaries,
  });
};
