/**
 * What the log costs over a bare loop, in one run: `node bench/store.bench.ts`.
 *
 * floor: JSON.parse and an insert into the same table with the same indexes, 64 a transaction, NORMAL, nothing else.
 * ours: JSON.parse, a draft, append with checksum, projections and checkpoint, and a live watcher that reads every record back
 * as a JSON line in the same process. Best of three of each, taken in turn.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import SQLite from "better-sqlite3";
import { type RecordDraft, workerStream } from "../src/protocol/records.ts";
import { openLog } from "../src/store/log.ts";
import { log as schema } from "../src/store/migrations/001-log.ts";

const LINES = Number(process.env.BENCH_LINES ?? 100_000);
const BATCH = 64;
const ROUNDS = 3;
const WORKER = "01JZ00000000000000000000AA";

const lines = Array.from({ length: LINES }, (_, i) =>
  JSON.stringify({
    type: "assistant",
    index: i,
    message: {
      role: "assistant",
      content: [{ type: "text", text: `Line ${i}: ${"the quick brown fox ".repeat(6)}` }],
    },
  }),
);

const inNewDirectory = <T>(run: (file: string) => T): T => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-bench-"));
  try {
    return run(join(directory, "holdfast.db"));
  } finally {
    rmSync(directory, { recursive: true });
  }
};

const rate = (run: () => void): number => {
  const start = process.hrtime.bigint();
  run();
  return LINES / (Number(process.hrtime.bigint() - start) / 1e9);
};

const floor = (): number =>
  inNewDirectory((file) => {
    const db = new SQLite(file);
    db.pragma("journal_mode = WAL");
    db.pragma("synchronous = NORMAL");
    db.exec(schema);
    const insert = db.prepare("INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    const stream = workerStream(WORKER);
    const write = db.transaction((from: number) => {
      for (let i = from; i < Math.min(from + BATCH, LINES); i++) {
        const line = lines[i]!;
        const parsed = JSON.parse(line);
        const id = `${WORKER}${parsed.index}`;
        insert.run(i + 1, id, stream, i + 1, "agent.event", Date.now(), WORKER, 1, WORKER, id, line, 0);
      }
    });
    const result = rate(() => {
      for (let i = 0; i < LINES; i += BATCH) write(i);
    });
    db.close();
    return result;
  });

const ours = (): number =>
  inNewDirectory((file) => {
    const log = openLog({ file });
    const stream = workerStream(WORKER);
    let cursor = 0;
    let bytes = 0;
    let seen = 0;
    log.onCommit(() => {
      const page = log.readLines(cursor, BATCH);
      cursor = page.scanned;
      seen += page.lines.length;
      for (const line of page.lines) bytes += line.length;
    });
    const result = rate(() => {
      for (let from = 0; from < LINES; from += BATCH) {
        const drafts: RecordDraft[] = [];
        for (let i = from; i < Math.min(from + BATCH, LINES); i++) {
          const parsed = JSON.parse(lines[i]!);
          drafts.push({
            type: "agent.event",
            stream,
            worker_id: WORKER,
            incarnation: 1,
            payload: {
              agent_kind: "claude_code",
              kind: "TextOutput",
              channel: "assistant",
              text: parsed.message.content[0].text,
            },
          });
        }
        log.append(drafts, {
          checkpoint: {
            worker_id: WORKER,
            incarnation: 1,
            stream: "stdout",
            offset: from,
            skipped_bytes: 0,
            decoder_version: 1,
            decoder_state: "{}",
          },
        });
      }
    });
    if (seen !== LINES || bytes === 0) throw new Error(`the watcher saw ${seen} of ${LINES} records`);
    log.close();
    return result;
  });

let best = { floor: 0, ours: 0 };
for (let round = 0; round < ROUNDS; round++)
  best = { floor: Math.max(best.floor, floor()), ours: Math.max(best.ours, ours()) };
console.log(
  `floor ${Math.round(best.floor)} lines/s, ours ${Math.round(best.ours)} lines/s, ratio ${(best.ours / best.floor).toFixed(2)}`,
);
