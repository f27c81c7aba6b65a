/** A pause under real daemons: nobody prints, a daemon that dies leaves it standing, and the next one can let it go on. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { child, startDaemon, temporaryDirectory, until } from "./support.ts";

const STALL_MS = 1_000;

/** Numbers from 1 on, each once and in order. */
const isDense = (numbers: readonly string[]): boolean => numbers.every((line, n) => line === String(n + 1));

test("a paused agent stands still over the death of its daemon, goes on without a gap, and hears TERM", async () => {
  const dir = temporaryDirectory();
  const first = await startDaemon();
  const id = await first.spawn([child("counts-with-family.sh"), dir], {
    timeout_ms: 600_000,
    stall_ms: STALL_MS,
    heartbeat_ms: 100,
  });
  const pidOf = (name: string) => Number(readFileSync(join(dir, `${name}.pid`), "utf8"));
  await until("all of the family count", async () => (await first.output(id).catch(() => "")).length > 10);
  const agent = (await first.info(id)).pid as number;
  const family = [agent, pidOf("child"), pidOf("session")];
  const stands = () => family.every((pid) => readStat(pid)?.state === "T");
  const spool = join(first.stateDir, "runs", id, "1", "stdout");
  const size = () => readFileSync(spool).length;

  expect(await first.agent("pause", id, "--reason", "the laptop is hot", "-o", "text")).toContain("paused");
  await until("all of the family stand still", stands);
  expect(await first.agent("list", "-o", "text")).toContain("running (paused: the laptop is hot)");
  const before = size();
  await first.kill9();
  // As after a crash between the record and the signal.
  for (const group of [readStat(agent)!.pgrp, pidOf("session")]) process.kill(-group, "SIGCONT");
  await until("it counts, and nobody supervises it", () => size() > before);

  const second = await startDaemon(first.stateDir);
  await until("the next daemon has stopped it again", stands);
  const after = size();
  expect(await second.agent("info", id, "-o", "text")).toContain("paused: the laptop is hot");
  // Longer than its patience: no clock of it counts.
  const since = performance.now();
  await until("its stall time is over", () => performance.now() - since > 2 * STALL_MS);
  expect(size()).toBe(after);
  expect(await second.agent("unpause", id, "-o", "text")).toContain("goes on");
  await until("it counts on", () => size() > after);

  await second.request("agent/pause", { ids: [id] });
  await until("all of the family stand still", stands);
  await second.kill([id], 60_000);
  const [exit] = await second.history(["worker_exited"], [id]);
  expect(exit?.payload).toMatchObject({ exit_code: 0, sweep: { survivors: [] } });
  const lines = (await second.output(id)).split("\n").slice(0, -1);
  expect(lines.pop()).toBe("bye");
  expect(isDense(lines)).toBe(true);
  const told = await second.history(["worker_paused", "worker_unpaused", "worker_stalled"], [id]);
  expect(told.map(({ type }) => type)).toEqual(["worker_paused", "worker_unpaused", "worker_paused"]);
});
