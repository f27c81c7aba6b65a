/** agent wait: block until workers have ended; the exit code says how it went (cli.md, Flags of spawn). */
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { WaitReply } from "../../supervisor/facade.ts";
import type { Client } from "../client.ts";
import type { Context, Result } from "../context.ts";
import { leavesRunning } from "./follow.ts";

const handle = (reply: WaitReply): string => reply.name ?? reply.id;

const sentenceOf = (reply: WaitReply): string =>
  `${handle(reply)} ${reply.status === "cancelled" ? "was cancelled" : "failed"}${reply.error ? `: ${reply.error.message}` : "."}`;

/** undefined when all have completed. Some failed is 2, all failed (or the only one) is 1. */
export const failureOf = (results: readonly WaitReply[]): HoldfastError | undefined => {
  const failed = results.filter((reply) => reply.status !== "completed");
  const [first] = failed;
  if (first === undefined) return undefined;
  const names = failed.map(handle).join(", ");
  const info = { suggestion: `See why with: agent logs ${handle(first)}` };
  if (failed.length < results.length)
    return new HoldfastError(
      "PARTIAL_FAILURE",
      `${failed.length} of ${results.length} workers failed: ${names}.`,
      info,
    );
  const code = failed.every((reply) => reply.status === "cancelled") ? "WORKER_CANCELLED" : "WORKER_FAILED";
  return new HoldfastError(
    code,
    results.length === 1 ? sentenceOf(first) : `All ${results.length} workers failed: ${names}.`,
    info,
  );
};

/** A child that ended by a signal has the code that a shell would tell: 128 + its number is what the record holds, else 1. */
const childCode = (reply: WaitReply | undefined): number =>
  reply?.exit_code ?? (reply?.status === "completed" ? 0 : 1);

export const waitFor = async (
  context: Context,
  client: Client,
  ids: readonly string[],
  options: { readonly timeout_ms?: number | undefined; readonly exitCodeFrom?: string | undefined },
  shape: (results: readonly WaitReply[]) => unknown = (results) => ({ results }),
): Promise<Result> => {
  const done = context.progress(`waiting for ${ids.join(", ")}`);
  try {
    const { results } = await client.request("agent/wait", { ids: [...ids], timeout_ms: options.timeout_ms });
    const error = failureOf(results);
    const outcome: Result =
      error === undefined ? success(shape(results)) : { ok: false, error, value: shape(results) };
    if (options.exitCodeFrom === undefined) return outcome;
    return withChildCode(
      outcome,
      results.find((reply) => reply.id === options.exitCodeFrom),
    );
  } finally {
    done();
  }
};

/** `ok` follows the exit code, so a child's failure is an error here even when the others completed, and the other way round. */
const withChildCode = (outcome: Result, reply: WaitReply | undefined): Result => {
  const exit = childCode(reply);
  if (exit === 0) return success(outcome.value ?? null, outcome.ok ? [] : [outcome.error.message]);
  const error = outcome.ok
    ? new HoldfastError(
        "WORKER_FAILED",
        `The program of ${reply ? handle(reply) : "the worker"} exited with code ${exit}.`,
      )
    : outcome.error;
  return { ok: false, error, value: outcome.value, exit };
};

export const wait = async (context: Context): Promise<Result> => {
  const { call, flags } = context;
  const client = await context.connect();
  leavesRunning(context, call.args);
  const from = flags["exit-code-from"] as string | undefined;
  const exitCodeFrom = from === undefined ? undefined : (await client.request("agent/info", { id: from })).id;
  const ids =
    exitCodeFrom === undefined || call.args.includes(from!) ? call.args : [...call.args, exitCodeFrom];
  return waitFor(context, client, ids, { timeout_ms: flags.timeout as number | undefined, exitCodeFrom });
};
