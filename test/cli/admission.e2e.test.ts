/** Admission as people meet it: a real daemon with limits of its own, its queue, and what it says no to. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

let commands: Commands;
const agent: Commands["agent"] = (...argv) => commands.agent(...argv);
beforeAll(() => {
  commands = makeCommands();
});
afterAll(() => commands.close());

describe("a daemon with HOLDFAST_MAX_RUNNING", () => {
  it("that is no number does not start, and says why", async () => {
    const ended = await commands.start(["-o", "text", "daemon", "start"], { HOLDFAST_MAX_RUNNING: "all" })
      .ended;
    expect(ended.exit).toBe(4);
    expect(ended.stderr).toContain("HOLDFAST_MAX_RUNNING is a whole number from 1 to 10000");
  });

  it("of one runs one agent at a time; the others wait in the list, by priority", async () => {
    await commands.start(["daemon", "start"], { HOLDFAST_MAX_RUNNING: "1" }).ended;
    for (const [name, priority] of [
      ["first", "normal"],
      ["low", "low"],
      ["high", "high"],
    ] as const)
      await agent("spawn", "--name", name, "--priority", priority, "--", "sleep", "300");
    const listed = (await agent("list")).data as unknown as { name: string; state: string; reason: string }[];
    expect(listed.slice(1)).toMatchObject([
      { name: "low", state: "pending", reason: "queued: place 2, priority low, waits for a slot" },
      { name: "high", state: "pending", reason: "queued: place 1, priority high, waits for a slot" },
    ]);
    expect((await commands.text("list")).stdout).toMatch(/low +command +pending \(queue 2, slot\)/);
    expect((await commands.text("logs", "low")).stdout).toContain("waits for a slot: place 1, priority low");

    await agent("kill", "first");
    await until(async () => (await agent("info", "high")).data.state === "running");
    expect((await agent("kill", "low")).exit).toBe(0);
    expect((await agent("info", "low")).data).toMatchObject({ state: "cancelled", incarnation: 0 });
  });

  it("denies what is looser than its own limits, with the contract's reason code and the next step", async () => {
    const denied = await agent("spawn", "--max-depth", "9", "--", "sleep", "300");
    expect(denied).toMatchObject({ exit: 7, error: { code: "POLICY_VIOLATION" } });
    expect(denied.meta.details).toMatchObject({ reason_code: "policy_violation" });
    expect(denied.stdout).toContain("Ask for at most 3");
  });

  it("takes no answer to a question that nobody asks", async () => {
    const answered = await agent("answer", "high", "wait");
    expect(answered).toMatchObject({ exit: 6, error: { code: "INVALID_STATE" } });
    expect((await agent("answer", "high", "perhaps")).exit).toBe(3);
  });

  it("asks about a spent budget, and continues with the one that the answer names", async () => {
    await agent("kill", "--all");
    const own = ["--budget", "wall=300ms", "--on-breach", "ask"];
    await agent("spawn", "--name", "paid", ...own, "--", "sleep", "300");
    const isPaused = async () => (await agent("info", "paid")).data.paused !== undefined;
    await until(isPaused);
    expect((await commands.text("inbox")).stdout).toContain("paid");
    const refused = await agent("answer", "paid", "stop", "--budget", "wall=1h");
    expect(refused).toMatchObject({ exit: 3, error: { code: "INVALID_REQUEST" } });
    const answered = await agent("answer", "paid", "continue", "--budget", "wall=1h");
    expect(answered).toMatchObject({ exit: 0 });
    await until(async () => !(await isPaused()));
    expect((await agent("info", "paid")).data).toMatchObject({
      state: "running",
      budgets: [{ state: "open", bounds: { wall_ms: 3_600_000 } }],
    });
    expect((await agent("kill", "paid")).exit).toBe(0);
  });
});
