/**
 * Resumes or branches the session of an earlier worker (decision 0027): a new worker with that one's spec, its last session
 * and another prompt. An ended worker keeps its end and its records. The rule of one holder for a session applies as
 * everywhere.
 */
import { Effect } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { cwdIn } from "../../actors/worker/workspaces.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { FORK, RESUME } from "../../protocol/extensions.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { WorkerRow } from "../../store/views.ts";
import type { ResumeRequest, RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";

export const makeResuming =
  ({ find, adapterOf, services }: Core, spawn: RuntimeApi["spawn"]): RuntimeApi["resume"] =>
  (ref, { idempotency_key, caller, dry_run = false, ...asked }) =>
    Effect.gen(function* () {
      const row = yield* Effect.mapError(find(ref), (error) =>
        error.code === "WORKER_NOT_FOUND" && services.adapterFor(ref) !== undefined ? namesKind(ref) : error,
      );
      const { capabilities } = yield* adapterOf(row.kind);
      const session = sessionOf(row, capabilities, asked.fork === true);
      if (session instanceof HoldfastError) return yield* Effect.fail(session);
      if (row.spec.placed !== undefined && row.name === row.spec.placed.worker)
        return yield* Effect.fail(ofCluster(row));
      const given = yield* attemptAsync(() => services.files.load(row.id));
      // A session belongs to a directory, so the new worker uses the earlier one's worktree, which still belongs to the
      // earlier one.
      const cwd = yield* attempt(() => cwdIn(services.log, row.id, given));
      const spec = { ...given, cwd, worktree: undefined };
      return yield* spawn(resumed(spec, session, asked), {
        dry_run,
        caller,
        ...(idempotency_key === undefined ? {} : { idempotency_key }),
      });
    });

const namesKind = (kind: string): HoldfastError =>
  new HoldfastError("WORKER_NOT_FOUND", `No worker has the id or name "${kind}": it is a kind.`, {
    suggestion: "Add --last or --session to continue a session of that kind, or name a worker.",
  });

/** Its session is on this machine, and its cluster would know nothing of the new worker. */
const ofCluster = ({ id, name }: WorkerRow): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `A cluster placed ${name ?? id}, so its session is not continued here.`,
    {
      suggestion: `End it and place another one: agent kill ${name ?? id} && agent spawn --where LABEL=V`,
    },
  );

/** The session to resume, or the error that says why there is none. */
const sessionOf = (
  { id, name, kind, session_id }: WorkerRow,
  capabilities: readonly string[],
  fork: boolean,
): string | HoldfastError => {
  const handle = name ?? id;
  if (!capabilities.includes(RESUME))
    return new HoldfastError("UNSUPPORTED_CAPABILITY", `Kind ${kind} has no sessions to continue.`, {
      suggestion: `Start it again: agent restart ${handle}`,
    });
  if (fork && !capabilities.includes(FORK))
    return new HoldfastError("UNSUPPORTED_CAPABILITY", `Kind ${kind} cannot fork a session.`, {
      suggestion: `Go on in the session itself: agent resume ${handle} PROMPT`,
    });
  return (
    session_id ??
    new HoldfastError("SESSION_NOT_FOUND", `Worker ${id} has no session: its agent has not reported one.`, {
      suggestion: `Start it again: agent restart ${handle}`,
    })
  );
};

/** The new worker is under the root: only the worker of the file itself has its supervisor and its path as a name. */
const resumed = (
  spec: WorkerSpec,
  session: string,
  {
    prompt,
    fork = false,
    name,
    interactive,
    parent,
  }: Pick<ResumeRequest, "prompt" | "fork" | "name" | "interactive" | "parent">,
): WorkerSpec => {
  const { [RESUME]: _, [FORK]: __, ...ext } = spec.ext;
  const kept = fork || spec.supervisor !== "root" ? undefined : spec.name;
  return {
    ...spec,
    prompt,
    session,
    fork,
    ext,
    name: name ?? kept,
    interactive: interactive ?? spec.interactive,
    // A new conversation has no timeout.
    timeout_ms: interactive === true && !spec.interactive ? 0 : spec.timeout_ms,
    // It was the deadline of the work so far.
    deadline_at: undefined,
    supervisor: "root",
    significant: false,
    ready: undefined,
    parent,
  };
};
