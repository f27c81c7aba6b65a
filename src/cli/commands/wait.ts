/** agent wait: waits until workers have ended; the exit code reports their results (docs/reference/commands.md, Exit codes). */
import { constants } from "node:os";
import { asHoldfastError, type ErrorCode, type ErrorDetails, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { failure, failureCode } from "../../protocol/worker-failure.ts";
import type { WaitReply } from "../../runtime/api.ts";
import type { CommandResult, Context } from "../context.ts";
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

/** The worker's own failure; or that its supervisor gave up, if it was restarted until the window was spent. */
const codeOf = ({ status, end_cause, error }: WaitReply): ErrorCode => {
  if (status === "cancelled") return "WORKER_CANCELLED";
  if (end_cause === "gave_up") return "SUPERVISOR_GAVE_UP";
  return error === null ? "WORKER_FAILED" : failureCode(error);
};

/** The number of tries, and how the last one ended. */
const triesOf = ({ error, attempts = 1, backoff, retry_after_s }: WaitReply): ErrorDetails => ({
  ...(error !== null && { detail: `${error.code}: ${error.message}`, details: { cause: error } }),
  ...(attempts > 1 && { attempts }),
  ...(backoff !== undefined && { backoff }),
  ...(retry_after_s !== undefined && { retry_after_s }),
});

/** The longest wait and the most tries among all workers. */
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

/** Undefined if all completed. If all failed with the same code, that code; if only some failed, PARTIAL_FAILURE. */
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

/** A child that ended by a signal has the exit code that a shell would report: 128 plus the signal's number. */
const childCode = (reply: WaitReply | undefined): number => {
  if (reply?.exit_code != null) return reply.exit_code;
  const signal = constants.signals[reply?.signal as NodeJS.Signals];
  return signal === undefined ? (reply?.status === "completed" ? 0 : 1) : 128 + signal;
};

interface EndWanted {
  readonly timeout_ms?: number | undefined;
  readonly exitCodeFrom?: string | undefined;
  /** The names that the user typed; by default the ids. */
  readonly names?: readonly string[];
  /** The command has started the daemon, so it may start it again. */
  readonly start?: boolean;
  /** Also everything below them. */
  readonly subtree?: boolean;
  /** The data of the answer; by default the results by id. */
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
    subtree,
    shape = (results) => ({ results }),
  }: EndWanted = {},
): Promise<CommandResult> => {
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
        aside.beside(client, () =>
          client.request("agent/wait", { ids: [...ids], timeout_ms: left(), subtree }),
        ),
    );
    for (const reply of results)
      if (reply.denied !== undefined) context.warn(`${handle(reply)}: ${deniedAdvice(reply.denied)}`);
    const error = failureOf(results);
    const outcome: CommandResult =
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

/** Replaces ids by the names that the user typed. */
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

/**
 * `ok` follows the exit code: a child's failure is an error here even if the other workers completed, and its success is a
 * success even if others failed.
 */
const withChildCode = (outcome: CommandResult, reply: WaitReply | undefined): CommandResult => {
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

export const wait = async (context: Context): Promise<CommandResult> => {
  const { call, flags } = context;
  const client = await context.connect();
  leavesRunning(context, call.args);
  const from = flags["exit-code-from"] as string | undefined;
  const exitCodeFrom = from === undefined ? undefined : (await client.request("agent/info", { id: from })).id;
  const ids =
    exitCodeFrom === undefined || call.args.includes(from!) ? call.args : [...call.args, exitCodeFrom];
  const timeout_ms = flags.timeout as number | undefined;
  // A daemon of an older version does not know the field.
  return waitFor(context, ids, {
    timeout_ms,
    exitCodeFrom,
    ...(flags.subtree === true && { subtree: true }),
  });
};
