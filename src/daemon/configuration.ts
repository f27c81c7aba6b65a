/**
 * Reads the configuration of a daemon. An unreadable one is reported and counts as empty: everything that it
 * may allow is off, and agents keep running.
 */
import { statSync } from "node:fs";
import { parseDocument } from "yaml";
import type * as z from "zod";
import { makeRegistry, type RefusedAdapter, type Registry } from "../adapters/registry.ts";
import { loadAdapters } from "../adapters/user-adapters.ts";
import { readNamed } from "../base/files/regular-file.ts";
import { CONFIGURATION_MAX_BYTES } from "../base/limits.ts";
import { didYouMean } from "../base/suggest.ts";
import { Configuration, configurationKeys, NO_CONFIGURATION } from "../protocol/configuration.ts";
import { isDefaultName } from "../protocol/defaults.ts";
import { configurationPath, socketPath } from "./paths.ts";

export interface ConfigurationReading {
  readonly configuration: Configuration;
  /** One sentence for each mistake. */
  readonly problems: readonly string[];
}

export const parseConfiguration = (text: string): ConfigurationReading => {
  if (Buffer.byteLength(text) > CONFIGURATION_MAX_BYTES)
    return bad([`it is over ${CONFIGURATION_MAX_BYTES} bytes`]);
  const document = parseDocument(text);
  if (document.errors.length > 0)
    return bad(document.errors.map(({ message }) => message.split("\n")[0]!.replace(/:$/, "")));
  const parsed = Configuration.safeParse(plainOf(document) ?? {});
  if (parsed.success) return { configuration: parsed.data, problems: [] };
  return bad(parsed.error.issues.map(problemOf));
};

const problemOf = (issue: z.core.$ZodIssue): string => {
  const { path, message } = issue;
  const isOne = issue.code === "unrecognized_keys" && issue.keys.length === 1;
  const meant = isOne ? didYouMean(issue.keys[0]!, configurationKeys(path)) : "";
  return `${path.length > 0 ? `${path.join(".")}: ` : ""}${message}${meant}`;
};

/** The parser refuses aliases that expand without end, with an error. */
const plainOf = (document: ReturnType<typeof parseDocument>): unknown => {
  try {
    return document.toJS();
  } catch (cause) {
    return (cause as Error).message;
  }
};

const bad = (problems: readonly string[]): ConfigurationReading => ({
  configuration: NO_CONFIGURATION,
  problems,
});

/** Undefined if there is no configuration. */
export const readConfiguration = (stateDir: string): ConfigurationReading | undefined => {
  try {
    const bytes = readNamed(configurationPath(stateDir), CONFIGURATION_MAX_BYTES);
    return bytes === undefined
      ? bad([`it is over ${CONFIGURATION_MAX_BYTES} bytes`])
      : parseConfiguration(bytes.toString("utf8"));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    return code === "ENOENT" ? undefined : bad([`it cannot be read: ${message}`]);
  }
};

/** The parts of the file that the daemon uses. Defaults and most hosts are the client's, so a change of them alone outdates no daemon. */
const usedParts = (stateDir: string): string => {
  const { configuration, problems } = readConfiguration(stateDir) ?? bad([]);
  const kinds = Object.entries(configuration.kinds).map(([kind, of]) => [kind, withoutDefaults(of)]);
  const followed = configuration.notifications?.hosts ?? [];
  const hosts = followed.map((name) => configuration.hosts[name]);
  return JSON.stringify([{ ...configuration, defaults: {}, hosts, kinds }, problems]);
};

const withoutDefaults = (of: object): object =>
  Object.fromEntries(Object.entries(of).filter(([name]) => !isDefaultName(name)));

/** When the file was written; undefined if there is none or it cannot be read. */
const writtenAt = (stateDir: string): number | undefined => {
  try {
    return statSync(configurationPath(stateDir)).mtimeMs;
  } catch {
    return undefined;
  }
};

/** The kinds of a daemon, including those of users; `refused` has what is left out. */
export const configuredRegistry = async (stateDir: string): Promise<Registry> => {
  const written = writtenAt(stateDir);
  const used = usedParts(stateDir);
  const registry = await asConfigured(stateDir);
  const isOutdated = () => writtenAt(stateDir) !== written && usedParts(stateDir) !== used;
  return { ...registry, isOutdated };
};

const asConfigured = async (stateDir: string): Promise<Registry> => {
  const read = readConfiguration(stateDir);
  const socket = socketPath(stateDir, process.getuid?.() ?? 0);
  if (read === undefined) return makeRegistry({ engine: { ...NO_ENGINE, socket }, stateDir });
  const path = configurationPath(stateDir);
  if (read.problems.length > 0)
    return makeRegistry({
      engine: { ...NO_ENGINE, socket },
      stateDir,
      refused: [{ module: path, why: `${read.problems.join("; ")}; ${NOTHING_COUNTS}` }],
    });
  const { configuration } = read;
  const { users, refused } = await loadAdapters(configuration.adapters);
  const named = makeRegistry({ users });
  const binaries = byKind("binaries", configuration.binaries, named, path);
  const options = byKind("kinds", configuration.kinds, named, path);
  return makeRegistry({
    users,
    refused: [...refused, ...binaries.refused, ...options.refused],
    options: options.values,
    binaries: binaries.values,
    engine: { providers: configuration.providers, mcp: configuration.mcp, socket },
    stateDir,
  });
};

const NO_ENGINE = { providers: {}, mcp: {} };

const NOTHING_COUNTS =
  "it is ignored: only the built-in kinds exist, and everything that it may allow is off";

/**
 * A kind may have any of its names: `claude` is `claude_code`. If one kind is named twice, the first entry
 * counts.
 */
const byKind = <V>(
  what: string,
  written: Readonly<Record<string, V>>,
  { adapterFor, suggestKind }: Registry,
  path: string,
): { readonly values: Readonly<Record<string, V>>; readonly refused: readonly RefusedAdapter[] } => {
  const found = new Map<string, { readonly name: string; readonly value: V }>();
  const refused: RefusedAdapter[] = [];
  const leaveOut = (name: string, why: string) => refused.push({ module: `${what}.${name} of ${path}`, why });
  for (const [name, value] of Object.entries(written)) {
    const kind = adapterFor(name)?.kind;
    const first = found.get(kind ?? "");
    if (kind === undefined) {
      const near = suggestKind(name);
      leaveOut(name, `there is no kind of that name${near === undefined ? "" : `; did you mean ${near}?`}`);
    } else if (first !== undefined) leaveOut(name, `it is given twice, as ${first.name} and as ${name}`);
    else found.set(kind, { name, value });
  }
  return { values: Object.fromEntries([...found].map(([kind, { value }]) => [kind, value])), refused };
};
