/**
 * Adapters that users wrote: loaded from files that the configuration names, looked at, and tried on the conformance kit with what no
 * program prints. A bad one is left out and told of, with why; it keeps nobody else from being there. It is code with the daemon's own
 * rights: what it does while it is loaded nobody can bound, but for the time that it takes if it waits.
 */
import { lstatSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute } from "node:path";
import { pathToFileURL } from "node:url";
import { USER_ADAPTER_LOAD_MAX_MS, USER_ADAPTERS_MAX } from "../base/limits.ts";
import { HoldfastError } from "../protocol/errors.ts";
import type { AgentAdapter } from "./adapter.ts";
import { conformance } from "./conformance.ts";
import { guarded, shapeProblems } from "./guarded.ts";
import { adapters as builtIn, namesOf, type RefusedAdapter } from "./registry.ts";

export interface UserAdapter {
  /** Absolute path of an ES module. Its default export is an adapter, or a function that makes one of `options`. */
  readonly module: string;
  /** The form that it must have. */
  readonly kind?: string | undefined;
  readonly options?: unknown;
}

export interface LoadedAdapters {
  readonly users: readonly { readonly adapter: AgentAdapter; readonly module: string }[];
  readonly refused: readonly RefusedAdapter[];
}

/** In their order; of two with one name the first stays. */
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
 * Throws for what is no regular file, and where somebody else could have written it, or could write it or put another one in its place: it is run with all rights of the
 * daemon's user. Nobody looks at the files that it imports.
 */
const refuseUnsafe = (module: string): void => {
  if (process.getuid === undefined) return;
  const stats = statSync(module, { throwIfNoEntry: false });
  // Its import says what is missing.
  if (stats === undefined) return;
  // An import would wait in it.
  if (!stats.isFile()) throw new Error("it is no regular file: name a module of JavaScript");
  const real = realpathSync(module);
  const own = dirname(real);
  refuseOwner("it", lstatSync(module).uid);
  refuseWritable("it", real);
  for (const dir of new Set([...above(real), ...above(module)])) {
    // In a sticky one (/tmp) nobody removes what is another's, but anybody can add a file that a module there imports.
    refuseWritable(`${dir}, a directory that it lies in,`, dir, dir === own ? 0 : STICKY);
  }
};

const above = (path: string): readonly string[] =>
  dirname(path) === path ? [] : [dirname(path), ...above(dirname(path))];

const refuseOwner = (name: string, owner: number): void => {
  if (owner !== process.getuid?.() && owner !== 0)
    throw new Error(`${name} belongs to another user (uid ${owner}): copy the module, or chown that`);
};

/** `harmless`: with this bit others may write there. */
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
/** A group of the user's own is no other. */
const WRITABLE_BY_GROUP = 0o020;
const STICKY = 0o1000;

const importDefault = async (module: string): Promise<unknown> => {
  refuseUnsafe(module);
  return ((await import(pathToFileURL(module).href)) as { default?: unknown }).default;
};

const makeOne = async ({ module, options }: UserAdapter, load: (module: string) => Promise<unknown>) => {
  if (!isAbsolute(module)) throw new Error("its path is not absolute");
  const exported = await load(module);
  return typeof exported === "function" ? await exported(options ?? {}) : exported;
};

/** The kinds of a program that has the runtime in it. A bad one refuses all of them: INVALID_REQUEST, with one sentence each. */
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
      "Mend the adapter: `conformance` of holdfast/testing tries it on the same cases. Nothing was done.",
  });
};

/** A turn of the event loop, so that a case is all that holds it: the daemon's watchdog looks on. */
const turn = (): Promise<void> => new Promise((next) => setImmediate(next));

/** Throws what is wrong with it. Gives it back with its mistakes contained. */
const checkAdapter = async (
  given: unknown,
  kind: string | undefined,
  others: readonly AgentAdapter[] = [],
): Promise<AgentAdapter> => {
  const problems = shapeProblems(given);
  if (problems.length > 0) throw new Error(`it is no adapter: ${problems.slice(0, 3).join("; ")}`);
  const adapter = guarded(given as AgentAdapter);
  if (kind !== undefined && adapter.kind !== kind)
    throw new Error(`it is of kind ${adapter.kind}, and the configuration says ${kind}`);
  const taken = new Set([...builtIn, ...others].flatMap(namesOf));
  const twice = namesOf(adapter).find((name) => taken.has(name));
  if (twice !== undefined) throw new Error(`there is a kind called ${twice} already`);
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

const inTime = async <A>(work: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`it was not there after ${USER_ADAPTER_LOAD_MAX_MS / 1_000} s`)),
      USER_ADAPTER_LOAD_MAX_MS,
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};

/** The first line, and not much of it: an assertion quotes whole values. */
const WHY_MAX_CHARACTERS = 600;
const whyOf = (cause: unknown): string => {
  const said = cause instanceof Error ? cause.message : String(cause);
  return said.split("\n")[0]!.slice(0, WHY_MAX_CHARACTERS);
};
