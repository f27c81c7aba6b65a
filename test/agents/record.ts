/**
 * `npm run record:agents [FOLDER…]` writes test/recordings/KIND/real-*.ndjson: what the CLIs print under `agent spawn` against the fake
 * model, for the adapters' tests, which run without any CLI. Ids, paths and times are replaced, long texts cut, and what
 * describes the product alone (its tools and commands, its own words) is left out.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScenarioName } from "../support/fake-model/scenarios.ts";
import { type AgentUnderTest, claude, codex, copilot, gemini, opencode } from "./agents.ts";
import { install, isUnderTest } from "./install.ts";
import { makeWorld, until } from "./world.ts";

const SCENARIOS: readonly ScenarioName[] = [
  "text",
  "shell",
  "long",
  "e401",
  "e429",
  "e500",
  "refusal",
  "maxtokens",
];
const STRING_MAX_CHARS = 1_000;
const LINES_MAX = 60;
/** Of a long answer a few parts will do. */
const LONG_LINES_MAX = 20;
/** UUIDs, and the ids of the fake model and of OpenCode. */
const ID =
  /(?<=\b(msg|prt|ses)_)[0-9a-zA-Z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=\b(msg|req|toolu|call)_)[0-9a-f]{20}/g;
/** Fields of claude's `system/init` that say something about the run. */
const INIT_FIELDS = [
  "type",
  "subtype",
  "cwd",
  "session_id",
  "model",
  "permissionMode",
  "claude_code_version",
  "uuid",
];
/** Fields of any line that say nothing about it. */
const NOISE = new Set([
  "transformedContent",
  "toolTelemetry",
  "skills",
  "responseHeaders",
  "responseBody",
  "subagent_stats",
  "modelUsage",
  "model_usage_since_last_result",
  "fast_mode_disabled_reason",
]);

type Line = Readonly<Record<string, unknown>>;

/** Whether the words of a line are the CLI's own, and not the model's or a tool's. */
const isOwnVoice = ({ type, subtype, isSynthetic, is_error, message, item }: Line): boolean =>
  isSynthetic === true ||
  subtype === "informational" ||
  (type === "result" && is_error === true) ||
  (message as Line | undefined)?.model === "<synthetic>" ||
  // codex warns of a model that it does not know.
  (item as Line | undefined)?.type === "error";
const WORDS = new Set(["text", "content", "result", "message"]);

const withoutProduct = (line: Line): Line => {
  if (line.subtype === "init") return Object.fromEntries(INIT_FIELDS.map((name) => [name, line[name]]));
  if (!isOwnVoice(line)) return line;
  return JSON.parse(JSON.stringify(line), (name, value) =>
    WORDS.has(name) && typeof value === "string" ? "Words of the CLI." : value,
  );
};

const scrubber = (cwd: string) => {
  const seen = new Map<string, string>();
  const idFor = (id: string): string => {
    const known = seen.get(id) ?? `00000000-0000-4000-8000-${String(seen.size + 1).padStart(12, "0")}`;
    seen.set(id, known);
    return known;
  };
  const scrub = (text: string): string => {
    const clean = text
      .replace(ID, idFor)
      .replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:1")
      .replaceAll(cwd, "/workspace");
    return clean.slice(0, STRING_MAX_CHARS);
  };
  return (output: string): string =>
    output
      .split("\n")
      .filter((line) => line !== "")
      .map((line) =>
        JSON.stringify(withoutProduct(JSON.parse(line)), (name, value) => {
          if (NOISE.has(name)) return undefined;
          if (name === "timestamp") return "2026-01-01T00:00:00.000Z";
          if (name === "time") return { start: 0, end: 0 };
          return typeof value === "string" ? scrub(value) : value;
        }),
      )
      .join("\n")
      .concat("\n");
};

/** Copilot says it dozens of times for each call. */
const REPEATED = '{"type":"session.background_tasks_changed"';

/** The middle of a long run is left out, and what is said again and again. */
const shortened = (output: string, max: number): string => {
  const said = output.split("\n");
  const lines = said.filter((line, i) => !(line.startsWith(REPEATED) && said[i - 1]?.startsWith(REPEATED)));
  return lines.length <= max
    ? lines.join("\n")
    : [...lines.slice(0, max / 2), ...lines.slice(-max / 2)].join("\n");
};

const isEnding = (scenario: ScenarioName): scenario is keyof AgentUnderTest["endings"] =>
  ["e401", "e429", "e500", "maxtokens"].includes(scenario);

const record = async (under: AgentUnderTest, folder: string): Promise<void> => {
  const cwd = mkdtempSync(join(tmpdir(), "holdfast-record-"));
  const world = await makeWorld(under);
  const scrub = scrubber(cwd);
  const target = join(import.meta.dirname, "../recordings", folder);
  mkdirSync(target, { recursive: true });
  const save = async (id: string, name: string): Promise<void> => {
    const max = name === "long" ? LONG_LINES_MAX : LINES_MAX;
    const text = shortened(scrub(await world.agent("logs", id, "--raw", "-o", "text")), max);
    writeFileSync(join(target, `real-${name}.ndjson`), text);
    process.stdout.write(`${folder}/real-${name}.ndjson: ${Buffer.byteLength(text)} bytes\n`);
  };

  for (const scenario of SCENARIOS) {
    // It would not end by itself.
    if (isEnding(scenario) && under.endings[scenario] === undefined) continue;
    const { id } = await world.story(await world.spawn(scenario, cwd, "--restart", "temporary"));
    await save(id, scenario);
  }
  const flags = ["--restart", "transient", "--backoff", "1s..1s", "--on-interrupted", "continue"];
  const id = await world.spawn("shellsleep", cwd, ...flags);
  await until(() => existsSync(join(cwd, "canary")), "the tool runs");
  await save(id, "killed");
  const [spawned] = (await world.soFar(id)).of("worker_spawned");
  process.kill(spawned!.payload.agent.pid, "SIGKILL");
  await world.story(id);
  await save(id, "resumed");

  await world.close();
  rmSync(cwd, { recursive: true });
};

const problem = install();
if (problem !== undefined) {
  process.stderr.write(`Nothing recorded: ${problem}.\n`);
  process.exit(1);
}
const KINDS: Readonly<Record<string, AgentUnderTest>> = {
  "claude-code": claude,
  codex,
  "gemini-cli": gemini,
  opencode,
  copilot,
};
const asked = process.argv.slice(2);
for (const [folder, under] of Object.entries(KINDS))
  if (isUnderTest(under.kind) && (asked.length === 0 || asked.includes(folder))) await record(under, folder);
