/** Takes over a worker that a boot has found: its agent's output is read on from where the last daemon stopped. */
import { Effect } from "effect";
import { launchScriptsIn } from "../../adapters/process/launch-scripts.ts";
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { incarnate } from "../intake/incarnation.ts";
import { typed } from "../machine/attempt.ts";
import { programOf, redactorOf, secretsOf, spawnedOf } from "./launching.ts";
import { holdSession } from "./session-holding.ts";
import { spanned } from "./spans.ts";
import type { LiveWorker } from "./worker.ts";
import { cwdIn } from "./workspaces.ts";

/** Runs before the machine's first step. */
export const takeOver = (worker: LiveWorker, run: Run): Effect.Effect<void> =>
  Effect.gen(function* () {
    const { shared, journal, spec, beginning } = worker;
    const { argv, secrets } = yield* launchedAs(worker, run);
    // The file of a `@file:` reference may have changed since the running agent was given its text.
    const referring = Object.keys(spec.env).filter((name) => spec.env[name]?.startsWith("@file:"));
    const redact = redactorOf([...secrets, ...Object.values(run.posix?.variables(referring) ?? {})]);
    worker.redact = redact;
    // Signals are sent only after a stop is on record.
    const signals = worker.child().stop === null ? [] : yield* signalsSent(worker, run.incarnation);
    if (beginning.action.type === "adopt") {
      crashPoint("boot-adoption");
      yield* journal.fact({ type: "adopted", spawned: spawnedOf(worker, run, argv) });
      const session_id = shared.sessions.known(worker);
      if (session_id !== undefined) yield* holdSession(worker, session_id);
      shared.accounts.look(worker);
    }
    // If the log names another incarnation's session, nothing of this run is in the log yet. Otherwise the decoder
    // knows better.
    const row = yield* journal.ask(({ views }) => views.worker(worker.id));
    const cwd = yield* journal.ask(({ log }) => cwdIn(log, worker.id, spec));
    const opening = {
      spec: { ...spec, cwd },
      incarnation: run.incarnation,
      session: row?.session_id ?? undefined,
      scripts_dir: launchScriptsIn(worker.services.workerDir(worker.id)),
    };
    const begun = { run, redact, program: programOf(argv), exit: beginning.exit, signals };
    worker.incarnation = incarnate(worker, opening, begun);
    if (worker.mail !== undefined) yield* worker.mail.attach(run);
    if (worker.approvals !== undefined) yield* worker.approvals.takeOver(run);
    worker.listen(worker.incarnation);
  }).pipe(spanned("take_over", worker.id));

/** The command of the last daemon and the texts that must not be logged, as far as they can be known now. */
const launchedAs = (
  { services, adapter, spec, id }: LiveWorker,
  { incarnation }: Run,
): Effect.Effect<{ readonly argv: readonly string[]; readonly secrets: readonly string[] }> =>
  Effect.match(typed(services.prepare(adapter, spec, incarnation, undefined, id)), {
    onSuccess: ({ plan, secrets }) => ({ argv: plan.argv, secrets }),
    onFailure: () => ({ argv: spec.argv, secrets: secretsOf(spec, adapter) }),
  });

const signalsSent = ({ journal, id }: LiveWorker, incarnation: number): Effect.Effect<readonly string[]> =>
  Effect.map(
    journal.ask(({ log }) => log.stream(id, ["worker_signal_sent"])),
    (sent) =>
      sent.flatMap((record) =>
        record.type === "worker_signal_sent" && record.incarnation === incarnation
          ? [record.payload.signal]
          : [],
      ),
  );
