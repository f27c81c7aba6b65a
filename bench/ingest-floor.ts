/** The floor of `ingest.ts`, in a process of its own. Prints lines a second. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { openLog } from "../src/store/sqlite/log.ts";

const BATCH = 64;
const dir = mkdtempSync(join(tmpdir(), "holdfast-floor-"));
const file = join(dir, "floor.db");
// The same table, indexes and pragmas: made by the product itself.
openLog({ file }).close();
const db = new Database(file);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = NORMAL");
const insert = db.prepare(
  "INSERT INTO records (seq, id, stream, version, type, recorded_at, worker_id, incarnation, correlation_id, causation_id, payload, checksum) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
);
const write = db.transaction((rows: readonly [string, unknown][], first: number) => {
  let n = first;
  for (const [line] of rows) {
    n += 1;
    insert.run(
      n,
      `01ARZ3NDEKTSV4RRFF${String(n).padStart(8, "0")}`,
      "worker:01ARZ3NDEKTSV4RRFFQ69G5FAV",
      n,
      "agent.event",
      1_700_000_000_000,
      "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      1,
      "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      "01ARZ3NDEKTSV4RRFFQ69G5FAV",
      line,
      0,
    );
  }
});
const started = performance.now();
const lines = readFileSync(process.argv[2] as string, "utf8").split("\n");
lines.pop();
let batch: [string, unknown][] = [];
let done = 0;
for (const line of lines) {
  batch.push([line, JSON.parse(line)]);
  if (batch.length < BATCH) continue;
  write(batch, done);
  done += batch.length;
  batch = [];
}
write(batch, done);
const seconds = (performance.now() - started) / 1000;
db.close();
rmSync(dir, { recursive: true, force: true });
process.stdout.write(String(Math.round(lines.length / seconds)));
