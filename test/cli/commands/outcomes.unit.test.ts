import { describe, expect, it } from "vitest";
import { tally } from "../../../src/cli/commands/demo.ts";
import { failureOf } from "../../../src/cli/commands/wait.ts";
import { perWorker } from "../../../src/cli/commands/workers.ts";
import type { PerWorker, WaitReply } from "../../../src/supervisor/facade.ts";
import { lifecycle } from "../support/samples.ts";

const waited = (status: WaitReply["status"]): WaitReply => ({
  id: status,
  name: null,
  status,
  reason: "",
  exit_code: null,
  signal: null,
  error: null,
});
const done = (changes: Partial<PerWorker>): PerWorker => ({
  id: "a",
  name: null,
  ok: true,
  effect: "deleted",
  status: "cancelled",
  error: null,
  ...changes,
});
const missing = done({
  ok: false,
  effect: "noop",
  error: { code: "WORKER_NOT_FOUND", message: "There is no worker." },
});

describe("wait", () => {
  it.each<[WaitReply["status"][], string | undefined]>([
    [["completed", "completed"], undefined],
    [["failed"], "WORKER_FAILED"],
    [["failed", "cancelled"], "WORKER_FAILED"],
    [["completed", "failed"], "PARTIAL_FAILURE"],
    [["cancelled"], "WORKER_CANCELLED"],
  ])("of %j is %s", (statuses, code) => {
    expect(failureOf(statuses.map(waited))?.code).toBe(code);
  });
});

describe("a command over several ids", () => {
  it("is a success with the strongest effect", () => {
    expect(perWorker([done({ effect: "noop" }), done({})])).toMatchObject({
      ok: true,
      value: { effect: "deleted" },
    });
    expect(perWorker([done({ effect: "noop" })])).toMatchObject({ ok: true, value: { effect: "noop" } });
    expect(perWorker([])).toMatchObject({ ok: true, value: { effect: "noop", results: [] } });
  });

  it("is the error of its only id, and a partial failure when some went well", () => {
    expect(perWorker([missing])).toMatchObject({ ok: false, error: { code: "WORKER_NOT_FOUND" } });
    const suggestion = "Start its supervisor with `agent restart crew`.";
    const said = done({ ok: false, error: { code: "INVALID_STATE", message: "Down.", suggestion } });
    expect(perWorker([said])).toMatchObject({ error: { suggestion } });
    expect(perWorker([missing, done({})])).toMatchObject({
      ok: false,
      error: { code: "PARTIAL_FAILURE" },
      value: { results: [missing, done({})] },
    });
  });
});

describe("the demo's tally", () => {
  it("counts what the records say, and processes that still live", () => {
    expect(tally(lifecycle, [99], (pid) => pid === 4242)).toEqual({
      records: 6,
      gaps: 0,
      started: 1,
      exited: 1,
      restarts: 1,
      left_behind: 2,
    });
  });
});
