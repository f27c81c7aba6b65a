/** How a worker begins that a boot has found: its agent is read on where the last daemon stopped. */
import type { Run } from "../adapters/spawner.ts";
import { programOf, redactorOf, secretsOf, spawnedOf } from "./launching.ts";
import { checkBudget } from "./limiting.ts";
import type { Shell } from "./worker.ts";

/** Before the machine's first step. */
export const takeOver = async (shell: Shell, found: Run): Promise<void> => {
  const { services, bridge, journal, adapter, spec, id } = shell;
  const { incarnation } = found;
  let argv = spec.argv;
  let secrets: readonly string[];
  try {
    const prepared = await bridge.run(services.prepare(adapter, spec, incarnation, undefined));
    argv = [...prepared.plan.argv];
    secrets = prepared.secrets;
  } catch {
    secrets = secretsOf(spec, adapter);
  }
  shell.redact = redactorOf(secrets);
  shell.program = programOf(argv);
  const sent = await journal.ask((log) => log.stream(id, ["worker_signal_sent"]));
  shell.signals = sent.flatMap((record) =>
    record.type === "worker_signal_sent" && record.incarnation === incarnation ? [record.payload.signal] : [],
  );
  if (shell.beginning.action.type === "adopt") {
    await journal.fact({ type: "adopted", spawned: spawnedOf(found, argv, shell.redact) });
    shell.fork(checkBudget(shell));
  }
  if (!journal.isClosed()) shell.attach(found);
};
