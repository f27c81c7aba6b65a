/** A runtime over a real log and an in-memory spawner, on whatever clock the test runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Effect } from "effect";
import { command } from "../../src/adapters/command/index.ts";
import { makeMemorySpawner } from "../../src/adapters/memory-spawner.ts";
import { WorkerSpec, type WorkerSpecInput } from "../../src/protocol/worker.ts";
import { openLog } from "../../src/store/log.ts";
import { makeRuntime } from "../../src/supervisor/runtime.ts";
import type { Services } from "../../src/supervisor/services.ts";

export const spec = (over: Partial<WorkerSpecInput> = {}): WorkerSpecInput => ({ kind: "command", argv: ["agent"], cwd: "/", restart: "permanent", timeout_ms: 0, stall_ms: 0, ...over });

export const memoryRuntime = Effect.gen(function* () {
  const dir = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "holdfast-memory-"))),
    (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true })),
  );
  const memory = makeMemorySpawner(join(dir, "runs"));
  const log = yield* Effect.acquireRelease(
    Effect.sync(() => openLog({ file: join(dir, "holdfast.db") })),
    (opened) => Effect.sync(() => opened.close()),
  );
  const specs = new Map<string, WorkerSpec>();
  const reports: string[] = [];
  const services: Services = {
    log,
    spawner: memory.spawner,
    files: {
      save: async (id, saved) => void specs.set(id, saved),
      load: async (id) => specs.get(id) as WorkerSpec,
    },
    boot_id: "boot",
    random: () => 0,
    adapterFor: (kind) => (kind === "command" ? command : undefined),
    prepare: (adapter, given, incarnation, session) => Effect.sync(() => ({ plan: adapter.plan({ spec: given, incarnation, session, binary: "" }), env: {}, secrets: [] })),
    report: (message) => void reports.push(message),
  };
  const runtime = yield* makeRuntime(services, { version: "test", state_dir: dir, adapters: [command], suggestKind: () => undefined });
  return { runtime, memory, log, services, reports, dir };
});
