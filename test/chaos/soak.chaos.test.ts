/** Nothing stays of what has ended: the short form of `npm run soak` (R39). */
import { onTestFinished, test } from "vitest";
import { startDaemon } from "../../bench/support.ts";
import { runRound, takeSample, WORKERS_A_ROUND } from "../soak/round.ts";
import { figure } from "../support/figures.ts";
import { killIfThere } from "../support/kill-if-there.ts";
import { endMarked, lives, until } from "./support.ts";

const ROUNDS = 12;
const PORT = 10_000 + (process.pid % 1_000);

test(`after ${ROUNDS * WORKERS_A_ROUND} workers that ended, were restarted, stopped and killed, the daemon holds what it held before`, async () => {
  const daemon = await startDaemon({}, [`--inspect=127.0.0.1:${PORT}`]);
  const { store_id } = await daemon.request<{ store_id: string }>("daemon/status", {});
  onTestFinished(() => {
    if (lives(daemon.pid)) killIfThere(daemon.pid);
    endMarked(store_id);
  });
  await runRound(daemon);
  const before = await takeSample(daemon, PORT);
  for (let round = 0; round < ROUNDS; round += 1) await runRound(daemon);
  // A socket or a timer of the last round may still be on its way out.
  let after = await takeSample(daemon, PORT);
  await until("it holds no more than before", async () => {
    after = await takeSample(daemon, PORT);
    return after.files <= before.files && after.resources <= before.resources;
  });
  figure("R39", {
    rounds: ROUNDS * WORKERS_A_ROUND,
    failures: 0,
    note: `workers: ${before.files} descriptors before, ${after.files} after; ${before.resources} resources, ${after.resources}`,
  });
  await daemon.stop();
});
