/**
 * Stopping needs no disk (promise R24, docs/decisions/0031): the agent that fills the disk, and a child of it, take every block that
 * comes free, and they are stopped all the same. Visibly skipped where no file system can be mounted.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { figure } from "../support/figures.ts";
import { canMount, smallDisk } from "./small-disk.ts";
import { temporaryDirectory, until } from "./support.ts";

const where = canMount ? "tmpfs" : "skipped: no mount namespace";

it.skipIf(!canMount)(
  `pause, --timeout and kill act on a disk that an agent keeps full, and are on record once there is room (${where})`,
  async () => {
    const { client, agent, reserved, fill, processesOf, empty, kill9, start } = await smallDisk();
    await reserved();
    const quiet = await client.spawn(["sleep", "1000"]);
    const limited = await client.spawn(["sleep", "1000"], { timeout_ms: 8_000, restart: "permanent" });
    const filler = await fill();
    const { pid } = await client.info(quiet);

    expect(await agent("pause", quiet)).toMatchObject({ rc: 0 });
    await until("it stands still", () => readStat(pid as number)?.state === "T");
    await until("the limit has ended its agent", () => processesOf(limited).length === 0);
    await until("and its life", async () => (await client.info(limited)).state === "failed");

    expect(processesOf(filler).length).toBeGreaterThan(1);
    expect(await agent("kill", filler)).toMatchObject({ rc: 0 });
    expect(processesOf(filler)).toEqual([]);
    expect(await client.info(filler)).toMatchObject({ state: "cancelled" });
    // Its output is still there: the disk is as full as before.
    expect(await client.request("daemon/status", {})).toMatchObject({ store_error: { code: "DISK_FULL" } });
    // A daemon that dies now has dropped nothing of it.
    await kill9();
    expect(await start()).toMatchObject({ rc: 0 });
    expect(await client.info(filler)).toMatchObject({ state: "cancelled" });
    expect(await client.info(limited)).toMatchObject({ state: "failed" });
    expect(await agent("kill", quiet)).toMatchObject({ rc: 0 });
    expect(processesOf(quiet)).toEqual([]);

    empty();
    await until("all is on record", async () => {
      const { store_error } = await client.request<{ store_error: object | null }>("daemon/status", {});
      return store_error === null;
    });
    const ends = await client.history(["worker_ended", "worker_paused", "worker_limit_reached"]);
    expect(ends.map(({ type, worker_id }) => [type, worker_id])).toEqual(
      expect.arrayContaining([
        ["worker_paused", quiet],
        ["worker_limit_reached", limited],
        ["worker_ended", limited],
        ["worker_ended", filler],
        ["worker_ended", quiet],
      ]),
    );
    expect(ends).toHaveLength(5);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });
    await client.wait([await client.spawn(["true"])]);
    figure("R24", {
      rounds: 1,
      failures: 0,
      note: "an agent keeps a tmpfs full: pause, timeout, kill, and a killed daemon",
    });
  },
);

it.skipIf(!canMount)(
  `daemon stop --kill-agents on a full disk ends every agent, and the next daemon knows that they have ended (${where})`,
  async () => {
    const { client, agent, reserved, fill, processesOf, empty, start } = await smallDisk();
    await reserved();
    const quiet = await client.spawn(["sleep", "1000"], { restart: "permanent" });
    const filler = await fill({ restart: "permanent" });
    expect(await agent("daemon", "stop", "--kill-agents")).toMatchObject({ rc: 0 });
    expect([...processesOf(quiet), ...processesOf(filler)]).toEqual([]);
    expect(await start()).toMatchObject({ rc: 0 });
    for (const id of [quiet, filler]) expect(await client.info(id)).toMatchObject({ state: "cancelled" });
    empty();
    await until("its reason is gone", () =>
      client.spawn(["true"]).then(
        () => true,
        () => false,
      ),
    );
    expect((await client.history(["worker_ended"], [quiet, filler])).length).toBe(2);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });
  },
);

it.skipIf(!canMount)(
  `a daemon that was killed starts on a full disk, takes its agents over, and stops them; without a reserve too (${where})`,
  async () => {
    const { client, agent, seen, reserved, fill, processesOf, empty, start, kill9 } = await smallDisk();
    await reserved();
    const quiet = await client.spawn(["sleep", "1000"], { restart: "permanent" });
    const filler = await fill({ restart: "permanent" });
    const { pid } = await client.info(quiet);
    await kill9();
    rmSync(join(seen, "holdfast.db.reserve"));
    await until("its room is taken", () => processesOf(filler).length > 0);
    expect(await start()).toMatchObject({ rc: 0 });
    expect(await client.info(quiet)).toMatchObject({ state: "running", pid });
    expect(await agent("kill", "--all")).toMatchObject({ rc: 0 });
    expect([...processesOf(quiet), ...processesOf(filler)]).toEqual([]);
    empty();
    await until("its reason is gone", () =>
      client.spawn(["true"]).then(
        () => true,
        () => false,
      ),
    );
    expect((await client.history(["worker_adopted"], [quiet, filler])).length).toBe(2);
    expect((await client.history(["worker_ended"], [quiet, filler])).length).toBe(2);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });
  },
);

it.skipIf(!canMount)(
  `an agent whose own output fills the disk is stopped, and a tree is taken down; the next daemon starts there after a stop, too (${where})`,
  async () => {
    const { client, agent, reserved, fill, processesOf, start, seen } = await smallDisk();
    await reserved();
    const file = join(temporaryDirectory(), "holdfast.yaml");
    const worker = (name: string) => `    - {name: ${name}, argv: [sleep, "1000"], restart: permanent}`;
    writeFileSync(
      file,
      ["version: 1", "name: crew", "tree:", "  children:", worker("one"), worker("two"), ""].join("\n"),
    );
    expect(await agent("up", "-f", file)).toMatchObject({ rc: 0 });
    const running = async () => (await client.list()).filter(({ state }) => state === "running");
    await until("the tree runs", async () => (await running()).length === 2);
    const members = (await running()).map(({ id }) => id);
    const quiet = await client.spawn(["sleep", "1000"], { restart: "permanent" });
    const filler = await fill({ output_quota_bytes: 0 }, [
      "sh",
      "-c",
      "while :; do cat /dev/zero 2>/dev/null; sleep 0.02; done",
    ]);

    expect(await agent("down", "crew")).toMatchObject({ rc: 0 });
    for (const id of members) expect(processesOf(id)).toEqual([]);
    expect(await agent("kill", filler)).toMatchObject({ rc: 0 });
    expect(processesOf(filler)).toEqual([]);

    expect(await agent("daemon", "stop", "--keep-agents")).toMatchObject({ rc: 0 });
    expect(await start()).toMatchObject({ rc: 0 });
    const ended = [filler, ...members];
    for (const id of ended) expect(await client.info(id)).toMatchObject({ state: "cancelled" });
    expect(await client.info(quiet)).toMatchObject({ state: "running" });
    expect(await agent("kill", quiet)).toMatchObject({ rc: 0 });
    expect(processesOf(quiet)).toEqual([]);

    rmSync(join(seen, "runs", filler), { recursive: true });
    await until("there is room", () =>
      client.spawn(["true"]).then(
        () => true,
        () => false,
      ),
    );
    expect((await client.history(["worker_ended"], [...ended, quiet])).length).toBe(4);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });
  },
);

it.skipIf(!canMount)(
  `an agent that floods the disk with empty lines stays stopped when the daemon is killed in the middle of its stop (${where})`,
  async () => {
    const { client, agent, reserved, fill, processesOf, start, kill9, seen } = await smallDisk();
    await reserved();
    const quiet = await client.spawn(["sleep", "1000"], { restart: "permanent" });
    const filler = await fill({ output_quota_bytes: 0, restart: "permanent", grace_ms: 1_000 }, [
      "sh",
      "-c",
      "trap '' TERM; flood() { while :; do yes ''; sleep 0.02; done; }; flood >&2 & flood",
    ]);
    const stopped = agent("daemon", "stop", "--kill-agents");
    const isStopping = async () => (await client.info(filler)).state === "stopping";
    await until("the stop is accepted", () => isStopping().catch(() => true));
    await kill9();
    expect(await stopped).toMatchObject({ rc: 12 });

    expect(await start()).toMatchObject({ rc: 0 });
    expect(await agent("daemon", "stop", "--kill-agents")).toMatchObject({ rc: 0 });
    const all = [quiet, filler];
    for (const id of all) expect(processesOf(id)).toEqual([]);
    expect(await start()).toMatchObject({ rc: 0 });
    for (const id of all) expect(await client.info(id)).toMatchObject({ state: "cancelled" });

    rmSync(join(seen, "runs", filler), { recursive: true });
    await until("there is room", () =>
      client.spawn(["true"]).then(
        () => true,
        () => false,
      ),
    );
    expect((await client.history(["worker_ended"], all)).length).toBe(2);
    // Its unread output is told by the batch, and not by the line.
    const left = await client.history(["worker_log_chunk"], [filler]);
    expect(left.length).toBeLessThan(1_000);
    expect(await client.request("db/check", {})).toMatchObject({ ok: true });
  },
);

it.skipIf(!canMount)(`an agent that dies with its daemon does so on a full disk (${where})`, async () => {
  const { client, fill, processesOf, kill9 } = await smallDisk();
  const dying = await client.spawn(["sleep", "1000"], { on_supervisor_death: "die", grace_ms: 0 });
  await fill({ on_supervisor_death: "die", grace_ms: 0 });
  await kill9();
  await until("it is gone", () => processesOf(dying).length === 0);
});
