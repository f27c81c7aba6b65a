/** agent wait: block until workers have ended; the exit code says how it went (cli.md, Flags of spawn). */
import { constants } from "node:os";
import { asHoldfastError, type ErrorCode, type ErrorDetails, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { failure, failureCode } from "../../protocol/worker-failure.ts";
import type { WaitReply } from "../../runtime/api.ts";
import type { Context, Result } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { deniedAdvice } from "../render/denied.ts";
import { duration } from "../render/units.ts";
import { leavesRunning } from "./follow.ts";
import { needsAside } from "./needs-aside.ts";

const handle = (reply: WaitReply): string => reply.name ?? reply.id;

const sentenceOf = (reply: WaitReply): string => {
  const what = `${handle(reply)} ${reply.status === "cancelled" ? "was cancelled" : "failed"}`;
  const gaveUp = isGivenUp(reply) ? ` The supervisor ${reply.reason}.` : "";
  return `${what}${reply.error ? `: ${reply.error.message}` : "."}${gaveUp}`;
};

const isGivenUp = ({ end_cause }: WaitReply): boolean =>
  end_cause === "gave_up" || end_cause === "rate_limited";

/** Its own failure; or, where that was restarted until the window was spent, that the supervisor gave up. */
const codeOf = ({ status, end_cause, error }: WaitReply): ErrorCode => {
  if (status === "cancelled") return "WORKER_CANCELLED";
  if (end_cause === "gave_up") return "SUPERVISOR_GAVE_UP";
  return error === null ? "WORKER_FAILED" : failureCode(error);
};

/** The tries that there were, and how the last one ended. */
const triesOf = ({ error, attempts = 1, backoff, retry_after_s }: WaitReply): ErrorDetails => ({
  ...(error !== null && { detail: `${error.code}: ${error.message}`, details: { cause: error } }),
  ...(attempts > 1 && { attempts }),
  ...(backoff !== undefined && { backoff }),
  ...(retry_after_s !== undefined && { retry_after_s }),
});

/** The longest wait and the most tries of all of them. */
const together = (replies: readonly WaitReply[]): ErrorDetails => {
  const attempts = Math.max(...replies.map((reply) => reply.attempts ?? 1));
  const waits = replies.flatMap(({ retry_after_s }) => retry_after_s ?? []);
  const backoff = replies.find((reply) => reply.backoff !== undefined)?.backoff;
  return {
    ...(attempts > 1 && { attempts }),
    ...(backoff !== undefined && { backoff }),
    ...(waits.length > 0 && { retry_after_s: Math.max(...waits) }),
  };
};

/** undefined when all have completed. All that failed alike have that code; some failed is PARTIAL_FAILURE. */
export const failureOf = (results: readonly WaitReply[]): HoldfastError | undefined => {
  const failed = results.filter((reply) => reply.status !== "completed");
  const [first] = failed;
  if (first === undefined) return undefined;
  const names = failed.map(handle).join(", ");
  const suggestion = `See why with: agent logs ${handle(first)}`;
  if (failed.length < results.length)
    return failure("PARTIAL_FAILURE", `${failed.length} of ${results.length} workers failed: ${names}.`, {
      ...together(failed),
      suggestion,
    });
  const code = codeOf(first);
  if (results.length === 1) return failure(code, sentenceOf(first), { ...triesOf(first), suggestion });
  const isOfAll = failed.every((reply) => codeOf(reply) === code);
  return failure(isOfAll ? code : "WORKER_FAILED", `All ${results.length} workers failed: ${names}.`, {
    ...together(failed),
    suggestion,
  });
};

/** A child that ended by a signal has the code that a shell would tell: 128 and the signal's number. */
const childCode = (reply: WaitReply | undefined): number => {
  if (reply?.exit_code != null) return reply.exit_code;
  const signal = constants.signals[reply?.signal as NodeJS.Signals];
  return signal === undefined ? (reply?.status === "completed" ? 0 : 1) : 128 + signal;
};

interface WaitOptions {
  readonly timeout_ms?: number | undefined;
  readonly exitCodeFrom?: string | undefined;
  /** How the person calls them; their ids where it is not given. */
  readonly names?: readonly string[];
  /** The command started the daemon, and may do so again. */
  readonly start?: boolean;
  /** The data of the answer; the results by id where it is not given. */
  readonly shape?: (results: readonly WaitReply[]) => unknown;
}

export const waitFor = async (
  context: Context,
  ids: readonly string[],
  {
    timeout_ms,
    exitCodeFrom,
    names = ids,
    start = false,
    shape = (results) => ({ results }),
  }: WaitOptions = {},
): Promise<Result> => {
  const deadline = timeout_ms === undefined ? undefined : performance.now() + timeout_ms;
  const left = () =>
    deadline === undefined ? undefined : Math.max(0, Math.round(deadline - performance.now()));
  const done = context.progress(`waiting for ${names.join(", ")}`);
  const aside = needsAside(context, ids, true);
  try {
    const { results } = await outlasting(
      context,
      { start, deadline, resume: () => `agent wait ${ids.join(" ")}` },
      (client) =>
        aside.beside(client, () => client.request("agent/wait", { ids: [...ids], timeout_ms: left() })),
    );
    for (const reply of results)
      if (reply.denied !== undefined) context.warn(`${handle(reply)}: ${deniedAdvice(reply.denied)}`);
    const error = failureOf(results);
    const outcome: Result =
      error === undefined ? success(shape(results)) : { ok: false, error, value: shape(results) };
    if (exitCodeFrom === undefined) return outcome;
    return withChildCode(
      outcome,
      results.find((reply) => reply.id === exitCodeFrom),
    );
  } catch (cause) {
    throw timeout_ms === undefined ? cause : inOwnWords(asHoldfastError(cause), ids, timeout_ms);
  } finally {
    done();
  }
};

/** The daemon knows ids; the person knows the names that were typed. */
const inOwnWords = (error: HoldfastError, ids: readonly string[], timeout_ms: number): HoldfastError => {
  if (error.code !== "TIMEOUT") return error;
  const subject = ids.length === 1 ? `${ids[0]} has` : `${ids.join(", ")} have`;
  return new HoldfastError(
    "TIMEOUT",
    `${subject} not ended within ${duration(timeout_ms)}, and ${ids.length === 1 ? "goes" : "go"} on.`,
    {
      ...error.info,
      suggestion: `Wait longer with --timeout, or look: agent watch ${ids.join(" ")}`,
    },
  );
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
  return waitFor(context, ids, { timeout_ms: flags.timeout as number | undefined, exitCodeFrom });
};
