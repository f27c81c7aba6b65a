/** The clocks with real processes. */
import { describe, expect, test, vi } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { first, openRuntime } from "./support.ts";

describe("a heartbeat", () => {
  test("sees that an agent is stopped, and that it goes on", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn({ kind: "command", argv: ["sleep", "600"], heartbeat_ms: 100 });
    const { payload } = await first(runtime.watch(id), "worker_spawned");
    process.kill(payload.pid!, "SIGSTOP");
    const stopped = await first(runtime.watch(id), "worker_heartbeat");
    expect(stopped).toMatchObject({ incarnation: 1, payload: { process: "stopped" } });
    process.kill(payload.pid!, "SIGCONT");
    const again = await first(runtime.watch(id, { from: stopped.seq }), "worker_heartbeat");
    expect(again.payload.process).toBe("running");
  });
});

test("a pause is what the process table says too, and its end", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn({ kind: "command", argv: ["sleep", "600"], timeout_ms: 60_000 });
  const { payload } = await first(runtime.watch(id), "worker_spawned");
  const stateIs = (wanted: string) => vi.waitUntil(() => readStat(payload.pid!)?.state === wanted, 100_000);
  expect(await runtime.pause(id, { reason: "lunch" })).toMatchObject({ effect: "updated" });
  await stateIs("T");
  expect((await runtime.info(id)).paused).toEqual([{ reason: "operator", detail: "lunch" }]);
  expect(await runtime.unpause([id, "nobody"])).toMatchObject([{ effect: "updated" }, { ok: false }]);
  await stateIs("S");
  await runtime.kill(id);
  await expect(runtime.pause(id)).rejects.toMatchObject({ code: "INVALID_STATE" });
});

test("a worker that asks nothing takes no answer", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn({ kind: "command", argv: ["sleep", "600"] });
  await expect(runtime.answer(id, "wait")).rejects.toMatchObject({ code: "INVALID_STATE" });
});
