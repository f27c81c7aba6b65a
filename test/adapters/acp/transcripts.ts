/**
 * Recorded conversations of a harness with the real ACP agents, as ours would have gone: the harness numbered its requests, we
 * name them, and an agent answers the mark before each prompt. Nothing else of what the agent said is changed.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExitFacts } from "../../../src/adapters/adapter.ts";
import { STDERR_TAIL_BYTES } from "../../../src/protocol/limits.ts";
import { exit } from "../conformance/support.ts";

const ROOT = new URL("../../../../shared/data/cli-transcripts/", import.meta.url).pathname;
export const present = existsSync(ROOT);

interface Message {
  readonly id?: unknown;
  readonly method?: string;
  readonly params?: { readonly sessionId?: string };
}

export interface Conversation {
  /** What the agent said, line by line. */
  readonly lines: readonly string[];
  /** A session that was asked for. */
  readonly session: string | undefined;
  readonly exit: ExitFacts;
}

export const scenariosOf = (folder: string): readonly string[] =>
  present ? readdirSync(join(ROOT, folder)) : [];

/** Lines end at 0x0A alone: agents write U+2028 as it is. */
const linesOf = (path: string): readonly string[] =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];

const messageId = (n: number): string => `01JD00000000000000000000${String(n).padStart(2, "0")}`;

export const conversation = (folder: string, scenario: string): Conversation => {
  const dir = join(ROOT, folder, scenario);
  const said = linesOf(join(dir, "stdin.ndjson")).flatMap((line): Message[] => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  const prompts = said.filter(({ method }) => method === "session/prompt");
  const names = new Map(
    said.flatMap(({ id, method }): [unknown, string][] => {
      if (method === "initialize") return [[id, "holdfast:initialize"]];
      if (method === "session/new" || method === "session/load") return [[id, "holdfast:session"]];
      const n = prompts.findIndex((prompt) => prompt.id === id);
      return method === "session/prompt" ? [[id, `prompt:${messageId(n)}`]] : [];
    }),
  );
  const lines = linesOf(join(dir, "stdout.ndjson")).flatMap((line): string[] => {
    const message = parsed(line);
    const name = message?.method === undefined && message?.id !== null ? names.get(message?.id) : undefined;
    if (name === undefined) return [line];
    const renamed = JSON.stringify({ ...message, id: name });
    const answered = [...names.values()].indexOf(name);
    const next = [...names.values()][answered + 1];
    return next?.startsWith("prompt:") ? [renamed, markFor(next)] : [renamed];
  });
  const run = JSON.parse(readFileSync(join(dir, "run.json"), "utf8"));
  return {
    lines,
    session: said.find(({ method }) => method === "session/load")?.params?.sessionId,
    exit: exitOf(dir, scenario, run),
  };
};

const parsed = (line: string): Message | undefined => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

const markFor = (prompt: string): string =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: prompt.replace("prompt:", "mark:"),
    error: { code: -32_601, message: "no" },
  });

interface RunFacts {
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly timedOut: boolean;
    readonly killedByTest: number | null;
  };
}

/** What the harness sent is what we sent; an agent that ended by itself did so at the end of its input. */
const exitOf = (dir: string, scenario: string, { exit: end }: RunFacts): ExitFacts => {
  const stderr = join(dir, "stderr.txt");
  const signal = /^(sig\w+?)-/.exec(scenario)?.[1]?.toUpperCase() ?? "SIGKILL";
  const isSent = end.timedOut || end.killedByTest !== null;
  return {
    ...exit({
      code: end.code,
      signal: end.signal,
      signals_sent: isSent ? [end.timedOut ? "SIGKILL" : signal] : [],
      stderr_tail: existsSync(stderr) ? readFileSync(stderr, "utf8").slice(-STDERR_TAIL_BYTES) : "",
    }),
    input_ended: !isSent,
  };
};
