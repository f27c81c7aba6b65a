/** A budget under real daemons: it is spent by real agents at the same time, all of them stand still, and a dead daemon forgets nothing. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import type { WorkerInfo } from "../../src/runtime/api.ts";
import { figure, full } from "../support/figures.ts";
import { child, startDaemon, temporaryDirectory, until } from "./support.ts";

const AGENTS = full ? 30 : 4;
const EACH_USD = 0.25;

test("agents that spend one budget together stand still once it is spent, go on when somebody says so, and never spend it anew (R27)", async () => {
  const GO = join(temporaryDirectory(), "go");
  const first = await startDaemon();
  let daemon = first;
  const spend = {
    kind: "claude_code" as const,
    prompt: "spend",
    cwd: temporaryDirectory(),
    env: { CLAUDE_BINARY: child("spends.sh"), GO },
    restart: "permanent" as const,
  };
  const spawned = (over: object) => first.spawn([], { ...spend, ...over });
  const top = await spawned({ name: "top", budget: { usd: 3 } });
  const ids = [top];
  for (let n = 1; n < AGENTS; n += 1) ids.push(await spawned({ parent: top }));

  const info = (id: string) => daemon.request<WorkerInfo>("agent/info", { id });
  const infos = (): Promise<WorkerInfo[]> => Promise.all(ids.map(info));
  const allStand = async () =>
    (await infos()).every(
      ({ pid, paused }) => paused !== undefined && pid !== null && readStat(pid)?.state === "T",
    );
  const budget = async () => (await info(top)).budgets[0]!;

  await until("all of them run", async () => (await infos()).every(({ pid }) => pid !== null));
  writeFileSync(GO, "");
  await until("all of them stand still", allStand);
  const spent = await budget();
  expect(spent).toMatchObject({ owner: top, state: "asked", bounds: { usd: 3 } });
  expect(spent.spent.usd).toBeGreaterThan(3);
  const asked = await daemon.history(["worker_question"]);
  expect(asked.length).toBe(1);
  // A turn that was on its way when the bound was passed was spent, and is counted too.
  const after = new Map<string, number>();
  let sum = 0;
  for (const { worker_id = "", payload } of await daemon.history(["turn_completed"])) {
    if (sum > 3) after.set(worker_id, (after.get(worker_id) ?? 0) + 1);
    sum += payload.usage.cost_usd ?? 0;
  }
  const most = Math.max(0, ...after.values());
  figure("R27", {
    rounds: 1,
    failures: 0,
    note: `${AGENTS} real agents at $${EACH_USD} a turn of 50 ms, cap $3, recorded $${spent.spent.usd}: at most ${most} turns of one agent after the cap was passed`,
  });
  await first.kill9();
  daemon = await startDaemon(first.stateDir);
  await until("the next daemon has them standing still", allStand);
  expect((await budget()).spent).toMatchObject({ usd: spent.spent.usd, turns: spent.spent.turns });
  expect(await daemon.agent("list", "-o", "text")).toContain("paused: its budget is spent");
  expect(await daemon.agent("info", "top", "-o", "text")).toContain("agent answer top continue|stop");

  await daemon.agent("answer", "top", "continue");
  await until(
    "they spend on, and stand still again",
    async () => (await budget()).spent.usd > 6 && allStand(),
  );
  expect((await daemon.history(["worker_question"])).length).toBe(2);
  await daemon.agent("answer", "top", "stop");
  await until("all of them have failed", async () =>
    (await infos()).every(({ state }) => state === "failed"),
  );
  expect((await infos()).map(({ error }) => error?.code)).toEqual(ids.map(() => "BUDGET_EXCEEDED"));
});

test("an agent with one long prompt is stopped in the middle of it, also by a daemon that came later", async () => {
  const GO = temporaryDirectory();
  const first = await startDaemon();
  let daemon = first;
  const id = await first.spawn([], {
    kind: "claude_code" as const,
    prompt: "work",
    cwd: temporaryDirectory(),
    env: { CLAUDE_BINARY: child("works-in-rounds.sh"), GO },
    restart: "transient" as const,
    budget: { tokens: 3_000 },
    on_breach: "stop" as const,
  });
  const info = () => daemon.request<WorkerInfo>("agent/info", { id });
  const tokens = async () => (await info()).budgets[0]?.spent.tokens;
  const go = (round: number) => writeFileSync(join(GO, String(round)), "");
  go(1);
  await until("one round is counted", async () => (await tokens()) === 1_100);
  await first.kill9();
  go(2);
  daemon = await startDaemon(first.stateDir);
  await until("two rounds are counted", async () => (await tokens()) === 2_200);
  expect((await info()).state).toBe("running");
  go(3);
  await until("it has failed", async () => (await info()).state === "failed");
  expect((await info()).error?.code).toBe("BUDGET_EXCEEDED");
  expect(await tokens()).toBe(3_300);
  const [limit] = await daemon.history(["worker_limit_reached"]);
  expect(limit?.payload).toMatchObject({ limit: "tokens", value: 3_300, bound: 3_000 });
  expect(await daemon.history(["turn_completed"])).toEqual([]);
  const [exit] = await daemon.history(["worker_exited"]);
  expect(exit?.payload.unfinished).toMatchObject({ input_tokens: 3_000, output_tokens: 300 });
});
