/** The last resort for one worker whose supervision itself has failed: nothing is decoded and no policy is asked. */
import type { Run } from "../../adapters/spawner.ts";
import { KILL_REPEAT_MS } from "../../base/limits.ts";
import type { RunExit } from "../../protocol/incarnation.ts";
import type { SweepReport } from "../../protocol/records.ts";
import { ABANDONED, UNKNOWN_EXIT } from "../../supervisor/child/exits.ts";
import { discard } from "./launching.ts";
import { durationOf } from "./limiting.ts";
import type { Shell } from "./worker.ts";

export const abandon = async (shell: Shell, cause: unknown): Promise<void> => {
  const { services, run, id } = shell;
  services.defects.tell(`worker ${id} is abandoned: its supervision failed`, shell.masked(cause));
  const duration_ms = durationOf(shell);
  shell.detach();
  if (shell.starting !== undefined) discard(services, shell.starting);
  let sweep: SweepReport | undefined;
  if (run !== undefined) {
    await shell.call("the kill", () => run.kill(), undefined);
    const ended = await shell.call("waiting for its exit", () => exitInTime(shell, run), undefined);
    shell.exit ??= ended;
    sweep = await shell.call("the sweep", () => run.sweep(), undefined);
    run.dispose();
  }
  const exit = shell.exit ?? UNKNOWN_EXIT;
  const told = { exit, error: ABANDONED, ...(sweep === undefined ? {} : { sweep }) };
  await shell.journal.fact({ type: "abandoned", ...told, duration_ms }, [], shell.forgetCheckpoints());
};

const exitInTime = ({ bridge }: Shell, run: Run): Promise<RunExit | undefined> =>
  new Promise((resolve, reject) => {
    const alarm = bridge.alarms.after(KILL_REPEAT_MS, () => resolve(undefined));
    run.exited.then(resolve, reject).finally(() => alarm.disarm());
  });
