/** A bridge that does wrong loses the connection, a run at most, and never costs the daemon. One peer a sin (test/fixtures/bridges). */
import { describe, expect, it, vi } from "vitest";
import { SINS } from "../../fixtures/bridges/sins.mjs";
import { place, QUICK, requestOf } from "./support.ts";

const until = (condition: () => unknown) => vi.waitFor(condition, { timeout: 10_000, interval: 10 });

describe("before the handshake", () => {
  it.each([
    ["speaks another version", "it speaks version 2 of the methods, and this daemon 1"],
    ["never answers", "it did not answer runtime.state within 0.2 s"],
  ])("a bridge that %s is told, and nothing is begun", async (sin, why) => {
    const made = await place(SINS[sin]);
    const runtime = made.open({ times: QUICK });
    await until(() => expect(runtime.trouble()?.message).toContain(why));
    await expect(runtime.launch(requestOf("w", "wait"))).rejects.toMatchObject({
      code: "UNAVAILABLE",
      message: expect.stringContaining(`The bridge beam does not serve at ${made.socket}`),
      suggestion: expect.stringContaining("Start it"),
    });
    await expect(runtime.observe({ worker_id: "w", incarnation: 1 })).resolves.toEqual({
      kind: "never_started",
    });
  });
});

describe("on a connection", () => {
  it.each([
    ["answers no request about runs", "it did not answer"],
    ["sends what is no JSON", "no JSON in UTF-8"],
    ["sends half a frame and stops", "it did not end a frame within 0.2 s"],
    ["sends half a frame and hangs up", "the connection was closed"],
    ["sends a frame that is too long", "it sent a frame over 4194304 bytes"],
    ["leaves out the version of JSON-RPC", "no answer of JSON-RPC 2.0"],
    ["invents an id", "it answered request 1000000, which was never sent"],
    ["answers in another shape", "its answer to runtime.start_agent is none"],
  ])("a bridge that %s loses it, and a start fails with the reason in time", async (sin, why) => {
    const made = await place(SINS[sin]);
    const runtime = made.open({ times: { ...QUICK, launch_ms: 1_000 } });
    const failed = await runtime.launch(requestOf("w", "wait")).catch((cause: Error) => cause);
    expect(failed).toMatchObject({ code: "EXEC_FAILED" });
    await until(() => expect([...made.reports, String(failed)].join("\n")).toContain(why));
  });

  it("one that breaks rules again and again is given a rest", async () => {
    const made = await place(SINS["sends what is no JSON"]);
    const runtime = made.open({ times: { ...QUICK, launch_ms: 5_000 } });
    await runtime.launch(requestOf("w", "wait")).catch(() => undefined);
    const asked = made.peer.asked.length;
    expect(asked).toBeGreaterThanOrEqual(BREAKS);
    // The breaker is open: nothing is asked for, and a start says so at once after its wait.
    await expect(runtime.check()).rejects.toMatchObject({ code: "UNAVAILABLE" });
    expect(made.peer.asked).toHaveLength(asked);
  });

  it("answers that come twice are passed over", async () => {
    const made = await place(SINS["answers twice"]);
    const runtime = made.open();
    const run = await runtime.launch(requestOf("w", "print", "3", "once"));
    expect((await run.exited).exit_code).toBe(3);
    expect(await run.source("stdout").tail(100)).toBe("once\n");
    expect(made.reports).toEqual([]);
  });

  it("a flood of what answers nothing ends the connection, and the run is still there on the next", async () => {
    const made = await place(SINS["floods with notifications"]);
    const runtime = made.open({ times: QUICK });
    const launching = runtime.launch(requestOf("w", "wait"));
    await until(() => expect(made.reports.join()).toContain("more than 1000 frames that answer nothing"));
    made.peer.sin = (_, answer) => answer;
    const run = await launching;
    await until(() => expect(run.source("stdout").size()).toBe(6));
    expect(run.process()).toBe("running");
  });

  it("output that nobody asked for is not taken", async () => {
    const made = await place(SINS["floods with output that nobody asked for"]);
    const runtime = made.open({ times: QUICK });
    const run = await runtime.launch(requestOf("w", "wait"));
    await until(() => expect(made.reports.join()).toContain("its answer to runtime.await is none"));
    expect(run.source("stdout").size()).toBe(0);
    made.peer.sin = (_, answer) => answer;
    await until(() => expect(run.source("stdout").size()).toBe(6));
  });
});

const BREAKS = 5;

describe("a bridge that lies", () => {
  it("cannot reopen a run that has ended", async () => {
    const made = await place(SINS["says that an ended run runs"]);
    const runtime = made.open({ times: QUICK });
    const run = await runtime.launch(requestOf("w", "print", "3", "done"));
    const exit = await run.exited;
    made.peer.runs.clear();
    const next = made.open({ times: QUICK });
    await next.check();
    const seen = await next.observe({ worker_id: "w", incarnation: 1, ref: run.ref });
    expect(seen).toMatchObject({ kind: "finished", exit });
    expect(exit.exit_code).toBe(3);
  });

  it("about a run that lives makes it lost, once, and its later words change nothing", async () => {
    const made = await place(SINS["forgets a run that lives"]);
    const runtime = made.open({ times: QUICK });
    const run = await runtime.launch(requestOf("w", "wait"));
    expect((await run.exited).reason).toBe("unknown");
    made.peer.sin = (_, answer) => answer;
    expect(await runtime.observe({ worker_id: "w", incarnation: 1 })).toMatchObject({ kind: "lost" });
    // The run is still there, so the search for orphans finds it and ends it.
    expect(await runtime.living()).toEqual([{ worker_id: "w", incarnation: 1, pids: [] }]);
    await runtime.end({ worker_id: "w", incarnation: 1 });
    expect(await runtime.living()).toEqual([]);
  });
});
