/** The clocks with real processes. */
import { describe, expect, test } from "vitest";
import { first, openRuntime } from "./support.ts";

describe("a heartbeat", () => {
  test("sees that an agent is stopped, and that it goes on", async () => {
    const runtime = await openRuntime();
    const { id } = await runtime.spawn({ kind: "command", argv: ["sleep", "600"], heartbeat_ms: 100 });
    const { payload } = await first(runtime.watch(id), "worker_spawned");
    process.kill(payload.pid, "SIGSTOP");
    const stopped = await first(runtime.watch(id), "worker_heartbeat");
    expect(stopped).toMatchObject({ incarnation: 1, payload: { process: "stopped" } });
    process.kill(payload.pid, "SIGCONT");
    const again = await first(runtime.watch(id, { from: stopped.seq }), "worker_heartbeat");
    expect(again.payload.process).toBe("running");
  });
});

test("a worker that asks nothing takes no answer", async () => {
  const runtime = await openRuntime();
  const { id } = await runtime.spawn({ kind: "command", argv: ["sleep", "600"] });
  await expect(runtime.answer(id, "wait")).rejects.toMatchObject({ code: "INVALID_STATE" });
});
