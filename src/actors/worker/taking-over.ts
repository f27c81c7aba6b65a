/** How a worker begins that a boot has found: its agent is read on where the last daemon stopped. */
import type { Run } from "../../adapters/spawner.ts";
import { crashPoint } from "../../base/crash-point.ts";
import { programOf, redactorOf, secretsOf, spawnedOf } from "./launching.ts";
import { holdSession } from "./session-holding.ts";
import type { Shell } from "./worker.ts";
import { cwdIn } from "./workspaces.ts";

/** Before the machine's first step. */
export const takeOver = async (shell: Shell, found: Run): Promise<void> => {
  const { services, bridge, journal, adapter, spec } = shell;
  const { incarnation } = found;
  let argv = spec.argv;
  let secrets: readonly string[];
  try {
    const prepared = await bridge.run(services.prepare(adapter, spec, incarnation, undefined, shell.id));
    argv = [...prepared.plan.argv];
    secrets = prepared.secrets;
  } catch {
    secrets = secretsOf(spec, adapter);
  }
  // The file of a reference may have another text by now than the agent that runs was given.
  const referring = Object.keys(spec.env).filter((name) => spec.env[name]?.startsWith("@file:"));
  shell.redact = redactorOf([...secrets, ...Object.values(found.variables(referring))]);
  shell.program = programOf(argv);
  // Signals go only to who is to stop, and that was recorded first.
  if (shell.child().stop !== null) shell.signals = await signalsSent(shell, incarnation);
  if (shell.beginning.action.type === "adopt") {
    crashPoint("boot-adoption");
    await journal.fact({ type: "adopted", spawned: spawnedOf(found, argv, shell.redact) });
    const session_id = bridge.sessions.known(shell);
    if (session_id !== undefined) await holdSession(shell, session_id);
    bridge.accounts.look(shell);
  }
  // Nothing of it is in the log yet where that says of another incarnation's session, and else its decoder knows better.
  const row = await journal.ask((log) => log.worker(shell.id));
  if (journal.isClosed()) return;
  const cwd = await journal.ask((log) => cwdIn(log, shell.id, spec));
  if (journal.isClosed()) return;
  shell.attach(found, { spec: { ...spec, cwd }, incarnation, session: row?.session_id ?? undefined });
  if (shell.mail !== undefined) await shell.mail.attach(found);
  await shell.approvals?.takeOver(found);
  if (!journal.isClosed()) shell.listen();
};

const signalsSent = async ({ journal, id }: Shell, incarnation: number): Promise<readonly string[]> => {
  const sent = await journal.ask((log) => log.stream(id, ["worker_signal_sent"]));
  return sent.flatMap((record) =>
    record.type === "worker_signal_sent" && record.incarnation === incarnation ? [record.payload.signal] : [],
  );
};
