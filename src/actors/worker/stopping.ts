/** A signal to an agent, and its record. Whether it ended the agent is not known here: the exit tells. */
import { crashPoint } from "../../base/crash-point.ts";
import { SIGNAL_TRIES_MAX } from "../../base/limits.ts";
import { workerStream } from "../../protocol/records.ts";
import type { Shell } from "./worker.ts";

/** The first step of a stop: its own protocol, where it has one that ends a turn; then the signal. */
export const terminate = async (shell: Shell, signal: string): Promise<void> => {
  const { run } = shell;
  if (signal === "SIGTERM") await shell.mail?.endTurn();
  if (shell.run === run) await sendSignal(shell, signal, "stop");
};

export const sendSignal = async (shell: Shell, signal: string, reason: string): Promise<void> => {
  const { run, id } = shell;
  if (run === undefined) return;
  shell.signals = [...shell.signals, signal];
  const send = () => (signal === "SIGKILL" ? run.kill() : run.signal(signal as NodeJS.Signals));
  crashPoint("signal-before");
  let pids: readonly number[] | undefined;
  for (let tries = 0; pids === undefined && tries < SIGNAL_TRIES_MAX; tries += 1)
    pids = await shell.call(signal, send, undefined);
  crashPoint("signal-before-record");
  if (pids === undefined || pids.length === 0) return;
  const payload = { signal, pids, reason };
  const stream = workerStream(id);
  const { incarnation } = run;
  await shell.journal.note([{ type: "worker_signal_sent", stream, worker_id: id, incarnation, payload }]);
};
