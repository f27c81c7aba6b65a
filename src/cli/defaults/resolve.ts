/**
 * Decides which default counts for a worker: environment, then repository, then user, then the built-in one. A repository's
 * file came with somebody's code, so a value of it counts only if it gives the agent no more than the user's would. Pure.
 */
import { TIMEOUT_DEFAULT_MS } from "../../base/limits.ts";
import { type KindDef, kindDefaults, kindOf } from "../../commands/kinds.ts";
import {
  DEFAULT_NAMES,
  type DefaultName,
  type DefaultValue,
  isLooser,
  keyOfDefault,
  type ResolvedDefault,
  readDefault,
  variableOfDefault,
} from "../../protocol/defaults.ts";
import { SPEC_FIELDS } from "../../protocol/spec-fields.ts";
import type { Env } from "../context.ts";

/** A default as it is written in one place. */
export interface WrittenDefault {
  readonly name: DefaultName;
  /** As it is written; undefined means every kind. */
  readonly kind: string | undefined;
  readonly value: DefaultValue;
  readonly source: "environment" | "repository" | "user";
  /** The file or the variable. */
  readonly from: string;
}

export interface DefaultsRead {
  readonly written: readonly WrittenDefault[];
  /** One sentence for each mistake. */
  readonly problems: readonly string[];
}

/** The worker that defaults are for. */
export interface DefaultsFor {
  /** As typed; undefined asks for what holds for every kind. */
  readonly kind: string | undefined;
  readonly isInteractive: boolean;
}

export const environmentDefaults = (env: Env): DefaultsRead => {
  const written: WrittenDefault[] = [];
  const problems: string[] = [];
  for (const name of DEFAULT_NAMES) {
    const from = variableOfDefault(name);
    const text = env[from];
    if (text === undefined || text === "") continue;
    const read = readDefault(name, text);
    if (read.ok) written.push({ name, kind: undefined, value: read.value, source: "environment", from });
    else problems.push(`${from} ${read.problem}`);
  }
  return { written, problems };
};

/** An entry for a kind means the kind by any of its names. */
const isFor = (written: string, { kind }: DefaultsFor, known: KindDef | undefined): boolean =>
  written === kind || (known !== undefined && kindOf(written)?.kind === known.kind);

/**
 * Whether a default for every kind means something to this one. A kind without a time limit of its own gets none, and a kind
 * that cannot ask for permission is not told to ask.
 */
const reachesKind = (
  { name, value }: WrittenDefault,
  { kind, isInteractive }: DefaultsFor,
  known: KindDef | undefined,
): boolean => {
  if (kind === undefined) return true;
  if (known?.refuses.includes(name)) return false;
  if (name === "timeout") return kindDefaults(known?.kind ?? kind, isInteractive).timeout_ms !== 0;
  return value !== "ask" || name !== "permission" || known?.converses !== false;
};

const builtIn = (name: DefaultName, { kind, isInteractive }: DefaultsFor): DefaultValue | null => {
  switch (name) {
    case "model":
      return null;
    case "permission":
      return SPEC_FIELDS.permission.default;
    case "sandbox":
      return "off";
    case "worktree":
      return false;
    case "timeout":
      return (
        (kind === undefined
          ? undefined
          : kindDefaults(kindOf(kind)?.kind ?? kind, isInteractive).timeout_ms) ?? TIMEOUT_DEFAULT_MS
      );
  }
};

const resolveOne = (
  name: DefaultName,
  all: readonly WrittenDefault[],
  asked: DefaultsFor,
): ResolvedDefault => {
  const known = asked.kind === undefined ? undefined : kindOf(asked.kind);
  const named = all.filter((one) => one.name === name);
  /** The value of one source: for the kind, else for every kind. */
  const of = (source: WrittenDefault["source"]): WrittenDefault | undefined => {
    const here = named.filter((one) => one.source === source);
    const own = here.find(({ kind }) => kind !== undefined && isFor(kind, asked, known));
    return own ?? here.find((one) => one.kind === undefined && reachesKind(one, asked, known));
  };
  const user = of("user");
  const fallback = user?.value ?? builtIn(name, asked);
  const repository = of("repository");
  const isRefused = repository !== undefined && isLooser(name, repository.value, fallback ?? undefined);
  const counts = of("environment") ?? (isRefused ? undefined : repository) ?? user;
  return {
    name,
    value: counts?.value ?? fallback,
    source: counts?.source ?? "built_in",
    from: counts?.from ?? null,
    ...(isRefused && { refused: repository.value }),
  };
};

export const resolveDefaults = (
  written: readonly WrittenDefault[],
  asked: DefaultsFor,
): readonly ResolvedDefault[] => DEFAULT_NAMES.map((name) => resolveOne(name, written, asked));

/** One sentence for each default of a kind that the kind cannot use. */
export const meaningless = (written: readonly WrittenDefault[], { kind }: DefaultsFor): readonly string[] => {
  const known = kind === undefined ? undefined : kindOf(kind);
  if (known === undefined) return [];
  return written
    .filter(
      ({ name, kind: of }) =>
        of !== undefined && kindOf(of)?.kind === known.kind && known.refuses.includes(name),
    )
    .map(
      ({ name, kind: of, from }) =>
        `${keyOfDefault(name, of)} of ${from} means nothing to kind ${known.short}`,
    );
};
