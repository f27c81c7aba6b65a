/** Sends a signal to an agent and records it. Only the exit tells whether the signal ended the agent. */
import { Effect } from "effect";
import type { SignalReport } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { SIGNAL_TRIES_MAX } from "../../base/limits.ts";
import { workerStream } from "../../protocol/records.ts";
import { spanned } from "./spans.ts";
import type { Shell } from "./worker.ts";

/** The first step of a stop: ends the turn by the agent's own protocol if it has one, then sends the signal. */
export const terminate = (shell: Shell, signal: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { incarnation } = shell;
    if (signal === "SIGTERM" && shell.mail !== undefined) yield* shell.mail.endTurn();
    if (shell.incarnation === incarnation) yield* sendSignal(shell, signal, "stop");
  }).pipe(spanned("stop", shell.id));

export const sendSignal = (shell: Shell, signal: string, reason: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { incarnation, id } = shell;
    if (incarnation === undefined) return;
    const { run } = incarnation;
    incarnation.signals = [...incarnation.signals, signal];
    const send = () => (signal === "SIGKILL" ? run.kill() : run.signal(signal as NodeJS.Signals));
    crashPoint("signal-before");
    let reached: SignalReport | undefined;
    for (let tries = 0; reached === undefined && tries < SIGNAL_TRIES_MAX; tries += 1)
      reached = yield* shell.call(signal, send, undefined);
    crashPoint("signal-before-record");
    if (reached === undefined || reached.length === 0) return;
    const pids = reached === "run" ? [] : reached;
    const of = { stream: workerStream(id), worker_id: id, incarnation: run.incarnation };
    const payload = { signal, pids, reason };
    yield* shell.journal.note([{ type: "worker_signal_sent", ...of, payload }]);
  });
