/** A boot over many recorded runs at once: the living are adopted, the dead are settled, and the next boot has nothing to do (R10, R11). */
import { expect, test } from "vitest";
import { figure, full } from "../support/figures.ts";
import { type Agents, type Daemon, startDaemon, until } from "./support.ts";

const LIVING = full ? 100 : 20;
const DYING = full ? 1_000 : 40;

/** Milliseconds from the new daemon's start to the last of so many records of a type. */
const tookUntil = async (
  daemon: Daemon,
  since: number,
  type: "worker_adopted" | "worker_ended",
  count: number,
): Promise<number> => {
  let told = await daemon.history([type]);
  await until(`${count} records ${type}`, async () => {
    told = await daemon.history([type]);
    return told.length >= count;
  });
  expect(new Set(told.map(({ worker_id }) => worker_id)).size).toBe(count);
  return Date.parse(told.at(-1)?.recorded_at as string) - since;
};

test(`of ${LIVING + DYING} agents ${DYING} die while no daemon is there: each is adopted or settled once, and a boot more writes nothing of them`, {
  timeout: 600_000,
}, async () => {
  const first = await startDaemon();
  for (let n = 0; n < LIVING + DYING; n += 1) await first.spawn(["sleep", "1000000"]);
  let agents: readonly Agents[] = [];
  await until("all of them run", async () => {
    agents = await first.list();
    return agents.every(({ state }) => state === "running");
  });
  const dying = agents.slice(0, DYING);
  await first.kill9();
  for (const { pid } of dying) process.kill(pid as number, "SIGKILL");

  const since = Date.now();
  const second = await startDaemon(first.stateDir);
  const settled_ms = await tookUntil(second, since, "worker_ended", DYING);
  const adopted_ms = await tookUntil(second, since, "worker_adopted", LIVING);
  const isDying = new Set(dying.map(({ id }) => id));
  for (const { id, state, incarnation, pid } of await second.list()) {
    const was = agents.find((agent) => agent.id === id);
    expect({ state, incarnation }).toEqual({ state: isDying.has(id) ? "failed" : "running", incarnation: 1 });
    if (!isDying.has(id)) expect(pid).toBe(was?.pid);
  }

  // Settled is settled. A living run is adopted anew by each daemon, so they are ended before the boot that is to write nothing.
  await second.request("agent/kill", { all: true, grace_ms: 200 });
  const { head } = await second.request<{ head: number }>("daemon/status", {});
  await second.kill9();
  const third = await startDaemon(first.stateDir);
  expect((await third.request<{ head: number }>("daemon/status", {})).head).toBe(head + 1);
  expect((await third.history(["daemon_started"])).at(-1)?.seq).toBe(head + 1);
  figure("R10", {
    rounds: LIVING,
    failures: 0,
    note: `kill -9 of the daemon: all adopted ${adopted_ms} ms after the next one's start`,
  });
  figure("R11", {
    rounds: DYING,
    failures: 0,
    note: `all settled ${settled_ms} ms after the next daemon's start; a boot more writes no record of them`,
  });
});
