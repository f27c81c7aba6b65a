/**
 * The facts of all built-in kinds, in the order of help. A new kind needs a folder of `kinds/`, a line here
 * and a line in the registry.
 */
import type { KindFacts } from "./facts.ts";
import { facts as acp } from "./kinds/acp/facts.ts";
import { facts as claudeCode } from "./kinds/claude-code/facts.ts";
import { facts as codex } from "./kinds/codex/facts.ts";
import { facts as command } from "./kinds/command/facts.ts";
import { facts as copilot } from "./kinds/copilot/facts.ts";
import { facts as geminiCli } from "./kinds/gemini-cli/facts.ts";
import { facts as llm } from "./kinds/llm/facts.ts";
import { facts as opencode } from "./kinds/opencode/facts.ts";
import { facts as qwenCode } from "./kinds/qwen-code/facts.ts";
import { facts as weblisk } from "./kinds/weblisk/facts.ts";

export { PROGRAM_KIND } from "../protocol/words.ts";

const ALL = [claudeCode, codex, geminiCli, opencode, copilot, qwenCode, command, acp, llm, weblisk] as const;

export const KIND_FACTS: readonly KindFacts[] = ALL;

/** Names of the client's variables that a built-in kind may need. */
export const KIND_VARIABLES: readonly string[] = KIND_FACTS.flatMap(({ credentials, named }) => [
  ...credentials,
  ...(named?.agents ?? []).flatMap(({ variables }) => variables),
]);

export type KindName = (typeof ALL)[number]["kind"];
