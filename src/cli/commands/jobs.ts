/** agent jobs: workers that are never restarted, in the words of protocol-v1.txt. */
import { JOB_STATES, type JobState, type JobStep } from "../../protocol/jobs.ts";
import { success } from "../../protocol/outcome.ts";
import { type CommandHandler, keyOf } from "../context.ts";
import { outlasting } from "../outlast.ts";
import type { Call } from "../parse.ts";
import { leavesRunning } from "./follow.ts";
import { pageAsked, pageShown } from "./paging.ts";
import { withResults } from "./per-worker.ts";
import { askedSpec, told } from "./spawn.ts";
import { waitFor } from "./wait.ts";

export const submit: CommandHandler = async (context) => {
  const { flags } = context;
  const { client, spec } = await askedSpec(context, context.call);
  context.onInterrupt = { sentence: "The job may have been submitted all the same. See: agent jobs list" };
  const asked = await client.ask("jobs/submit", {
    spec: { ...spec, restart: "temporary" },
    idempotency_key: keyOf({ flags }),
  });
  const job = told(asked, spec.kind);
  if (job.effect === "noop") context.warn(`A job of this idempotency key exists already: ${job.job_id}`);
  context.hint(
    `follow it: agent jobs tail ${job.job_id}   its answer: agent jobs result ${job.job_id}`,
    "after",
  );
  return success(job);
};

export const listProblems = ({ flags }: Call): readonly string[] =>
  ((flags.state as string[] | undefined) ?? [])
    .filter((state) => !(JOB_STATES as readonly string[]).includes(state))
    .map((state) => `--state knows no "${state}": it is ${JOB_STATES.join(", ")}`);

export const list: CommandHandler = async (context) => {
  const states = context.flags.state as JobState[] | undefined;
  const page = await (await context.connect()).request("jobs/list", { states, ...pageAsked(context) });
  if (page.jobs.length === 0) context.hint("No jobs. Submit one with: agent jobs submit -- PROGRAM");
  const words = ["agent", "jobs", "list", ...(states === undefined ? [] : ["--state", states.join(",")])];
  return pageShown(context, page, { words, there: "There are more" });
};

export const info: CommandHandler = async ({ call, connect }) =>
  success(await (await connect()).request("jobs/info", { id: call.args[0]! }));

/** Over the end of a daemon it goes on after the last step. */
export const tail: CommandHandler = async (context) => {
  const { call, flags } = context;
  const id = call.args[0]!;
  let from = flags.from as number | undefined;
  leavesRunning(context, [id]);
  const job = await outlasting(
    context,
    { resume: () => `agent jobs tail ${id} --from ${from ?? 0}` },
    (client) =>
      client.tail({ id, from, follow: flags["no-follow"] !== true }, (step: JobStep) => {
        from = step.seq;
        return context.line(step);
      }),
  );
  return success(job);
};

/** It waits, and exits, as `agent wait` does. */
export const wait: CommandHandler = async (context) => {
  const { call, flags } = context;
  const ids = [...call.args];
  await context.connect();
  leavesRunning(context, ids);
  const waited = await waitFor(context, ids, { timeout_ms: flags.timeout as number | undefined });
  return { ...waited, value: await (await context.connect()).request("jobs/wait", { ids }) };
};

export const result: CommandHandler = async ({ call, connect, warn }) => {
  const answer = await (await connect()).request("jobs/result", { id: call.args[0]! });
  if (answer.truncated) warn("The answer is cut; the whole output is in: agent logs --raw");
  return success(answer);
};

export const cancel: CommandHandler = async (context) => {
  const { call, flags } = context;
  const client = await context.connect();
  return withResults(context, `canceling ${call.args.join(", ")}`, () =>
    client.ask("jobs/cancel", {
      ids: [...call.args],
      reason: flags.reason as string | undefined,
      grace_ms: flags.grace as number | undefined,
      idempotency_key: keyOf({ flags }),
    }),
  );
};
