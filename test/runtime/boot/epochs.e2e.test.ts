/** A runtime on a log that was put back from a backup: what it tells, which cursors it takes, and what becomes of the runs. */
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type LogRecord, Runtime } from "../../../src/library/index.ts";
import { collect, first, stateDirectory, until } from "../../library/support.ts";

const SQLITE = ["holdfast.db", "holdfast.db-wal", "holdfast.db-shm"];

const restore = (stateDir: string, backup: string): void => {
  for (const name of SQLITE) rmSync(join(stateDir, name), { force: true });
  copyFileSync(backup, join(stateDir, "holdfast.db"));
};

const all = async (runtime: Runtime, from: number | string): Promise<readonly LogRecord[]> => {
  const records: LogRecord[] = [];
  for await (const record of runtime.watch(undefined, { from })) {
    records.push(record);
    if (record.type === "daemon_started" && record.seq > 1) break;
  }
  return records;
};

it("an older copy that is put back is told once, and cursors of what is gone are refused", async () => {
  const stateDir = stateDirectory();
  const backup = join(stateDir, "backup.db");
  const before = await Runtime.open({ stateDir });
  const kept = await before.spawn({ kind: "command", argv: ["true"] });
  await before.wait(kept.id);
  await before.close();
  copyFileSync(join(stateDir, "holdfast.db"), backup);

  const lost = await Runtime.open({ stateDir });
  const { id } = await lost.spawn({ kind: "command", argv: ["true"] });
  const records = await collect(lost.watch(id));
  const good = lost.cursor((await first(lost.watch(undefined, { from: 0 }), "daemon_started")).seq);
  const gone = lost.cursor(records.at(-1)!.seq);
  await lost.close();

  restore(stateDir, backup);
  const reports: string[] = [];
  const runtime = await Runtime.open({ stateDir, report: (message) => reports.push(message) });
  expect(reports).toEqual([
    expect.stringMatching(/^An older copy of the event log was put back: \d+ records after/),
  ]);
  const told = (await all(runtime, 2)).filter(({ type }) => type === "log_epoch_began");
  expect(told).toMatchObject([{ payload: { why: "older", former_epoch: gone.split(":")[0] } }]);
  expect((await all(runtime, good))[0]?.seq).toBe(Number(good.split(":")[1]) + 1);
  const { up_to } = told[0]!.payload as { up_to: number };
  const refused = (from: number | string) => first(runtime.watch(undefined, { from }), "daemon_started");
  // As soon as the new history is as long as the old one was, a seq alone cannot be told from one of it.
  const filler = await runtime.spawn({ kind: "command", argv: ["seq", "30"] });
  await runtime.wait(filler.id);
  await expect(refused(gone)).rejects.toMatchObject({
    code: "CURSOR_UNKNOWN",
    message: expect.stringContaining(`of a history that ended at record ${up_to}`),
    suggestion_cli: expect.stringContaining(`--from ${runtime.cursor(up_to)}`),
  });
  await expect(refused("01JZ00000000000000000000ZZ:1")).rejects.toMatchObject({ code: "CURSOR_UNKNOWN" });
  await expect(refused(1_000_000)).rejects.toMatchObject({ code: "CURSOR_UNKNOWN" });
  await expect(refused(runtime.cursor(1_000_000))).rejects.toMatchObject({ code: "CURSOR_UNKNOWN" });
  await runtime.close();

  const again: string[] = [];
  await (await Runtime.open({ stateDir, report: (message) => again.push(message) })).close();
  expect(again).toEqual([]);
});

it("a run that the older log believes in is settled by its exit file; where that is gone nobody knows, and it is not run again", async () => {
  const stateDir = stateDirectory();
  const backup = join(stateDir, "backup.db");
  const ran = join(stateDir, "ran");
  const runtime = await Runtime.open({ stateDir });
  const script = `echo once >> ${ran}; until [ -e ${stateDir}/go ]; do sleep 0.02; done; exit 7`;
  const spawned = await Promise.all(
    ["known", "tidied"].map((name) => runtime.spawn({ kind: "command", name, argv: ["sh", "-c", script] })),
  );
  const ids = spawned.map(({ id }) => id);
  for (const id of ids) await first(runtime.watch(id), "worker_started");
  await until(() => readFileSync(ran, "utf8").split("once").length === 3, "both run");
  // A copy of the living log, as a backup program takes it: everything is in the files.
  await runtime.close({ agents: "keep" });
  copyFileSync(join(stateDir, "holdfast.db"), backup);
  const after = await Runtime.open({ stateDir });
  writeFileSync(join(stateDir, "go"), "");
  await after.wait(ids);
  await after.close();
  rmSync(join(stateDir, "runs", ids[1]!, "1"), { recursive: true });

  restore(stateDir, backup);
  const restored = await Runtime.open({ stateDir, report: () => undefined });
  expect(await restored.wait(ids)).toMatchObject([
    { status: "failed", exit_code: 7 },
    { status: "failed", exit_code: null, error: { code: "WORKER_LOST" } },
  ]);
  await restored.close();
  expect(readFileSync(ran, "utf8").split("once")).toHaveLength(3);
});
