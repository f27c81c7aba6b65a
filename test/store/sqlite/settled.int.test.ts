/** Retention of the control plane: records of what is settled leave the log, and what is open stays with all that it has. */
import { join } from "node:path";
import SQLite from "better-sqlite3";
import { expect, it } from "vitest";
import { blackboardStream } from "../../../src/protocol/blackboard-records.ts";
import { mailboxStream } from "../../../src/protocol/mail.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { scheduleStream } from "../../../src/protocol/schedule-records.ts";
import { tokenStream } from "../../../src/protocol/token-records.ts";
import { openLog } from "../../../src/store/sqlite/log.ts";
import { dumpProjections } from "../../../src/store/sqlite/projections/projection.ts";
import { exportLines } from "../../../src/store/sqlite/retention/export.ts";
import type { Store } from "../../../src/store/upkeep.ts";
import { clock, newFile, V } from "./support.ts";

const [OLD, NEW] = [1_000, 2_000];
const by = "user";

const item = (item_id: string, ...records: ("claim" | "free" | "done" | "over")[]) => {
  const stream = blackboardStream("work");
  return (log: Store): void => {
    const add = (draft: Pick<RecordDraft, "type" | "payload">) =>
      log.append([{ stream, ...draft } as RecordDraft]);
    const posted = { title: item_id, body: null, data: null, tags: [], artifacts: [] };
    add({ type: "bb_posted", payload: { item_id, ...posted, ttl_ms: 1, by, clock } });
    let token = 0;
    for (const what of records) {
      if (what === "claim") {
        add({ type: "bb_claimed", payload: { item_id, by, lease_ms: 1, clock } });
        token = log.head();
      } else if (what === "over")
        add({ type: "bb_expired", payload: { item_id, what: "item", token: null } } as never);
      else add({ type: "bb_released", payload: { item_id, token, by, done: what === "done", clock } });
    }
  };
};

const message = (box: string, message_id: string, end?: "acked" | "dropped" | "died", reader = by) => {
  const stream = mailboxStream(box);
  return (log: Store): void => {
    const sent = { from: "user", type: "cmd", payload: "do it", ttl_ms: 1, delay_ms: 0, clock } as const;
    log.append([{ stream, type: "mailbox_sent", payload: { message_id, ...sent } }]);
    if (end === undefined) return;
    const delivered = { message_id, attempt: 1, lease_ms: 1, by: reader, clock };
    log.append([{ stream, type: "mailbox_delivered", payload: delivered }]);
    const token = log.head();
    const ends: readonly RecordDraft[] = [
      { stream, type: "mailbox_acked", payload: { message_id, token, by, clock } },
      { stream, type: "mailbox_dropped", payload: { message_id, why: "asked", by, clock } },
      { stream, type: "mailbox_died", payload: { message_id, cause: "attempts", clock } },
    ];
    log.append([ends[["acked", "dropped", "died"].indexOf(end)] as RecordDraft]);
  };
};

const schedule = (name: string, schedule_id: string, isRemoved: boolean) => (log: Store) => {
  const stream = scheduleStream(name);
  const at = "2026-01-01T00:00:00.000Z";
  const plan = { cron: "@daily", zone: "UTC", overlap: "forbid", missed: "once", missed_max: 1 };
  const set = { schedule_id, plan, spec: { kind: "command" }, tree: null, by, at };
  log.append([{ stream, type: "schedule_set", payload: set } as never]);
  if (isRemoved) log.append([{ stream, type: "schedule_removed", payload: { schedule_id, by, at } }]);
};

const token = (name: string, isRevoked: boolean) => (log: Store) => {
  const at = "2026-01-01T00:00:00.000Z";
  const token_id = `id of ${name}`;
  const created = { token_id, sha256: "0".repeat(64), expires_at: null, by, at };
  log.append([{ stream: tokenStream(name), type: "token_created", payload: created }]);
  if (isRevoked)
    log.append([{ stream: tokenStream(name), type: "token_revoked", payload: { token_id, by, at } }]);
};

const SETTLED = [
  item("done", "claim", "free", "claim", "done"),
  item("over", "over"),
  message("user", "acked", "acked"),
  message("user", "dropped", "dropped"),
  schedule("gone", "S1", true),
  token("gone", true),
];
const OPEN = [
  item("held", "claim"),
  item("free", "claim", "free"),
  message("user", "ready"),
  message("user", "dead", "died"),
  // The first message that a worker took says that it polls its mailbox.
  message(V, "first", "acked", `worker:${V}`),
  schedule("there", "S2", false),
  token("there", false),
  // Each stream keeps its newest record.
  schedule("gone", "S3", false),
  token("gone", false),
];

const idOf = ({ payload }: { readonly payload: object }): unknown =>
  Object.entries(payload).find(([name]) => /^(item|message|schedule|token)_id$/.test(name))?.[1];

const recordsOf = (log: Store) => log.read(0, 1_000).records;
const dumpOf = (file: string): string[] => {
  const db = new SQLite(file, { readonly: true });
  try {
    return [...dumpProjections(db)];
  } finally {
    db.close();
  }
};

it("moves what was settled before the instant, and nothing that is open or newer; tables and export stay as they were", async () => {
  const file = newFile(true);
  let now = OLD;
  const log = openLog({ file, now: () => now });
  for (const add of [...SETTLED, ...OPEN]) add(log);
  now = NEW;
  for (const add of [item("late", "claim", "done"), item("newest", "claim")]) add(log);
  const [before, tables] = [recordsOf(log), dumpOf(file)];
  const told = await log.gc({ before_ms: NEW, dry_run: true });
  const report = await log.gc({ before_ms: NEW });
  const isOver = (record: (typeof before)[number]) =>
    ["done", "over", "acked", "dropped", "S1", "id of gone"].includes(String(idOf(record)));
  // The last token has the id of the one before it, which therefore stays.
  const over = before.filter((record) => isOver(record) && idOf(record) !== "id of gone");
  expect(report).toMatchObject({ records: over.length, settled_records: over.length });
  expect(told).toMatchObject({ records: over.length, settled_records: over.length });
  log.close();

  const after = openLog({ file });
  const left = recordsOf(after);
  expect(left.filter(({ type }) => type !== "log_gap").map(({ seq }) => seq)).toEqual(
    before.filter((record) => !over.includes(record)).map(({ seq }) => seq),
  );
  expect(after.check()).toMatchObject({ ok: true, findings: [] });
  expect(dumpOf(file)).toEqual(tables);
  after.rebuild();
  expect(dumpOf(file)).toEqual(tables);
  expect([...exportLines(file, join(file, "../archive"), 1, 1_000)]).toHaveLength(before.length);
  expect(await after.gc({ before_ms: NEW })).toMatchObject({ records: 0, settled_records: 0 });
  // The stream goes on with its next version.
  item("again")(after);
  expect(after.check()).toMatchObject({ ok: true, findings: [] });
  after.close();
});

/** The records of one run, every tenth of which could not start. */
const runOf = (stream: string, schedule_id: string, run: number, at: string): readonly RecordDraft[] => {
  const run_id = `run ${run}`;
  const told = { schedule_id, run_id, at };
  return [
    { stream, type: "schedule_due", payload: { ...told, due_at: at, cause: "due", by } },
    run % 10 === 0
      ? { stream, type: "schedule_failed", payload: { ...told, error: { code: "EARG", message: "no" } } }
      : { stream, type: "schedule_started", payload: { ...told, worker_id: `worker ${run}`, running: [] } },
  ];
};

it("a schedule that lives keeps a record that sums it up, and its old records go: a year of runs", async () => {
  const file = newFile(true);
  const DAY_MS = 24 * 3_600_000;
  const [DAYS, KEPT_DAYS, GC_DAYS, A_DAY] = [365, 30, 30, 24];
  let now = 0;
  const log = openLog({ file, now: () => now });
  const stream = scheduleStream("hourly");
  schedule("hourly", "S4", false)(log);
  for (let day = 1; day <= DAYS; day += 1) {
    now = day * DAY_MS;
    const at = new Date(now).toISOString();
    log.append(Array.from({ length: A_DAY }, (_, n) => runOf(stream, "S4", day * A_DAY + n, at)).flat());
    if (day % GC_DAYS !== 0) continue;
    const how = { before_ms: now - KEPT_DAYS * DAY_MS };
    const { settled_records } = await log.gc({ ...how, dry_run: true });
    expect(await log.gc(how)).toMatchObject({ settled_records });
  }
  const db = new SQLite(file, { readonly: true });
  const left = db.prepare("SELECT count(*) FROM records WHERE stream = ? AND type <> 'log_gap'").pluck();
  // The records of the time that is kept and since the last collection, and the newest sum of all.
  expect(left.get(stream)).toBe(2 * A_DAY * (KEPT_DAYS + 1 + (DAYS % GC_DAYS)) + 1);
  db.close();
  const runs = DAYS * A_DAY;
  expect(log.schedule("hourly")).toMatchObject({ runs: runs - runs / 10, failures: runs / 10 });
  const tables = dumpOf(file);
  log.rebuild();
  expect(dumpOf(file)).toEqual(tables);
  expect(log.check()).toMatchObject({ ok: true, findings: [] });
  log.close();
});

it("a schedule with few old records has no sum, and keeps them", async () => {
  let now = OLD;
  const log = openLog({ file: newFile(true), now: () => now });
  schedule("there", "S2", false)(log);
  now = NEW;
  expect(await log.gc({ before_ms: NEW })).toMatchObject({ records: 0, settled_records: 0 });
  expect(recordsOf(log).map(({ type }) => type)).toEqual(["schedule_set"]);
  log.close();
});
