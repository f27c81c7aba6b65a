/** jobs/*: workers that are never restarted, in the terms of protocol-v1.txt. */
import { Effect, Stream } from "effect";
import { success } from "../../protocol/outcome.ts";
import type { RequestName } from "../../protocol/requests.ts";
import { each } from "./each.ts";
import { command, type Handlers, keyed, type RequestHandler, read } from "./handler.ts";

/** Each step is one progress envelope; the one with `meta.final` ends the job. */
const tail: RequestHandler<"jobs/tail"> = {
  lifetime: "open",
  run: ({ runtime }, { id, ...how }, emit) =>
    Effect.gen(function* () {
      yield* Stream.runForEach(runtime.jobs.tail(id, how), (step) => {
        const taken = emit([JSON.stringify(step)], step);
        return taken === undefined ? Effect.void : Effect.promise(() => taken);
      });
      return success(yield* runtime.jobs.info(id));
    }),
};

export const JOBS: Handlers<Extract<RequestName, `jobs/${string}`>> = {
  "jobs/submit": command((runtime, { spec, ...options }) => runtime.jobs.submit(spec, options)),
  "jobs/list": read((runtime, page) => runtime.jobs.list(page)),
  "jobs/info": read((runtime, { id }) => runtime.jobs.info(id)),
  "jobs/tail": tail,
  "jobs/wait": {
    lifetime: "open",
    run: ({ runtime }, { ids, timeout_ms }) =>
      Effect.map(runtime.jobs.wait(ids, timeout_ms), (jobs) => success({ jobs })),
  },
  "jobs/result": read((runtime, { id, ...how }) => runtime.jobs.result(id, how)),
  "jobs/cancel": keyed(each("canceled", (runtime, data) => runtime.jobs.cancel(data))),
};
