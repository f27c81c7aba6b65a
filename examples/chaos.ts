/**
 * A small chaos program: it kills a supervised child five times with SIGKILL and shows what the log says of it.
 * Run it with `node examples/chaos.ts`.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Runtime } from "holdfast";

const KILLS = 5;
const stateDir = await mkdtemp(join(tmpdir(), "holdfast-example-"));
const runtime = await Runtime.open({ stateDir });
try {
  const { id } = await runtime.spawn({
    kind: "command",
    argv: ["sleep", "600"],
    restart: "permanent",
    max_restarts: KILLS,
    restart_period_ms: 60_000,
    backoff_min_ms: 10,
    backoff_max_ms: 100,
  });
  let kills = 0;
  for await (const record of runtime.watch(id)) {
    if (record.type === "worker_spawned" && record.payload.pid !== undefined && kills < KILLS) {
      kills += 1;
      process.kill(record.payload.pid, "SIGKILL");
    } else if (record.type === "worker_spawned") {
      await runtime.kill(id, { reason: "the show is over" });
    }
    if (record.type === "worker_exited")
      process.stdout.write(
        `${record.seq}  incarnation ${record.incarnation} ended: ${record.payload.signal ?? record.payload.exit_code}\n`,
      );
    if (record.type === "worker_restart_scheduled") {
      const { restarts_in_window, max_restarts, delay_ms } = record.payload;
      process.stdout.write(
        `${record.seq}  restart ${restarts_in_window} of ${max_restarts}, in ${delay_ms} ms\n`,
      );
    }
    if (record.type === "worker_ended")
      process.stdout.write(`${record.seq}  ended: ${record.payload.state}, ${record.payload.reason}\n`);
  }
} finally {
  await runtime.close();
  await rm(stateDir, { recursive: true, force: true });
}
