/**
 * Loads the adapters that the configuration names, checks them, and runs the conformance suite on them with
 * hostile lines. A bad adapter is left out and reported with the reason; the others load. An adapter is code
 * with the daemon's own rights: while it loads, only the time that it waits is bounded.
 */
import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { USER_ADAPTER_LOAD_MAX_MS, USER_ADAPTERS_MAX } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { AgentAdapter } from "./adapter.ts";
import { guarded, shapeProblems } from "./guarded.ts";
import { adapters as builtIn, namesOf, type RefusedAdapter } from "./registry.ts";

export interface UserAdapter {
  /**
   * Absolute path of an ES module. Its default export is an adapter, or a function that makes one from
   * `options`.
   */
  readonly module: string;
  /** The kind that the adapter must have. */
  readonly kind?: string | undefined;
  readonly options?: unknown;
}

export interface LoadedAdapters {
  readonly users: readonly { readonly adapter: AgentAdapter; readonly module: string }[];
  readonly refused: readonly RefusedAdapter[];
}

/** Loads in order; if two adapters share a name, the first one stays. */
export const loadAdapters = async (
  entries: readonly UserAdapter[],
  load: (module: string) => Promise<unknown> = importDefault,
): Promise<LoadedAdapters> => {
  const users: { adapter: AgentAdapter; module: string }[] = [];
  const refused: RefusedAdapter[] = [];
  for (const entry of entries) {
    const { module } = entry;
    try {
      const made = await inTime(makeOne(entry, load));
      users.push({
        adapter: await checkAdapter(
          made,
          entry.kind,
          users.map(({ adapter }) => adapter),
        ),
        module,
      });
    } catch (cause) {
      refused.push({ module, why: whyOf(cause) });
    }
  }
  return { users, refused };
};

/**
 * Throws if the module is not a regular file, or if another user owns it, can write it or can replace it,
 * because it runs with all rights of the daemon's user. Files that it imports are not checked.
 */
const refuseUnsafe = (module: string): void => {
  if (process.getuid === undefined) return;
  const stats = statSync(module, { throwIfNoEntry: false });
  // The import itself reports a missing file.
  if (stats === undefined) return;
  // An import of a FIFO would wait.
  if (!stats.isFile()) throw new Error("it is not a regular file: name a JavaScript module");
  const real = realpathSync(module);
  const own = dirname(real);
  refuseOwner("it", lstatSync(module).uid);
  refuseWritable("it", real);
  for (const dir of new Set([...above(real), ...above(module)])) {
    // In a sticky directory (/tmp) only an owner removes a file, but anybody can add a file that a module
    // there imports.
    refuseWritable(`${dir}, a directory above it,`, dir, dir === own ? 0 : STICKY);
  }
};

const above = (path: string): readonly string[] =>
  dirname(path) === path ? [] : [dirname(path), ...above(dirname(path))];

const refuseOwner = (name: string, owner: number): void => {
  if (owner !== process.getuid?.() && owner !== 0)
    throw new Error(`${name} belongs to another user (uid ${owner}): copy the module, or chown that`);
};

/** `harmless`: a mode bit that makes writing by others safe. */
const refuseWritable = (name: string, path: string, harmless = 0): void => {
  const { uid, gid, mode } = statSync(path);
  refuseOwner(name, uid);
  if ((mode & harmless) !== 0) return;
  const isOfOthers = (mode & WRITABLE_BY_GROUP) !== 0 && gid !== process.getgid?.();
  if (isOfOthers || (mode & WRITABLE_BY_OTHERS) !== 0)
    throw new Error(
      `${name} can be written by others (mode ${(mode & 0o777).toString(8)}): chmod go-w ${path}`,
    );
};

const WRITABLE_BY_OTHERS = 0o002;
/** The user's own group does not count as others. */
const WRITABLE_BY_GROUP = 0o020;
const STICKY = 0o1000;

export const importDefault = async (module: string): Promise<unknown> => {
  refuseUnsafe(module);
  return ((await import(pathToFileURL(module).href)) as { default?: unknown }).default;
};

const makeOne = async ({ module, options }: UserAdapter, load: (module: string) => Promise<unknown>) => {
  if (!isAbsolute(module)) throw new Error("its path is not absolute");
  const exported = await load(module);
  return typeof exported === "function" ? await exported(options ?? {}) : exported;
};

/**
 * Checks the adapters of an embedding program. A bad one refuses all of them: INVALID_REQUEST, with one
 * sentence each.
 */
export const checkAdapters = async (given: readonly unknown[]): Promise<readonly AgentAdapter[]> => {
  const taken: AgentAdapter[] = [];
  const problems: string[] = [];
  if (given.length > USER_ADAPTERS_MAX)
    problems.push(`adapters are at most ${USER_ADAPTERS_MAX}, not ${given.length}`);
  for (const [at, one] of given.slice(0, USER_ADAPTERS_MAX).entries()) {
    try {
      taken.push(await checkAdapter(one, undefined, taken));
    } catch (cause) {
      problems.push(`adapters[${at}] is refused: ${whyOf(cause)}`);
    }
  }
  if (problems.length === 0) return taken;
  throw new HoldfastError("INVALID_REQUEST", `${problems.join("; ")}.`, {
    problems,
    phase: "validation",
    suggestion:
      "Correct the adapter: `conformance` of holdfast/testing runs the same cases on it. Nothing was done.",
  });
};

/** A turn of the event loop, so that only a single case can block it, as the daemon's watchdog requires. */
const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

/** Throws the first mistake of an adapter. Returns the guarded adapter. */
const checkAdapter = async (
  given: unknown,
  kind: string | undefined,
  others: readonly AgentAdapter[] = [],
): Promise<AgentAdapter> => {
  const problems = shapeProblems(given);
  if (problems.length > 0) throw new Error(`it is not an adapter: ${problems.slice(0, 3).join("; ")}`);
  const adapter = guarded(given as AgentAdapter);
  if (kind !== undefined && adapter.kind !== kind)
    throw new Error(`it is of kind ${adapter.kind}, and the configuration says ${kind}`);
  const taken = new Set([...builtIn, ...others].flatMap(namesOf));
  const twice = namesOf(adapter).find((name) => taken.has(name));
  if (twice !== undefined) throw new Error(`there is already a kind called ${twice}`);
  const { conformance } = await import("./conformance.ts");
  for (const { title, check } of conformance(adapter, [])) {
    await turn();
    try {
      check();
    } catch (cause) {
      throw new Error(`it does not keep the promise "${title}": ${whyOf(cause)}`);
    }
  }
  return adapter;
};

/** Rejects if it takes longer than a module may take to load. */
export const inTime = async <A>(work: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it did not load within ${USER_ADAPTER_LOAD_MAX_MS / 1_000} s`)),
      USER_ADAPTER_LOAD_MAX_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** Only the first line, cut: an assertion quotes whole values. */
const WHY_MAX_CHARACTERS = 600;
export const whyOf = (cause: unknown): string => {
  const said = cause instanceof Error ? cause.message : String(cause);
  return said.split("\n")[0]!.slice(0, WHY_MAX_CHARACTERS);
};
