/**
 * The recorded runs of the real CLIs, where they are at hand: they hold product texts and are not ours to ship. Each is a
 * folder CLI-VERSION/SCENARIO with what was printed and run.json, how it was run and ended.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentAdapter, ExitFacts } from "../../../src/adapters/adapter.ts";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { STDERR_TAIL_BYTES } from "../../../src/protocol/limits.ts";
import { RECORDED, type Recorded } from "./expected/readers.ts";
import type { RunFacts } from "./expected/scenarios.ts";
import { exit } from "./support.ts";
import { CLAUDE } from "./verdicts/claude-code.ts";
import { CODEX } from "./verdicts/codex.ts";
import { COPILOT } from "./verdicts/copilot.ts";
import { GEMINI } from "./verdicts/gemini-cli.ts";
import { OPENCODE } from "./verdicts/opencode.ts";
import type { Verdict } from "./verdicts/verdict.ts";

export const TRANSCRIPTS = new URL("../../../../shared/data/cli-transcripts/", import.meta.url).pathname;
export const present = existsSync(TRANSCRIPTS);

/** By kind and scenario, written by hand. */
export const VERDICTS: Readonly<Record<string, Readonly<Record<string, Verdict>>>> = {
  claude: CLAUDE,
  codex: CODEX,
  gemini: GEMINI,
  opencode: OPENCODE,
  copilot: COPILOT,
};

export interface Transcript {
  readonly version: string;
  readonly scenario: string;
  readonly of: Recorded;
  readonly adapter: AgentAdapter;
}

/** Kinds whose adapter is built; of others there may be recorded runs already. */
export const built = RECORDED.filter(({ kind }) => adapterFor(kind) !== undefined);

export const transcriptsOf = (of: Recorded): readonly Transcript[] =>
  of.versions
    .filter((version) => existsSync(join(TRANSCRIPTS, version)))
    .flatMap((version) =>
      readdirSync(join(TRANSCRIPTS, version)).map((scenario) => ({
        version,
        scenario,
        of,
        adapter: adapterFor(of.kind)!,
      })),
    );

export const read = ({ version, scenario }: Transcript, file: string): string => {
  const path = join(TRANSCRIPTS, version, scenario, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

export const runOf = (transcript: Transcript): RunFacts => JSON.parse(read(transcript, "run.json"));

/** The run's end as the runtime would have seen it: what the harness sent is what we sent. */
export const exitOf = (transcript: Transcript, { exit: end }: RunFacts): ExitFacts => {
  const signal = /(?:^|-)(sig\w+?)-/.exec(transcript.scenario)?.[1]?.toUpperCase();
  const sent = end.timedOut ? "SIGKILL" : signal;
  return exit({
    code: end.code,
    signal: end.signal,
    signals_sent: sent !== undefined && (end.timedOut || end.killedByTest !== null) ? [sent] : [],
    stderr_tail: read(transcript, "stderr.txt").slice(-STDERR_TAIL_BYTES),
    program: transcript.version,
  });
};
