/**
 * Every recorded run of the real CLIs, where the transcripts are at hand: what the runs came to, that each is told as a reader
 * of its own derives it from the lines and from run.json, and that nothing of a raw line gets into an event.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { DECODER_STATE_MAX_BYTES } from "../../../src/base/limits.ts";
import { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { AgentCompletion } from "../../../src/protocol/completion.ts";
import { readLines } from "./expected/printed.ts";
import { RECORDED } from "./expected/readers.ts";
import { outcomeOf } from "./expected/scenarios.ts";
import { ofKind, plain, run } from "./support.ts";
import { isFinalText, sessionOf, toldAs, toldOf } from "./told.ts";
import {
  built,
  exitOf,
  factsOf,
  openingFor,
  present,
  read,
  runOf,
  TRANSCRIPTS,
  type Transcript,
  titleOf,
  transcriptsOf,
  VERDICTS,
} from "./transcripts.ts";

const replay = (transcript: Transcript) => {
  const { of, adapter } = transcript;
  const facts = factsOf(transcript);
  const { stdout, asked } = runOf(transcript);
  const expected = of.read(readLines(stdout), asked);
  const told = run(adapter, stdout, exitOf(transcript, facts), openingFor(of, asked));
  return { stdout, expected, facts, ...told };
};

const all = built.flatMap(transcriptsOf);

describe("kinds of which there are recorded runs", () => {
  for (const of of RECORDED) {
    const isBuilt = built.includes(of);
    const what = isBuilt ? "every scenario has its verdict" : "skipped: there is no adapter yet";
    test.skipIf(!present || !isBuilt)(`${titleOf(of)}: ${what}`, () => {
      for (const verdicts of new Set(of.versions.map((version) => VERDICTS[version]))) {
        const runs = transcriptsOf(of).filter(({ version }) => VERDICTS[version] === verdicts);
        const scenarios = new Set(runs.map(({ scenario }) => scenario));
        expect([...scenarios].sort()).toEqual(Object.keys(verdicts ?? {}).sort());
      }
    });
  }
});

describe.skipIf(!present)(
  present ? "recorded runs" : "recorded runs (skipped: no ../shared/data/cli-transcripts)",
  () => {
    describe.each(all.map((one) => [`${one.version}/${one.scenario}`, one] as const))(
      "%s",
      (_name, transcript) => {
        const { stdout, records, events, outcome, state, expected, facts } = replay(transcript);

        test("comes to what it came to", () => {
          const verdict = VERDICTS[transcript.version]?.[transcript.scenario];
          expect(outcome.error?.code ?? outcome.status).toBe(verdict);
          AgentCompletion.parse(plain(outcome.completion));
        });

        test("gives events in bounds, with no raw line and no stderr in them", () => {
          const lines = [...stdout.split("\n"), ...read(transcript, "stderr.txt").split("\n")].filter(
            (line) => line.length > 20,
          );
          for (const event of events) {
            AgentEvent.parse(event);
            const fields = [event.text, event.message, JSON.stringify(event.data)].filter(
              (field) => field !== undefined,
            );
            for (const field of fields) expect(lines.some((line) => field.includes(line))).toBe(false);
          }
          expect(JSON.stringify(outcome.error ?? null)).not.toMatch(/fake|127\.0\.0\.1|\[ede_/);
          expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThanOrEqual(DECODER_STATE_MAX_BYTES);
        });

        test("is told as its lines say, each text, session, call, result, turn and token once", () => {
          expect(toldOf(records)).toEqual(toldAs(expected));
        });

        test("tells an error once", () => {
          const codes = ofKind(events, "Error").map(({ data }) => JSON.stringify(data));
          expect(codes).toEqual([...new Set(codes)]);
        });

        test("ends as its lines and its scenario say, with its session and its final text", () => {
          const should = outcomeOf(expected, facts);
          expect(outcome.status).toBe(should.status);
          if (should.status === "failed" && should.code !== undefined)
            expect(outcome.error?.code).toBe(should.code);
          expect(sessionOf(outcome)).toBe(expected.sessions.at(-1));
          const { final_text } = outcome.completion;
          expect(
            isFinalText(final_text, expected.final),
            `${final_text} is not ${expected.final}`.slice(0, 500),
          ).toBe(true);
        });
      },
    );

    test("older codex runs are read too", () => {
      const folder = join(TRANSCRIPTS, "codex-0.46");
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
        const { events, outcome } = run(adapterFor("codex")!, readFileSync(join(folder, file), "utf8"));
        expect(ofKind(events, "Unknown"), file).toEqual([]);
        expect(outcome.error?.code ?? outcome.status, file).toBe(
          file.includes("multi") ? "NO_TERMINAL_EVENT" : "completed",
        );
      }
    });

    test("older Claude Code lines are read too", () => {
      const folder = join(TRANSCRIPTS, "claude-2.1.4");
      const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
      const unknown = files.filter((file) => {
        const { events } = run(
          adapterFor("claude")!,
          JSON.stringify(JSON.parse(readFileSync(join(folder, file), "utf8"))),
        );
        return ofKind(events, "Unknown").length === 1;
      });
      // Blocks and types of tomorrow, and pieces that are no whole line.
      expect(unknown).toEqual([
        "assistant_unknown_block.json",
        "mcp_server_status.json",
        "permission_denial.json",
        "system_message_minimal.json",
        "tool_result_block.json",
        "unknown_content_block.json",
        "unknown_message_type.json",
        "usage_stats.json",
      ]);
      const { outcome } = run(
        adapterFor("claude")!,
        readFileSync(join(folder, "golden/basic_query.ndjson"), "utf8"),
      );
      expect(outcome).toMatchObject({ status: "completed", completion: { final_text: "4" } });
    });
  },
);
