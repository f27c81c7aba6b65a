/**
 * Cost of masking in the ingest: lines of claude from their spool to the durable log, masked with the known secrets of a developer, in
 * turns with the same without any masking. Processor time, which other work on the machine lengthens less.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ingest } from "../src/actors/intake/ingest.ts";
import { claudeCode } from "../src/adapters/kinds/claude-code/index.ts";
import { Releaser } from "../src/adapters/process/release.ts";
import { SpoolSource } from "../src/adapters/process/spool-source.ts";
import { makeRedactor, type Redactor } from "../src/protocol/redact.ts";
import { openLog } from "../src/store/sqlite/log.ts";
import { openingOf } from "../test/adapters/conformance/support.ts";
import { ascending, percentile, type Result, root } from "./support.ts";

/** So many in each round: where they are few, what the compiler does meanwhile is much of its time. */
const LINES = 10_000;
const ROUNDS = 15;
const COST_MAX_PERCENT = 10;
const WORKER = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const same = <T>(value: T): T => value;
const NONE: Redactor = { line: same, head: same, text: same, value: same, env: same };

const random = (seed: string, chars: number): string => {
  let text = "";
  for (let n = 0; text.length < chars; n += 1)
    text += createHash("sha512").update(`${seed} ${n}`).digest("base64").replaceAll("=", "");
  return text.slice(0, chars);
};

/** Secrets of a developer's environment, in their usual lengths; each line of the private key is looked for alone, too. */
const SECRETS = [
  `sk-ant-api03-${random("model", 93).replace(/[+/]/g, "-")}AA`,
  `ghp_${random("code host", 36).replace(/[+/]/g, "x")}`,
  random("cloud", 40),
  `postgres://app:p%40ss-${random("database", 12)}@db.internal:5432/app`,
  "Correct-Horse-7!",
  `-----BEGIN PRIVATE KEY-----\n${random("key", 1_620).replace(/.{64}/g, "$&\n")}\n-----END PRIVATE KEY-----\n`,
];

const linesIn = (files: readonly string[]): readonly string[] =>
  files
    .flatMap((file) => readFileSync(file, "utf8").split("\n"))
    .filter((line) => line.startsWith("{") && line.endsWith("}"));

const inFolder = (folder: string): readonly string[] => readdirSync(folder).map((name) => join(folder, name));

/** A tool's result with a piece of a file, as claude prints it: the text stands in it twice. */
const toolResult = (text: string, n: number): string =>
  JSON.stringify({
    type: "user",
    message: {
      role: "user",
      content: [{ tool_use_id: `toolu_${n}`, type: "tool_result", content: text, is_error: false }],
    },
    parent_tool_use_id: null,
    session_id: "5586de4b-6e49-4821-8333-d29977ef82e4",
    tool_use_result: { stdout: text, stderr: "", interrupted: false, isImage: false },
  });

const PIECE_CHARS = 1_500;

/** The source of the masking itself and of its neighbours, which names more secrets than other code does. */
const sourceLines = (): readonly string[] => {
  const source = [...inFolder(join(root, "src/base/secrets")), ...inFolder(join(root, "src/daemon"))]
    .filter((file) => file.endsWith(".ts"))
    .map((file) => readFileSync(file, "utf8"))
    .join("\n");
  return (source.match(new RegExp(`[^]{1,${PIECE_CHARS}}`, "g")) ?? []).map(toolResult);
};

const TRANSCRIPTS = join(root, "../shared/data/cli-transcripts/claude-2.1.329");

const workloads = (): Readonly<Record<string, readonly string[]>> => ({
  "recorded runs": linesIn(inFolder(join(root, "test/recordings/claude-code"))),
  "files that a tool reads": sourceLines(),
  ...(existsSync(TRANSCRIPTS) && {
    "whole transcripts": linesIn(
      inFolder(TRANSCRIPTS)
        .map((dir) => join(dir, "stdout.ndjson"))
        .filter((file) => existsSync(file)),
    ),
  }),
});

/** Over and over, each time with other ids and counts: no text is known from the time before that would not be in a real run. */
const repeated = (lines: readonly string[]): readonly string[] => {
  const times = Math.ceil(LINES / lines.length);
  return Array.from({ length: times }, (_, time) =>
    lines.map((line) => line.replace(/\b(?:[0-9a-f]{4}-){3}|\b(?:toolu|msg|req)_/g, `$&${time}x`)),
  ).flat();
};

const releaser = new Releaser(() => undefined);

/** One of the two sides: reads a batch and puts it into a log of its own, as long as there is one. */
const openSide = (dir: string, spool: string, redact: Redactor) => {
  const log = openLog({ file: join(mkdtempSync(join(dir, "log-")), "log.db") });
  const ingest = new Ingest({
    adapter: claudeCode,
    worker_id: WORKER,
    opening: openingOf(claudeCode.kind),
    source: (stream) => new SpoolSource(stream === "stdout" ? spool : `${spool}.none`, releaser),
    checkpoints: [],
    redact,
    account: { model: null, estimate: same },
  });
  let micros = 0;
  return {
    next: (): boolean => {
      const before = process.cpuUsage();
      const pulled = ingest.pull();
      if (pulled !== undefined && pulled.drafts.length > 0)
        log.append(pulled.drafts, { checkpoint: pulled.checkpoint });
      const { user, system } = process.cpuUsage(before);
      micros += user + system;
      return pulled !== undefined;
    },
    micros: () => micros,
    close: () => {
      log.close();
    },
  };
};

/** Microseconds of processor time, without and with masking. The two take turns batch by batch, so that other work slows both alike. */
const timed = (dir: string, spool: string, redact: Redactor): readonly [number, number] => {
  const sides = [openSide(dir, spool, NONE), openSide(dir, spool, redact)] as const;
  const [floor, ours] = sides;
  for (let turn = 0; ; turn += 1) {
    const [first, second] = turn % 2 === 0 ? [floor, ours] : [ours, floor];
    const [more] = [first.next(), second.next()];
    if (!more) break;
  }
  for (const side of sides) side.close();
  return [floor.micros(), ours.micros()];
};

const measure = (dir: string, name: string, once: readonly string[]): Result => {
  const lines = repeated(once);
  const spool = join(dir, name.replaceAll(" ", "-"));
  writeFileSync(spool, lines.map((line) => `${line}\n`).join(""));
  writeFileSync(`${spool}.none`, "");
  const redact = makeRedactor(SECRETS);
  timed(dir, spool, redact);
  const rounds = Array.from({ length: ROUNDS }, () => timed(dir, spool, redact));
  const middle = (values: readonly number[]): number => percentile(ascending(values), 50);
  const costs = ascending(rounds.map(([floor, ours]) => (ours / floor - 1) * 100));
  const cost = middle(costs);
  const perLine = (micros: readonly number[]): string =>
    `${(middle(micros) / lines.length).toFixed(2)} µs a line`;
  const length = Math.round(lines.reduce((sum, line) => sum + line.length, 0) / lines.length);
  return {
    name: `spool → durable log with ${SECRETS.length} secrets masked, ${name}, ${length} characters a line`,
    floor: `nothing masked: ${perLine(rounds.map(([floor]) => floor))}`,
    measured: perLine(rounds.map(([, ours]) => ours)),
    value: `+${cost.toFixed(1)} % (rounds: ${costs.at(0)?.toFixed(1)} to ${costs.at(-1)?.toFixed(1)})`,
    threshold: `≤ +${COST_MAX_PERCENT} %`,
    ok: cost <= COST_MAX_PERCENT,
  };
};

export const masking = async (): Promise<readonly Result[]> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-masking-"));
  try {
    return Object.entries(workloads()).map(([name, lines]) => measure(dir, name, lines));
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
