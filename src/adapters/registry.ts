/** All kinds of agent, by their names. A new kind is a line here and in kinds.ts; users add theirs in the configuration (user-adapters.ts). */
import { nearest } from "../base/suggest.ts";
import type { AgentAdapter, KindOptions } from "./adapter.ts";
import { acp } from "./kinds/acp/index.ts";
import { claudeCode } from "./kinds/claude-code/index.ts";
import { codex } from "./kinds/codex/index.ts";
import { command } from "./kinds/command/index.ts";
import { copilot } from "./kinds/copilot/index.ts";
import { geminiCli } from "./kinds/gemini-cli/index.ts";
import { opencode } from "./kinds/opencode/index.ts";
import type { KindName } from "./kinds.ts";

const BY_KIND = {
  command,
  claude_code: claudeCode,
  codex,
  gemini_cli: geminiCli,
  opencode,
  copilot,
  acp,
} satisfies Record<KindName, unknown>;

/** A registry does not know the states of its adapters: each gets back only what it gave. */
export const adapters = Object.values(BY_KIND) as readonly unknown[] as readonly AgentAdapter[];

/** Every word that names one of these kinds. */
export const namesOf = ({ kind, aliases }: Pick<AgentAdapter, "kind" | "aliases">): readonly string[] => [
  kind,
  ...aliases,
];

/** An adapter of a user's, or something else of the configuration, that is left out, and why: a sentence. */
export interface RefusedAdapter {
  /** Its file; or the configuration itself, where that cannot be read, or what of it does not count. */
  readonly module: string;
  readonly why: string;
}

/** The kinds of a daemon, or of a program with the runtime in it: instances, as its configuration wants them. */
export interface Registry {
  readonly all: readonly AgentAdapter[];
  readonly refused: readonly RefusedAdapter[];
  /** By kind (`claude_code`) or by its short name (`claude`). */
  adapterFor(kindOrAlias: string): AgentAdapter | undefined;
  /** The name that was probably meant; undefined where none is near. */
  suggestKind(typo: string): string | undefined;
  /** The file that a user's adapter was loaded from; null for a kind of our own, or of a program's. */
  moduleOf(kind: string): string | null;
  isBuiltIn(kind: string): boolean;
  /** The program of a kind, where nobody names another one by its variable; null where argv is the program. */
  binaryOf(adapter: AgentAdapter): string | null;
  /** Whether its configuration was changed since it was read; absent where it has none. */
  isOutdated?(): boolean;
}

export interface RegistryOptions {
  /** Adapters of users, checked already; `module` is null for those of a program. */
  readonly users?: readonly { readonly adapter: AgentAdapter; readonly module: string | null }[];
  readonly refused?: readonly RefusedAdapter[];
  /** By kind. */
  readonly options?: Readonly<Record<string, KindOptions>>;
  /** Paths or bare names, by kind. */
  readonly binaries?: Readonly<Record<string, string>>;
}

export const makeRegistry = ({
  users = [],
  refused = [],
  options = {},
  binaries = {},
}: RegistryOptions = {}): Registry => {
  const modules = new Map(users.map(({ adapter, module }) => [adapter.kind, module]));
  const all = [...adapters, ...users.map(({ adapter }) => adapter)].map((adapter) =>
    instanceOf(adapter, Object.hasOwn(options, adapter.kind) ? options[adapter.kind] : undefined),
  );
  const byName = new Map(all.flatMap((adapter) => namesOf(adapter).map((name) => [name, adapter] as const)));
  return {
    all,
    refused,
    adapterFor: (name) => byName.get(name),
    suggestKind: (typo) => nearest(typo.replaceAll("-", "_"), [...byName.keys()]),
    moduleOf: (kind) => modules.get(kind) ?? null,
    isBuiltIn: (kind) => !modules.has(kind),
    binaryOf: ({ kind, binary }) =>
      binary === null ? null : Object.hasOwn(binaries, kind) ? binaries[kind]! : binary.name,
  };
};

const instanceOf = (adapter: AgentAdapter, options: KindOptions | undefined): AgentAdapter =>
  options === undefined || adapter.configured === undefined
    ? adapter
    : { ...adapter, ...adapter.configured(options) };

/** Without any configuration. */
export const builtIn: Registry = makeRegistry();
export const { adapterFor, suggestKind } = builtIn;
