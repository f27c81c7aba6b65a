/**
 * Cost of masking in the ingest: recorded runs of claude from their spool to the durable log, masked with known secrets, in turns with the
 * same without any masking. Processor time, which other work on the machine lengthens less.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openIngest } from "../src/adapters/ingest.ts";
import { claudeCode } from "../src/adapters/kinds/claude-code/index.ts";
import { makeRedactor, type Redactor } from "../src/protocol/redact.ts";
import { openLog } from "../src/store/log.ts";
import { openingOf } from "../test/adapters/conformance/support.ts";
import { type Result, root } from "./support.ts";

const LINES = 20_000;
const ROUNDS = 7;
const AT_LEAST = 0.9;
const WORKER = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
const same = <T>(value: T): T => value;
const NONE: Redactor = { line: same, head: same, text: same, value: same, env: same };
/** As long as keys of providers are. */
const SECRETS = [`sk-ant-${"aB3dE5gH7j".repeat(10)}`, "wJalrXUtnFEMI/K7MDENG/bPxRfiCY"];

/** Microseconds of processor time. */
const timed = (dir: string, spool: string, redact: Redactor): number => {
  const log = openLog({ file: join(mkdtempSync(join(dir, "log-")), "log.db") });
  const ingest = openIngest({
    adapter: claudeCode,
    worker_id: WORKER,
    opening: openingOf(claudeCode.kind),
    spool: (stream) => (stream === "stdout" ? spool : `${spool}.none`),
    checkpoints: [],
    redact,
    account: { model: null, estimate: same },
  });
  const before = process.cpuUsage();
  for (let pulled = ingest.pull(); pulled !== undefined; pulled = ingest.pull())
    if (pulled.drafts.length > 0) log.append(pulled.drafts, { checkpoint: pulled.checkpoint });
  const { user, system } = process.cpuUsage(before);
  ingest.close();
  log.close();
  return user + system;
};

export const masking = async (): Promise<Result> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-masking-"));
  try {
    const recordings = join(root, "test/recordings/claude-code");
    const whole = readdirSync(recordings)
      .map((name) => `${readFileSync(join(recordings, name), "utf8").trimEnd()}\n`)
      .join("");
    const times = Math.ceil(LINES / (whole.split("\n").length - 1));
    const lines = times * (whole.split("\n").length - 1);
    const spool = join(dir, "stdout");
    writeFileSync(spool, whole.repeat(times));
    writeFileSync(`${spool}.none`, "");
    const redact = makeRedactor(SECRETS);
    let [floor, ours] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let round = 0; round < ROUNDS; round += 1) {
      floor = Math.min(floor, timed(dir, spool, NONE));
      ours = Math.min(ours, timed(dir, spool, redact));
    }
    const perLine = (micros: number): string => `${(micros / lines).toFixed(2)} µs a line`;
    return {
      name: "spool → durable log with secrets masked",
      floor: `nothing masked: ${perLine(floor)}`,
      measured: perLine(ours),
      value: `${(floor / ours).toFixed(2)} of the floor`,
      threshold: `≥ ${AT_LEAST}`,
      ok: floor / ours >= AT_LEAST,
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
};
