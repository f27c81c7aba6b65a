/** Runs that nobody knows: found by their marker at boot, recorded, ended; another store's, and what is supervised, is not touched. */
import { spawn } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { child, endMarked, makeCanary, startDaemon, temporaryDirectory, until } from "./support.ts";

const ANOTHER = `another-store-of-${process.pid}`;
const NOBODY = "01ZZZZZZZZZZZZZZZZZZZZZZZZ";

test("processes of runs that have ended, or that no record begins, are recorded and ended at the next boot", async () => {
  const daemon = await startDaemon();
  const dir = temporaryDirectory();
  const { store_id } = await daemon.request<{ store_id: string }>("daemon/status", {});
  const done = await daemon.spawn([child("exits.sh"), "0"]);
  await daemon.wait([done]);
  const mine = makeCanary(dir);
  const working = await daemon.spawn([child("new-session.sh"), mine.path]);
  await until("its child is there", async () =>
    (await daemon.output(working).catch(() => "")).includes("ready"),
  );
  await daemon.kill9();

  /** A process with that marker, which holds a canary; it ends with the test at the latest. */
  const stray = async (marker: string) => {
    const canary = makeCanary(dir);
    const process = spawn("/bin/sh", [child("new-session.sh"), canary.path], {
      env: { PATH: "/usr/bin:/bin", HOLDFAST_RUN: marker },
      detached: true,
    });
    onTestFinished(() => endMarked(marker.split("/")[0] as string));
    await new Promise((ready) => process.stdout.once("data", ready));
    return canary;
  };
  const ended = await stray(`${store_id}/${done}/1`);
  const unknown = await stray(`${store_id}/${NOBODY}/4`);
  const foreign = await stray(`${ANOTHER}/${NOBODY}/4`);

  const next = await startDaemon(daemon.stateDir);
  await until("both are gone", () => !ended.isHeld() && !unknown.isHeld());
  expect(foreign.isHeld()).toBe(true);
  expect(mine.isHeld()).toBe(true);
  expect(await next.info(working)).toMatchObject({ state: "running", incarnation: 1 });
  const records = (await next.history(["run_orphaned"])).map(({ payload }) => payload);
  expect(records).toHaveLength(2);
  expect(records).toContainEqual(
    expect.objectContaining({ worker_id: done, incarnation: 1, why: "ended", pids: expect.any(Array) }),
  );
  expect(records).toContainEqual(
    expect.objectContaining({ worker_id: NOBODY, incarnation: 4, why: "no_record" }),
  );
});
