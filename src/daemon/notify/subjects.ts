/** The subject of a record: who it is about, and by which names a filter may mean it. */
import { Effect } from "effect";
import { DEPTH_MAX } from "../../base/limits.ts";
import type { NoticeSubject } from "../../control/notify/notice.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { type LogRecord, workerOf } from "../../protocol/records.ts";
import type { RuntimeApi } from "../../runtime/api.ts";

type Info = Pick<RuntimeApi, "info">;

const NO_RULES = { permission: "ask", permission_rules: [] } as const;

/** `crew/night` is within `crew` and `crew/night`. */
const pathsAbove = (path: string): readonly string[] => {
  const parts = path.split("/");
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
};

const notOfWorker = (name: string | null): NoticeSubject => ({
  worker_id: null,
  name,
  labels: {},
  within: name === null ? [] : pathsAbove(name),
  is_spawned: false,
  rules: NO_RULES,
  error: null,
});

/** Undefined if its worker is not on record any more. */
export const subjectOf = (
  record: LogRecord,
  runtime: Info,
): Effect.Effect<NoticeSubject | undefined, HoldfastError> => {
  const id = workerOf(record.stream);
  if (record.type === "supervisor_escalated" && record.payload.action !== undefined)
    return Effect.succeed(notOfWorker(record.payload.supervisor));
  if (record.type === "worker_question" && record.payload.about === "budget" && id === undefined)
    return Effect.succeed(notOfWorker(record.payload.owner));
  if (id === undefined) return Effect.succeed(notOfWorker(null));
  return Effect.catch(
    Effect.map(ofWorker(id, runtime), (subject): NoticeSubject | undefined => subject),
    (error) => (error.code === "WORKER_NOT_FOUND" ? Effect.succeed(undefined) : Effect.fail(error)),
  );
};

const ofWorker = (id: string, runtime: Info): Effect.Effect<NoticeSubject, HoldfastError> =>
  Effect.gen(function* () {
    const worker = yield* runtime.info(id);
    const within = [...namesOf(worker)];
    let above = worker.parent;
    for (let depth = 0; above !== null && depth < DEPTH_MAX; depth += 1) {
      const next: { readonly parent: string | null } & Parameters<typeof namesOf>[0] =
        yield* runtime.info(above);
      within.push(...namesOf(next));
      above = next.parent;
    }
    return {
      worker_id: id,
      name: worker.name ?? id,
      labels: worker.labels,
      within,
      is_spawned: worker.parent !== null,
      rules: worker.spec,
      error: worker.error?.message ?? null,
    };
  });

const namesOf = ({
  id,
  name,
  supervisor,
}: {
  readonly id: string;
  readonly name: string | null;
  readonly supervisor: string;
}): readonly string[] => [id, ...(name === null ? [] : [name]), ...pathsAbove(supervisor)];
