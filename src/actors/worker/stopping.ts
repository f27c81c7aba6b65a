/** Sends a signal to an agent and records it. Only the exit tells whether the signal ended the agent. */
import { Effect } from "effect";
import type { SignalReport } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { SIGNAL_TRIES_MAX } from "../../base/limits.ts";
import { workerStream } from "../../protocol/records.ts";
import { spanned } from "./spans.ts";
import type { LiveWorker } from "./worker.ts";

/** The first step of a stop: ends the turn by the agent's own protocol if it has one, then sends the signal. */
export const terminate = (worker: LiveWorker, signal: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { incarnation } = worker;
    if (signal === "SIGTERM" && worker.mail !== undefined) yield* worker.mail.endTurn();
    if (worker.incarnation === incarnation) yield* sendSignal(worker, signal, "stop");
  }).pipe(spanned("stop", worker.id));

export const sendSignal = (worker: LiveWorker, signal: string, reason: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { incarnation, id } = worker;
    if (incarnation === undefined) return;
    const { run } = incarnation;
    incarnation.signals = [...incarnation.signals, signal];
    const send = () => (signal === "SIGKILL" ? run.kill() : run.signal(signal as NodeJS.Signals));
    crashPoint("signal-before");
    let reached: SignalReport | undefined;
    for (let tries = 0; reached === undefined && tries < SIGNAL_TRIES_MAX; tries += 1)
      reached = yield* worker.call(signal, send, undefined);
    crashPoint("signal-before-record");
    if (reached === undefined || reached.length === 0) return;
    const pids = reached === "run" ? [] : reached;
    const of = { stream: workerStream(id), worker_id: id, incarnation: run.incarnation };
    const payload = { signal, pids, reason };
    yield* worker.journal.note([{ type: "worker_signal_sent", ...of, payload }]);
  });
