/**
 * Every recorded run of the real CLIs, where the transcripts are at hand (they hold product texts and are not ours to
 * ship): what the runs came to, and that nothing of a raw line gets into an event.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentAdapter } from "../../../src/adapters/adapter.ts";
import { adapterFor } from "../../../src/adapters/registry.ts";
import { AgentEvent } from "../../../src/protocol/agent-event.ts";
import { AgentCompletion } from "../../../src/protocol/completion.ts";
import { DECODER_STATE_MAX_BYTES, STDERR_TAIL_BYTES } from "../../../src/protocol/limits.ts";
import { exit, linesOf, ofKind, plain, run, textOf } from "./support.ts";
import { COPILOT } from "./verdicts/copilot.ts";
import { GEMINI } from "./verdicts/gemini-cli.ts";
import { OPENCODE } from "./verdicts/opencode.ts";
import type { Verdict } from "./verdicts/verdict.ts";

const ROOT = new URL("../../../../shared/data/cli-transcripts/", import.meta.url).pathname;
const present = existsSync(ROOT);

const CLAUDE: Readonly<Record<string, Verdict>> = {
  "auth-token": "completed",
  "bad-flag": "INVALID_REQUEST",
  bare: "completed",
  "bypass-as-root": "PERMISSION_DENIED",
  drop: "completed",
  e400: "PROVIDER_BAD_REQUEST",
  e401: "TOKEN_INVALID",
  "e401-json": "TOKEN_INVALID",
  e429: "RATE_LIMITED",
  "e500-default-retries": "PROVIDER_ERROR",
  empty: "completed",
  epipe: "AGENT_FAILED",
  hang: "AGENT_FAILED",
  "hang-api-timeout": "PROVIDER_ERROR",
  hangstream: "AGENT_FAILED",
  "hangstream-api-timeout": "AGENT_FAILED",
  json: "completed",
  long: "completed",
  "max-turns": "MAX_TURNS",
  mcp: "completed",
  "missing-verbose": "INVALID_REQUEST",
  "no-key": "TOKEN_MISSING",
  "no-prompt": "INPUT_REQUIRED",
  "open-stdin": "completed",
  "permission-allow": "completed",
  "permission-unanswered": "completed",
  plan: "completed",
  read: "completed",
  resume: "completed",
  "resume-first": "completed",
  "resume-unknown": "SESSION_NOT_FOUND",
  "session-id": "completed",
  "session-id-reused": "ALREADY_EXISTS",
  shell: "completed",
  "shell-denied": "completed",
  "shell-denied-dontask": "completed",
  "shell-issandbox-bypass": "completed",
  "shell-partial": "completed",
  "shell-plan": "completed",
  shelllong: "completed",
  "sighup-tool": "AGENT_FAILED",
  "sighup-tool-group": "AGENT_FAILED",
  "sighup-tool-then-resume": "completed",
  "sigint-stream": "AGENT_FAILED",
  "sigint-stream-then-resume": "completed",
  "sigint-tool": "AGENT_FAILED",
  "sigint-tool-group": "AGENT_FAILED",
  "sigint-tool-then-resume": "completed",
  "sigkill-stream": "AGENT_FAILED",
  "sigkill-stream-then-resume": "completed",
  "sigkill-tool": "AGENT_FAILED",
  "sigkill-tool-group": "AGENT_FAILED",
  "sigterm-stream": "AGENT_FAILED",
  "sigterm-stream-then-resume": "completed",
  "sigterm-tool": "AGENT_FAILED",
  "sigterm-tool-group": "AGENT_FAILED",
  "slow-reader": "NO_TERMINAL_EVENT",
  "stdin-and-arg": "completed",
  "stdin-bad-json": "AGENT_FAILED",
  "stdin-eof-mid": "completed",
  "stdin-prompt": "completed",
  "stdin-stream": "completed",
  subagent: "completed",
  "subagent-forward": "completed",
  "system-prompt": "completed",
  text: "completed",
  "text-partial": "completed",
  textformat: "NO_TERMINAL_EVENT",
  unreachable: "PROVIDER_ERROR",
};

const CODEX: Readonly<Record<string, Verdict>> = {
  "bad-flag": "INVALID_REQUEST",
  drop: "PROVIDER_ERROR",
  e400: "PROVIDER_BAD_REQUEST",
  e401: "TOKEN_INVALID",
  e429: "RATE_LIMITED",
  empty: "completed",
  ephemeral: "completed",
  hang: "AGENT_FAILED",
  hangstream: "PROVIDER_ERROR",
  instructions: "completed",
  long: "completed",
  mcp: "completed",
  "model-flag": "completed",
  "no-json": "NO_TERMINAL_EVENT",
  "no-key": "TOKEN_MISSING",
  "no-prompt": "INPUT_REQUIRED",
  "not-git": "PERMISSION_DENIED",
  "open-stdin": "AGENT_FAILED",
  patch: "completed",
  plan: "completed",
  read: "completed",
  resume: "completed",
  "resume-first": "completed",
  "resume-last": "completed",
  "resume-unknown": "SESSION_NOT_FOUND",
  shell: "completed",
  "shellfail-readonly": "completed",
  shelllong: "completed",
  shellwrite: "completed",
  "shellwrite-onrequest": "completed",
  "shellwrite-readonly": "completed",
  "shellwrite-workspace": "completed",
  "sighup-tool": "AGENT_FAILED",
  "sighup-tool-group": "AGENT_FAILED",
  "sighup-tool-then-resume": "completed",
  "sigint-stream": "AGENT_FAILED",
  "sigint-tool": "AGENT_FAILED",
  "sigint-tool-group": "AGENT_FAILED",
  "sigint-tool-then-resume": "completed",
  "sigkill-tool": "AGENT_FAILED",
  "sigkill-tool-group": "AGENT_FAILED",
  "sigterm-stream": "AGENT_FAILED",
  "sigterm-tool": "AGENT_FAILED",
  "sigterm-tool-group": "AGENT_FAILED",
  "slow-reader": "completed",
  "stdin-and-arg": "completed",
  "stdin-prompt": "completed",
  subagent: "completed",
  text: "completed",
  unreachable: "PROVIDER_ERROR",
};

interface Transcript {
  readonly version: string;
  readonly scenario: string;
  readonly adapter: AgentAdapter;
  readonly verdicts: Readonly<Record<string, Verdict>>;
}

const transcripts = (
  version: string,
  kind: string,
  verdicts: Readonly<Record<string, Verdict>>,
): readonly Transcript[] =>
  present && existsSync(join(ROOT, version))
    ? readdirSync(join(ROOT, version)).map((scenario) => ({
        version,
        scenario,
        adapter: adapterFor(kind)!,
        verdicts,
      }))
    : [];

const all = [
  ...transcripts("claude-2.1.329", "claude", CLAUDE),
  ...transcripts("claude-2.1.197", "claude", CLAUDE),
  ...transcripts("codex-0.169.0", "codex", CODEX),
];

const headless = [
  ...transcripts("gemini-0.61.0", "gemini", GEMINI),
  ...transcripts("opencode-1.18.33", "opencode", OPENCODE),
  ...transcripts("copilot-1.0.102", "copilot", COPILOT),
];

const read = ({ version, scenario }: Transcript, file: string): string => {
  const path = join(ROOT, version, scenario, file);
  return existsSync(path) ? readFileSync(path, "utf8") : "";
};

interface RunFile {
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly timedOut: boolean;
    readonly killedByTest: number | null;
  };
}

/** The run as the runtime would have seen it: what the harness sent is what we sent. */
const replay = (transcript: Transcript) => {
  const { exit: end } = JSON.parse(read(transcript, "run.json")) as RunFile;
  const sent = end.timedOut
    ? "SIGKILL"
    : /^(?:norelaunch-)?(sig\w+?)-/.exec(transcript.scenario)?.[1]?.toUpperCase();
  const facts = exit({
    code: end.code,
    signal: end.signal,
    signals_sent: sent !== undefined && (end.timedOut || end.killedByTest !== null) ? [sent] : [],
    stderr_tail: read(transcript, "stderr.txt").slice(-STDERR_TAIL_BYTES),
    program: transcript.version,
  });
  const stdout = read(transcript, "stdout.ndjson");
  return { stdout, ...run(transcript.adapter, stdout, facts) };
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The lines as the tests want to look into them, whatever their shape. */
// biome-ignore lint/suspicious/noExplicitAny: shapes of four CLI versions
type Loose = any;
const printed = (stdout: string): readonly Loose[] =>
  linesOf(stdout).flatMap((line) =>
    line.kind === "text" && isJson(line.text) ? [JSON.parse(line.text)] : [],
  );

describe.skipIf(!present)(
  present ? "recorded runs" : "recorded runs (skipped: no ../shared/data/cli-transcripts)",
  () => {
    describe.each([...all, ...headless].map((one) => [`${one.version}/${one.scenario}`, one] as const))(
      "%s",
      (_name, transcript) => {
        const { stdout, records, events, outcome, state } = replay(transcript);

        test("comes to what it came to", () => {
          expect(outcome.error?.code ?? outcome.status).toBe(transcript.verdicts[transcript.scenario]);
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
          // Plain text of another output format, and the line that a slow reader lost the end of.
          const noJson = linesOf(stdout).filter(
            (line) => line.kind === "text" && line.text !== "" && !isJson(line.text),
          );
          expect(ofKind(events, "Unknown").length).toBe(noJson.length);
          expect(JSON.stringify(outcome.error ?? null)).not.toMatch(/fake|127\.0\.0\.1|\[ede_/);
          expect(Buffer.byteLength(JSON.stringify(state))).toBeLessThanOrEqual(DECODER_STATE_MAX_BYTES);
        });

        // These read the lines of claude and codex.
        if (headless.includes(transcript)) return;

        test("tells every text once", () => {
          const lines = printed(stdout);
          const whole = lines.flatMap((line) => {
            if (line.type === "item.completed")
              return line.item?.type === "agent_message" ? [line.item.text] : [];
            if (line.type !== "assistant" || typeof line.error === "string" || line.is_api_error_message)
              return [];
            return line.message.content.flatMap((block: Loose) =>
              block.type === "text" ? [block.text] : [],
            );
          });
          // Deltas of a message that was cut off before its whole came.
          const cut =
            /^sig(term|kill)-stream$/.test(transcript.scenario) && transcript.version.startsWith("claude")
              ? "Partial answer, then silence"
              : "";
          expect(textOf(events, "assistant")).toBe(whole.join("") + cut);
        });

        test("captures the session, the usage and the turns wherever they are printed", () => {
          const lines = printed(stdout);
          const ids = new Set(
            lines
              .map((line) => line.thread_id ?? (line.num_turns === 0 ? undefined : line.session_id))
              .filter(Boolean),
          );
          const told = records.flatMap((record) =>
            record.type === "session_started" ? [record.payload.session_id] : [],
          );
          expect(told).toEqual([...ids]);
          expect((outcome.completion.data as Loose)?.session?.id).toBe([...ids].at(-1));
          const ends = lines.filter(
            (line) =>
              (line.type === "result" && line.num_turns > 0) || /^turn\.(completed|failed)$/.test(line.type),
          );
          const turns = records.flatMap((record) =>
            record.type === "turn_completed" ? [record.payload] : [],
          );
          expect(turns.map(({ turn }) => turn)).toEqual(ends.map((_, i) => i + 1));
          const input = ends.reduce(
            (sum, end) =>
              sum +
              Object.values<Loose>(
                end.model_usage_since_last_result ?? { one: { inputTokens: end.usage?.input_tokens ?? 0 } },
              ).reduce((s, m) => s + m.inputTokens, 0),
            0,
          );
          expect(turns.reduce((sum, { usage }) => sum + usage.input_tokens, 0)).toBe(input);
        });

        test("gives each tool call one result, if the run went on long enough", () => {
          const id = (event: AgentEvent) =>
            (event.data as Loose).tool.tool_use_id ?? (event.data as Loose).tool.backend_item_id;
          const calls = ofKind(events, "ToolCall").map(id);
          const results = ofKind(events, "ToolResult").map(id);
          expect(new Set(calls).size).toBe(calls.length);
          expect(calls).toEqual(expect.arrayContaining(results));
          if (outcome.status === "completed") expect(results.sort()).toEqual(calls.sort());
        });
      },
    );

    test("older codex runs are read too", () => {
      const folder = join(ROOT, "codex-0.46");
      for (const file of readdirSync(folder).filter((name) => name.endsWith(".jsonl"))) {
        const { events, outcome } = run(adapterFor("codex")!, readFileSync(join(folder, file), "utf8"));
        expect(ofKind(events, "Unknown"), file).toEqual([]);
        expect(outcome.error?.code ?? outcome.status, file).toBe(
          file.includes("multi") ? "NO_TERMINAL_EVENT" : "completed",
        );
      }
    });

    test("older Claude Code lines are read too", () => {
      const folder = join(ROOT, "claude-2.1.4");
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
