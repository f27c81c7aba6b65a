/** Jobs of protocol-v1.txt: workers that are never restarted. There is no second queue: each call is one of a worker. */
import { Effect, Stream } from "effect";
import type { HoldfastError } from "../../protocol/errors.ts";
import { isJobOver, type JobStep, jobStateOf, lastStep, stepOf } from "../../protocol/jobs.ts";
import type { JobView } from "../../protocol/replies/jobs.ts";
import type { JobsApi, RuntimeApi } from "../api.ts";
import type { WorkerInfo, WorkerView } from "../replies.ts";

type Calls = Pick<RuntimeApi, "spawn" | "list" | "info" | "watch" | "wait" | "output" | "kill">;

const jobOf = (worker: WorkerView): JobView => ({
  job_id: worker.id,
  state: jobStateOf(worker.status),
  name: worker.name,
  kind: worker.kind,
  task: worker.task,
  reason: worker.reason,
  submitted_at: worker.created_at,
  started_at: worker.started_at,
  ended_at: worker.ended_at,
  exit_code: worker.exit_code,
  signal: worker.signal,
  error: worker.error,
  usage: worker.usage,
  labels: worker.labels,
  ...(worker.queue === undefined ? {} : { queue: worker.queue }),
});

export const makeJobs = (runtime: Calls): JobsApi => {
  const info = (id: string): Effect.Effect<JobView, HoldfastError> => Effect.map(runtime.info(id), jobOf);
  return {
    info,
    submit: (spec, options) =>
      Effect.flatMap(runtime.spawn({ ...spec, restart: "temporary" }, options), ({ id, effect }) =>
        Effect.map(info(id), (job) => ({ ...job, effect: effect === "noop" ? effect : "created" })),
      ),
    list: ({ limit, cursor = "", states = [] }) =>
      Effect.map(runtime.list({ all: true, restart: "temporary" }), (workers) => {
        const jobs = workers
          .map(jobOf)
          .filter(({ job_id, state }) => job_id > cursor && (states.length === 0 || states.includes(state)))
          .sort((a, b) => (a.job_id < b.job_id ? -1 : 1));
        const page = jobs.slice(0, limit);
        return jobs.length > limit ? { jobs: page, cursor: page.at(-1)!.job_id } : { jobs: page };
      }),
    tail: (ref, options) => tailOf(runtime, ref, options),
    wait: (ids, timeout_ms) =>
      Effect.flatMap(runtime.wait(ids, timeout_ms), (ended) => Effect.forEach(ended, ({ id }) => info(id))),
    result: (id, options) =>
      Effect.map(runtime.output(id, options), ({ id: job_id, ...output }) => ({ job_id, ...output })),
    cancel: runtime.kill,
  };
};

const lastStepOf = (worker: WorkerInfo): JobStep =>
  lastStep({
    job_id: worker.id,
    seq: worker.last_seq,
    at: worker.ended_at ?? worker.created_at,
    stage: jobStateOf(worker.status),
    message: worker.error?.message ?? (worker.status === "completed" ? "completed" : worker.reason),
  });

const tailOf = (
  runtime: Calls,
  ref: string,
  { from, follow }: { readonly from: number; readonly follow: boolean },
): Stream.Stream<JobStep, HoldfastError> =>
  Stream.unwrap(
    Effect.map(runtime.info(ref), ({ id, last_seq }) => {
      const until = follow ? {} : { until: last_seq };
      const records = runtime.watch({ ids: [id], from, follow: false, ...until });
      const steps = Stream.map(records, (record) => [stepOf(record) ?? []].flat());
      const last = Effect.map(runtime.info(id), (worker) =>
        isJobOver(jobStateOf(worker.status)) ? [lastStepOf(worker)] : [],
      );
      return Stream.concat(Stream.flattenIterable(steps), Stream.flattenIterable(Stream.fromEffect(last)));
    }),
  );
