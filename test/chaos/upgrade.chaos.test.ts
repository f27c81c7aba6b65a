/** Promise R38: another version takes over from the daemon that runs, over agents that print numbered lines. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { figure, full } from "../support/figures.ts";
import { NEXT, nextVersion } from "../support/versions.ts";
import { startDaemon, until } from "./support.ts";
import { endedLater, upgrade } from "./upgrading.ts";

const AGENTS = full ? 100 : 8;
const COUNTS = `i=0; while :; do i=$((i+1)); echo "line $i"; sleep ${full ? 0.5 : 0.02}; done`;

test("no agent is killed, and none of its lines is lost or doubled", async () => {
  const daemon = await startDaemon();
  const { store_id } = await daemon.request<{ store_id: string }>("daemon/status", {});
  endedLater(daemon.stateDir, store_id);
  const ids = await Promise.all(Array.from({ length: AGENTS }, () => daemon.spawn(["sh", "-c", COUNTS])));
  await until("they print", async () =>
    (await Promise.all(ids.map((id) => daemon.output(id).catch(() => "")))).every((text) =>
      text.includes("line 3\n"),
    ),
  );
  const before = await Promise.all(ids.map((id) => daemon.info(id)));

  const { exit, data } = await upgrade(nextVersion(), daemon.stateDir);
  expect({ exit, effect: data.effect }).toEqual({ exit: 0, effect: "updated" });
  const status = await daemon.request<{ version: string; pid: number }>("daemon/status", {});
  expect(status.version).toBe(NEXT);
  expect(status.pid).not.toBe(daemon.pid);

  const lines = await Promise.all(ids.map((id) => daemon.output(id).then((text) => text.split("\n").length)));
  await until("they print on", async () =>
    (await Promise.all(ids.map((id) => daemon.output(id)))).every(
      (text, at) => text.split("\n").length > lines[at]! + 3,
    ),
  );
  const after = await Promise.all(ids.map((id) => daemon.info(id)));
  expect(after.map(({ pid, incarnation, state }) => [pid, incarnation, state])).toEqual(
    before.map(({ pid }) => [pid, 1, "running"]),
  );
  let wrong = 0;
  for (const id of ids) {
    const numbers = [...(await daemon.output(id)).matchAll(/line (\d+)\n/g)].map(([, n]) => Number(n));
    wrong += numbers.filter((n, at) => n !== at + 1).length;
  }
  expect(wrong).toBe(0);
  figure("R38", {
    rounds: AGENTS,
    failures: 0,
    note: `${AGENTS} agents taken over by another version: 0 killed, 0 lines lost or doubled; no daemon answered for ${data.gap_ms} ms`,
  });
});

test("a version that cannot start, or cannot read the log, changes nothing", async () => {
  const daemon = await startDaemon();
  const worker = await daemon.spawn(["sleep", "1000"]);
  const broken = await upgrade(nextVersion('throw new Error("this version is broken");'), daemon.stateDir);
  expect(broken.exit).toBe(1);
  expect(broken.error.code).toBe("UPGRADE_FAILED");
  expect(broken.error.message).toContain(`Version ${NEXT} does not start:`);

  // As a later version would leave it.
  const db = new Database(join(daemon.stateDir, "holdfast.db"));
  db.pragma("user_version = 999");
  db.close();
  const older = await upgrade(nextVersion(), daemon.stateDir);
  expect(older.error.message).toContain(
    "The event log has schema 999, but this version knows schemas only up to",
  );
  expect(await daemon.info(worker)).toMatchObject({ state: "running", incarnation: 1 });
});

test("a version that dies when it has taken over is replaced by the old one", async () => {
  const daemon = await startDaemon();
  const { store_id } = await daemon.request<{ store_id: string }>("daemon/status", {});
  endedLater(daemon.stateDir, store_id);
  const worker = await daemon.spawn(["sleep", "1000"]);
  await until("it runs", async () => (await daemon.info(worker)).state === "running");
  const { pid } = await daemon.info(worker);
  const dies = `setInterval(() => { try { if (JSON.parse(process.getBuiltinModule("node:fs").readFileSync(${JSON.stringify(join(daemon.stateDir, "daemon.json"))}, "utf8")).pid === process.pid) process.exit(1); } catch {} }, 1);`;
  const { exit, error } = await upgrade(nextVersion(dies), daemon.stateDir);
  expect(exit).toBe(1);
  expect(error.message).toContain(`Version ${NEXT} did not come up: `);
  expect(error.message).toContain(`Version ${packageJson.version} runs again, with all agents.`);
  expect(await daemon.info(worker)).toMatchObject({ state: "running", incarnation: 1, pid });
});
