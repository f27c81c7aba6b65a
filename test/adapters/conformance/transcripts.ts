/**
 * The recorded runs of the real CLIs, where they are at hand: they hold product texts and are not ours to ship. Each is a
 * folder CLI-VERSION/SCENARIO with what was printed and run.json, how it was run and ended.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentAdapter, ExitFacts, Opening } from "../../../src/adapters/adapter.ts";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { STDERR_TAIL_BYTES } from "../../../src/base/limits.ts";
import { type Asked, askedOf, asOurs } from "./expected/dialogue.ts";
import { RECORDED, type Recorded } from "./expected/readers.ts";
import type { RunFacts } from "./expected/scenarios.ts";
import { exit, openingOf, recordingsOf } from "./support.ts";
import { acpClaude } from "./verdicts/acp-claude.ts";
import { acpCodex } from "./verdicts/acp-codex.ts";
import { acpCopilot } from "./verdicts/acp-copilot.ts";
import { acpGemini } from "./verdicts/acp-gemini.ts";
import { acpOpencode } from "./verdicts/acp-opencode.ts";
import { acpSdkExample } from "./verdicts/acp-sdk-example.ts";
import { CLAUDE } from "./verdicts/claude-code.ts";
import { CODEX } from "./verdicts/codex.ts";
import { codexAppServer } from "./verdicts/codex-app-server.ts";
import { COPILOT } from "./verdicts/copilot.ts";
import { GEMINI } from "./verdicts/gemini-cli.ts";
import { OPENCODE } from "./verdicts/opencode.ts";
import type { Verdict } from "./verdicts/verdict.ts";

export const TRANSCRIPTS = new URL("../../../../shared/data/cli-transcripts/", import.meta.url).pathname;
export const present = existsSync(TRANSCRIPTS);

/** By version and scenario, written by hand. Versions of one CLI have the scenarios of one list between them. */
export const VERDICTS: Readonly<Record<string, Readonly<Record<string, Verdict>>>> = {
  "claude-2.1.329": CLAUDE,
  "claude-2.1.197": CLAUDE,
  "codex-0.169.0": CODEX,
  "codex-app-server-0.169.0": codexAppServer,
  "gemini-0.61.0": GEMINI,
  "opencode-1.18.33": OPENCODE,
  "copilot-1.0.102": COPILOT,
  "claude-agent-acp-0.100.0": acpClaude,
  "codex-acp-2.6.0": acpCodex,
  "copilot-acp-1.0.102": acpCopilot,
  "gemini-acp-0.61.0": acpGemini,
  "opencode-acp-1.18.33": acpOpencode,
  "acp-sdk-example-0.28.1": acpSdkExample,
};

export interface Transcript {
  readonly version: string;
  readonly scenario: string;
  readonly of: Recorded;
  readonly adapter: AgentAdapter;
}

/** Kinds whose adapter is built; of others there may be recorded runs already. */
export const built = RECORDED.filter(({ kind }) => adapterFor(kind) !== undefined);

export const titleOf = ({ kind, way }: Recorded): string => [kind, way].filter(Boolean).join(" ");

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

/** A run as we would have seen it. */
export interface Run {
  readonly name: string;
  readonly stdout: string;
  readonly asked: Asked;
}

export const runOf = (one: Transcript): Run => {
  const name = `${one.version}/${one.scenario}`;
  const stdout = read(one, "stdout.ndjson");
  const { dialogue } = one.of;
  if (dialogue === undefined) return { name, stdout, asked: {} };
  const said = read(one, "stdin.ndjson");
  return { name, stdout: asOurs(said, stdout, dialogue.names), asked: askedOf(said) };
};

export const ownRuns = ({ recordings, dialogue }: Recorded): readonly Run[] =>
  recordingsOf(recordings).map(([name, stdout]) => ({ name, stdout, asked: dialogue?.asked[name] ?? {} }));

/** Facts that a decoder may know before the first line of a run. */
export const openingFor = ({ kind, dialogue }: Recorded, asked: Asked = {}): Opening =>
  openingOf(adapterFor(kind)!.kind, { ...dialogue?.spec, ...asked });

export const factsOf = (transcript: Transcript): RunFacts => JSON.parse(read(transcript, "run.json"));

/** The run's end as the runtime would have seen it: what the harness sent is what we sent. */
export const exitOf = (transcript: Transcript, { exit: end }: RunFacts): ExitFacts => {
  const named = /(?:^|-)(sig\w+?)-/.exec(transcript.scenario)?.[1]?.toUpperCase();
  const sent = end.timedOut || named === undefined ? "SIGKILL" : named;
  return exit({
    code: end.code,
    signal: end.signal,
    signals_sent: end.timedOut || end.killedByTest !== null ? [sent] : [],
    stderr_tail: read(transcript, "stderr.txt").slice(-STDERR_TAIL_BYTES),
    program: transcript.version,
  });
};
