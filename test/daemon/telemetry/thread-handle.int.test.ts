/** The thread of telemetry as the daemon holds it; what it posts is in test/cli/telemetry.e2e. */
import { Deferred, Effect } from "effect";
import { expect, it } from "vitest";
import type { OtlpSource } from "../../../src/daemon/telemetry/otlp.ts";
import { TelemetryThread } from "../../../src/daemon/telemetry/thread-handle.ts";
import type { RuntimeStatus } from "../../../src/runtime/api.ts";

it("begins another thread after one that failed, and tells of each failure", async () => {
  const told: { readonly where: string; readonly cause: unknown }[] = [];
  const twice = Deferred.makeUnsafe<void>();
  const thread = new TelemetryThread(
    {
      runtime: {
        follow: () => Effect.never,
        info: () => Effect.never,
        status: () => Effect.succeed({ head: 0 } as RuntimeStatus),
      },
      log: () => undefined,
      defects: {
        tell: (where, cause) => {
          told.push({ where, cause });
          if (told.length === 2) Deferred.doneUnsafe(twice, Effect.void);
        },
      },
    },
    {
      settings: {
        traces: undefined,
        metrics: undefined,
        secret_headers: {},
        spans_every_ms: 1_000,
        metrics_every_ms: 1_000,
        isGenAi: false,
        service_name: "holdfast",
        resource: {},
      },
      headers: {},
      // Its encoder throws when the thread begins.
      source: undefined as unknown as OtlpSource,
      log_file: "/nonexistent/holdfast.db",
      epoch: "E",
      cursor_file: "/nonexistent/telemetry.json",
    },
  );
  await Effect.runPromise(Effect.raceFirst(thread.run, Deferred.await(twice)));
  expect(told).toEqual(
    [1, 2].map(() => ({ where: "the thread of telemetry", cause: expect.any(TypeError) })),
  );
});
