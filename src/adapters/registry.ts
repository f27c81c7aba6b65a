/** All kinds of agent, by their names. Whoever adds a kind adds one line here. */
import { nearest } from "../protocol/suggest.ts";
import { acp } from "./acp/index.ts";
import type { AgentAdapter } from "./adapter.ts";
import { claudeCode } from "./claude-code/index.ts";
import { codex } from "./codex/index.ts";
import { command } from "./command/index.ts";
import { copilot } from "./copilot/index.ts";
import { geminiCli } from "./gemini-cli/index.ts";
import { opencode } from "./opencode/index.ts";

/** A registry does not know the states of its adapters: each gets back only what it gave. */
export const adapters = [
  command,
  claudeCode,
  codex,
  geminiCli,
  opencode,
  copilot,
  acp,
] as unknown as readonly AgentAdapter[];

const byName: ReadonlyMap<string, AgentAdapter> = new Map(
  adapters.flatMap((adapter) => [adapter.kind, ...adapter.aliases].map((name) => [name, adapter] as const)),
);

/** By kind (`claude_code`) or by its short name (`claude`). */
export const adapterFor = (kindOrAlias: string): AgentAdapter | undefined => byName.get(kindOrAlias);

/** The name that was probably meant; undefined where none is near. */
export const suggestKind = (typo: string): string | undefined =>
  nearest(typo.replaceAll("-", "_"), [...byName.keys()]);
