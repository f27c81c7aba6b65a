/**
 * All kinds of agent by name. A built-in kind needs a line here and in kinds.ts; users add theirs in the
 * configuration (user-adapters.ts).
 */
import { nearest } from "../base/suggest.ts";
import type { EngineGround } from "../protocol/engine-lines.ts";
import type { AgentAdapter, KindOptions } from "./adapter.ts";
import { acp } from "./kinds/acp/index.ts";
import { claudeCode } from "./kinds/claude-code/index.ts";
import { codex } from "./kinds/codex/index.ts";
import { command } from "./kinds/command/index.ts";
import { copilot } from "./kinds/copilot/index.ts";
import { geminiCli } from "./kinds/gemini-cli/index.ts";
import { llm, llmOn } from "./kinds/llm/index.ts";
import { opencode } from "./kinds/opencode/index.ts";
import { qwenCode } from "./kinds/qwen-code/index.ts";
import { skill } from "./kinds/skill/index.ts";
import { weblisk, webliskOn } from "./kinds/weblisk/index.ts";
import type { KindName } from "./kinds.ts";

const BY_KIND = {
  command,
  claude_code: claudeCode,
  codex,
  gemini_cli: geminiCli,
  opencode,
  copilot,
  qwen_code: qwenCode,
  acp,
  llm,
  weblisk,
} satisfies Record<KindName, unknown>;

/**
 * The registry does not know the state types of its adapters: each adapter gets back only the state that it
 * made.
 */
export const adapters = Object.values(BY_KIND) as readonly unknown[] as readonly AgentAdapter[];

/** All names of a kind: its own and its aliases. */
export const namesOf = ({ kind, aliases }: Pick<AgentAdapter, "kind" | "aliases">): readonly string[] => [
  kind,
  ...aliases,
];

/** A user's adapter, or another entry of the configuration, that is left out. `why` is a sentence. */
export interface RefusedAdapter {
  /**
   * The adapter's file; or the configuration file, if it cannot be read or one of its entries does not count.
   */
  readonly module: string;
  readonly why: string;
}

/** The kinds of one daemon, or of a program that embeds the runtime, set up as the configuration says. */
export interface Registry {
  readonly all: readonly AgentAdapter[];
  readonly refused: readonly RefusedAdapter[];
  /** By kind (`claude_code`) or by alias (`claude`). */
  adapterFor(kindOrAlias: string): AgentAdapter | undefined;
  /** The name that was probably meant; undefined if none is similar. */
  suggestKind(typo: string): string | undefined;
  /** The file of a user's adapter; null for a built-in kind or one of an embedding program. */
  moduleOf(kind: string): string | null;
  isBuiltIn(kind: string): boolean;
  /** The program of a kind unless its variable names another one; null if argv is the program. */
  binaryOf(adapter: AgentAdapter): string | null;
  /** The runtime of a worker of this kind whose spec names none; undefined for that of all. */
  runtimeFor(kind: string): string | undefined;
  /** Whether the configuration changed after it was read; absent if there is none. */
  isOutdated?(): boolean;
}

export interface RegistryOptions {
  /** Checked adapters of users; `module` is null for those of an embedding program. */
  readonly users?: readonly { readonly adapter: AgentAdapter; readonly module: string | null }[];
  readonly refused?: readonly RefusedAdapter[];
  /** By kind. */
  readonly options?: Readonly<Record<string, KindOptions>>;
  /** Paths or bare names, by kind. */
  readonly binaries?: Readonly<Record<string, string>>;
  /** The ground of kind `llm`. */
  readonly engine?: EngineGround;
  /** The state directory, whose keys kind `weblisk` signs with. */
  readonly stateDir?: string;
  /** Names of runtimes, by kind. */
  readonly runtimes?: Readonly<Record<string, string>>;
}

export const makeRegistry = ({
  users = [],
  refused = [],
  options = {},
  binaries = {},
  engine,
  stateDir,
  runtimes = {},
}: RegistryOptions = {}): Registry => {
  const modules = new Map(users.map(({ adapter, module }) => [adapter.kind, module]));
  const grounded = [
    ...(engine === undefined ? [] : [llmOn(engine)]),
    ...(stateDir === undefined ? [] : [webliskOn(stateDir)]),
  ] as readonly unknown[] as readonly AgentAdapter[];
  const own = adapters.map((adapter) => grounded.find(({ kind }) => kind === adapter.kind) ?? adapter);
  const all = [...own, ...users.map(({ adapter }) => adapter)].map((adapter) =>
    instanceOf(adapter, Object.hasOwn(options, adapter.kind) ? options[adapter.kind] : undefined),
  );
  // Nobody spawns a skill by its kind, so no list has it.
  const byName = new Map(
    [...all, skill as unknown as AgentAdapter].flatMap((adapter) =>
      namesOf(adapter).map((name) => [name, adapter] as const),
    ),
  );
  return {
    all,
    refused,
    adapterFor: (name) => byName.get(name),
    suggestKind: (typo) => nearest(typo.replaceAll("-", "_"), all.flatMap(namesOf)),
    moduleOf: (kind) => modules.get(kind) ?? null,
    isBuiltIn: (kind) => !modules.has(kind),
    runtimeFor: (kind) => (Object.hasOwn(runtimes, kind) ? runtimes[kind] : undefined),
    binaryOf: ({ kind, binary }) =>
      binary === null ? null : Object.hasOwn(binaries, kind) ? binaries[kind]! : binary.name,
  };
};

const instanceOf = (adapter: AgentAdapter, options: KindOptions | undefined): AgentAdapter =>
  options === undefined || adapter.configured === undefined
    ? adapter
    : { ...adapter, ...adapter.configured(options) };

/** The registry without any configuration. */
export const builtIn: Registry = makeRegistry();
export const { adapterFor, suggestKind } = builtIn;
