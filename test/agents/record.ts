/**
 * `npm run record:agents [FOLDER…]` writes test/recordings/KIND/real-*.ndjson: what the CLIs print under `agent spawn` against the fake
 * model, for the adapters' tests, which run without any CLI. Ids, paths and times are replaced, long texts cut, and what
 * describes the product alone (its tools and commands, its own words) is left out.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ScenarioName } from "../support/fake-model/scenarios.ts";
import { type AgentUnderTest, claude, codex, copilot, gemini, opencode, qwen } from "./agents.ts";
import { install, isUnderTest } from "./install.ts";
import { makeWorld, until, type World } from "./world.ts";

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
/** A few parts of a long answer will do. */
const LONG_LINES_MAX = 20;
/** UUIDs, and the ids of the fake model and of OpenCode. */
const ID =
  /(?<=\b(msg|prt|ses)_)[0-9a-zA-Z]{26}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=\b(msg|req|toolu|call)_)[0-9a-f]{20}/g;
/** The directory of the world, where the HOME is. */
const STATE = /[^\s"]*\/holdfast-agents-\w+/g;
/** Fields of `system/init`, of claude and qwen, that say something about the run. */
const INIT_FIELDS = [
  "type",
  "subtype",
  "cwd",
  "session_id",
  "model",
  "permissionMode",
  "permission_mode",
  "claude_code_version",
  "qwen_code_version",
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
  "emittedAtMs",
  "startedAtMs",
  "completedAtMs",
  "durationMs",
  "startedAt",
  "completedAt",
  "createdAt",
  "updatedAt",
  "recencyAt",
  "userAgent",
  "serverName",
  "installationId",
  "codexHome",
]);

type Line = Readonly<Record<string, unknown>>;

/** Whether the words of a line are the CLI's own, and not the model's or a tool's. */
const isOwnVoice = ({ type, subtype, isSynthetic, is_error, message, item, method }: Line): boolean =>
  isSynthetic === true ||
  subtype === "informational" ||
  (type === "result" && is_error === true) ||
  (message as Line | undefined)?.model === "<synthetic>" ||
  // codex warns of a model that it does not know.
  (item as Line | undefined)?.type === "error" ||
  method === "warning" ||
  method === "configWarning";
const WORDS = new Set(["text", "content", "result", "message", "summary", "details"]);

const withoutProduct = (line: Line): Line => {
  if (line.subtype === "init") return Object.fromEntries(INIT_FIELDS.map((name) => [name, line[name]]));
  if (!isOwnVoice(line)) return line;
  return JSON.parse(JSON.stringify(line), (name, value) =>
    // The words that qwen puts after this are the fake model's.
    WORDS.has(name) && typeof value === "string" && !value.startsWith("[API Error: ")
      ? "Words of the CLI."
      : value,
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
      .replaceAll(cwd, "/workspace")
      .replace(STATE, "/state");
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

interface Recorder {
  readonly world: World;
  readonly cwd: string;
  /** The files of the worker, under this name. */
  save(id: string, name: string): Promise<void>;
}

const inFolder = async (
  under: AgentUnderTest,
  folder: string,
  body: (recorder: Recorder) => Promise<void>,
): Promise<void> => {
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
  await body({ world, cwd, save });
  await world.close();
  rmSync(cwd, { recursive: true });
};

const runs =
  (under: AgentUnderTest) =>
  async ({ world, cwd, save }: Recorder): Promise<void> => {
    for (const scenario of SCENARIOS) {
      // It would not end by itself.
      if (isEnding(scenario) && under.endings[scenario] === undefined) continue;
      const { id } = await world.story(await world.spawn(scenario, cwd, "--restart", "temporary"));
      await save(id, scenario);
    }
    const id = await world.spawn(
      "shellsleep",
      cwd,
      "--restart",
      "transient",
      "--backoff",
      "1s..1s",
      "--on-interrupted",
      "continue",
    );
    await until(() => existsSync(join(cwd, "canary")), "the tool runs");
    await save(id, "killed");
    const [spawned] = (await world.soFar(id)).of("worker_spawned");
    process.kill(spawned!.payload.agent!.pid, "SIGKILL");
    await world.story(id);
    await save(id, "resumed");
  };

/** codex where it is spoken with. */
const conversations = async ({ world, cwd, save }: Recorder): Promise<void> => {
  const turns = (id: string, count: number) =>
    until(async () => (await world.soFar(id)).of("turn_completed").length === count, "the turn's end");
  for (const scenario of ["text", "shell", "e401", "e429", "e500", "drop", "maxtokens"] as const) {
    const id = await world.spawnWith(scenario, cwd, "--allow-tool", "shell", "--restart", "temporary");
    await world.story(id);
    await save(id, scenario);
  }
  for (const decision of ["allow", "deny"]) {
    const id = await world.spawnWith("shellwrite", cwd, `--${decision}-tool`, "shell");
    await world.story(id);
    await save(id, decision);
  }
  const talk = await world.spawnWith("thinking", cwd, "--interactive");
  await turns(talk, 1);
  await world.agent("ask", talk, "And again? [[scenario:text]]");
  await world.agent("send", talk, "--close");
  const { of } = await world.story(talk);
  await save(talk, "turns");

  const [session] = of("session_started").map(({ payload }) => payload.session_id);
  const branch = ["--ext", `agent_api.session.fork.v1=${JSON.stringify({ selector: "id", id: session })}`];
  const forked = await world.spawnWith("text", cwd, ...branch);
  await world.story(forked);
  await save(forked, "forked");

  const id = await world.spawn("shellsleep", cwd, "--interactive");
  await until(() => existsSync(join(cwd, "canary")), "the tool runs");
  await world.agent("cancel", id);
  await turns(id, 1);
  await world.agent("ask", id, "Something else. [[scenario:text]]");
  await world.agent("send", id, "--close");
  await world.story(id);
  await save(id, "cancelled");
};

const problem = install();
if (problem !== undefined) {
  process.stderr.write(`Nothing recorded: ${problem}.\n`);
  process.exit(1);
}
type Recorded = readonly [AgentUnderTest, (recorder: Recorder) => Promise<void>];
const FOLDERS: Readonly<Record<string, Recorded>> = {
  "claude-code": [claude, runs(claude)],
  codex: [codex, runs(codex)],
  "codex-app-server": [codex, conversations],
  "gemini-cli": [gemini, runs(gemini)],
  opencode: [opencode, runs(opencode)],
  copilot: [copilot, runs(copilot)],
  "qwen-code": [qwen, runs(qwen)],
};
const asked = process.argv.slice(2);
for (const [folder, [under, body]] of Object.entries(FOLDERS))
  if (isUnderTest(under.kind) && (asked.length === 0 || asked.includes(folder)))
    await inFolder(under, folder, body);
