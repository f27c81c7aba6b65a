/** A provider's rate limit under real daemons: who waits for its reset is woken once, not before it, by whatever daemon there is then. */
import { expect, test } from "vitest";
import { figure } from "../support/figures.ts";
import { child, makeLedger, startDaemon, temporaryDirectory, until } from "./support.ts";

test("an agent that waits for a reset is woken once after it by the next daemon, and no window counts it (R31)", {
  timeout: 240_000,
}, async () => {
  const ledger = makeLedger(temporaryDirectory());
  const first = await startDaemon();
  const id = await first.spawn([], {
    kind: "claude_code",
    prompt: "go on",
    restart: "transient",
    max_restarts: 0,
    env: { CLAUDE_BINARY: child("limited-at-first.sh"), LEDGER: ledger.path },
  });
  await until("it waits", async () => (await first.info(id)).state === "backing_off");
  expect((await first.info(id)).reason).toMatch(/^rate limited until 2/);
  await first.kill9();
  expect(ledger.all().filter(([what]) => what === "began")).toHaveLength(1);

  const second = await startDaemon(first.stateDir);
  await until("it has ended", async () => (await second.info(id)).state === "completed");
  expect(await second.info(id)).toMatchObject({
    state: "completed",
    incarnation: 2,
    restarts: 0,
    window: { used: 0 },
  });
  const [begun, reset, again, ...more] = ledger.all().map(([, at]) => Number(at)) as [number, number, number];
  expect(more).toEqual([]);
  expect(reset).toBe(begun + 4);
  expect(again).toBeGreaterThanOrEqual(reset);
  const [wait, ...others] = await second.history(["worker_restart_scheduled"], [id]);
  expect(others).toEqual([]);
  expect(wait?.payload).toMatchObject({ reason: "rate_limited", restarts_in_window: 0 });
  const [failed] = await second.history(["worker_failed"], [id]);
  expect(failed?.payload).toMatchObject({
    error: { code: "RATE_LIMITED", reset_at: new Date(reset * 1_000).toISOString() },
  });
  figure("R31", { rounds: 1, failures: 0, note: "a reset that a CLI tells, with a daemon killed before it" });
});
