/** agent/*: the commands on workers, without the stream. */
import { Effect } from "effect";
import { bytesInline } from "../../protocol/artifactize.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isUlid } from "../../protocol/ids.ts";
import { failure, type Outcome, success } from "../../protocol/outcome.ts";
import type { PerWorker } from "../../runtime/api.ts";
import { pageOf } from "../page.ts";
import { invalidRequest } from "../request.ts";
import type { Handler } from "./handler.ts";

export const spawn: Handler<"agent/spawn"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { spec, ...options }) =>
    Effect.map(runtime.spawn(spec, { ...options, caller: caller() }), (reply) => success(reply)),
};

export const resume: Handler<"agent/resume"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { id, ...options }) =>
    Effect.map(runtime.resume(id, { ...options, caller: caller() }), (reply) => success(reply)),
};

export const fork: Handler<"agent/fork"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { id, ...options }) =>
    Effect.map(runtime.resume(id, { ...options, fork: true, caller: caller() }), (reply) => success(reply)),
};

export const kill: Handler<"agent/kill"> = {
  lifetime: "command",
  run: ({ runtime, caller }, data) => {
    if (data.all === data.ids.length > 0) {
      return Effect.fail(
        invalidRequest([data.all ? "Give ids or all, not both." : "Give at least one id, or all."]),
      );
    }
    return Effect.map(runtime.kill({ ...data, caller: caller() }), (results) => perWorker("killed", results));
  },
};

export const restart: Handler<"agent/restart"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { ids }) =>
    Effect.map(runtime.restart(ids, { caller: caller() }), (results) => perWorker("restarted", results)),
};

export const pause: Handler<"agent/pause"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { ids, reason }) =>
    Effect.map(runtime.pause(ids, { reason, caller: caller() }), (results) => perWorker("paused", results)),
};

export const unpause: Handler<"agent/unpause"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { ids }) =>
    Effect.map(runtime.unpause(ids, { caller: caller() }), (results) => perWorker("unpaused", results)),
};

export const answer: Handler<"agent/answer"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { id, answer: said, question_id }) =>
    Effect.map(runtime.answer(id, said, { question_id, caller: caller() }), (reply) => success(reply)),
};

export const send: Handler<"agent/send"> = {
  lifetime: "command",
  run: ({ runtime }, { id, text, ...options }) =>
    Effect.map(runtime.send(id, text, options), (reply) => success(reply)),
};

/** The message is a command and is delivered all the same when its client goes away; only the wait for the answer ends. */
export const ask: Handler<"agent/ask"> = {
  lifetime: "open",
  run: ({ runtime }, { id, text, ...options }) =>
    Effect.map(runtime.ask(id, text, options), (reply) => success(reply)),
};

export const approvals: Handler<"agent/approvals"> = {
  lifetime: "read",
  run: ({ runtime }, { cursor, ...page }) =>
    Effect.map(
      runtime.approvals({ ...page, after: cursor === undefined ? undefined : Number(cursor) }),
      (reply) => success(reply),
    ),
};

export const approve: Handler<"agent/approve"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { id, decision, message }) =>
    Effect.map(runtime.approve(id, decision, { message, caller: caller() }), (reply) => success(reply)),
};

export const cancel: Handler<"agent/cancel"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { id }) =>
    Effect.map(runtime.cancel(id, { caller: caller() }), (reply) => success(reply)),
};

export const messages: Handler<"agent/messages"> = {
  lifetime: "read",
  run: ({ runtime }, { id, ...page }) => Effect.map(runtime.messages(id, page), (reply) => success(reply)),
};

export const list: Handler<"agent/list"> = {
  lifetime: "read",
  run: ({ runtime }, { all, limit, cursor }) => {
    if (cursor !== undefined && !isUlid(cursor))
      return Effect.fail(new HoldfastError("PAGE_UNKNOWN", `No page begins at the cursor ${cursor}.`));
    return Effect.map(runtime.list({ all }), (workers) => success(pageOf(workers, limit, cursor)));
  },
};

export const info: Handler<"agent/info"> = {
  lifetime: "read",
  run: ({ runtime }, { id }) => Effect.map(runtime.info(id), (reply) => success(reply)),
};

export const tree: Handler<"agent/tree"> = {
  lifetime: "read",
  run: ({ runtime }) => Effect.map(runtime.tree(), (root) => success(root)),
};

export const usage: Handler<"agent/usage"> = {
  lifetime: "read",
  run: ({ runtime }, asked) => Effect.map(runtime.usage(asked), (reply) => success(reply)),
};

export const why: Handler<"agent/why"> = {
  lifetime: "read",
  run: ({ runtime }, { id }) => Effect.map(runtime.why(id), (reply) => success(reply)),
};

export const wait: Handler<"agent/wait"> = {
  lifetime: "open",
  run: ({ runtime }, { ids, timeout_ms }) =>
    Effect.map(runtime.wait(ids, timeout_ms), (results) => success({ results })),
};

export const output: Handler<"agent/output"> = {
  lifetime: "read",
  run: ({ runtime }, { id, ...how }) => Effect.map(runtime.output(id, how), (reply) => success(reply)),
};

export const changes: Handler<"agent/changes"> = {
  lifetime: "read",
  run: ({ runtime }, { id }) => Effect.map(runtime.changes(id), (reply) => success(reply)),
};

export const removeWorktrees: Handler<"worktree/remove"> = {
  lifetime: "command",
  run: ({ runtime, caller }, { ids }) =>
    Effect.map(runtime.removeWorktrees(ids, { caller: caller() }), (results) =>
      perWorker("freed of their worktrees", results),
    ),
};

/** A run's raw output, secrets and all, must not become an artifact: the slice is cut to what fits inline, and `next` says where to go on. */
export const raw: Handler<"agent/raw"> = {
  lifetime: "read",
  run: ({ runtime }, { id, stream, offset, max_bytes, incarnation }, _, inlineMax) => {
    const most = Math.min(max_bytes, bytesInline(inlineMax));
    return Effect.map(runtime.raw(id, stream, offset, most, incarnation), (reply) => success(reply));
  },
};

export const capabilities: Handler<"agent/capabilities"> = {
  lifetime: "read",
  run: ({ runtime }, { kind }) =>
    Effect.map(runtime.capabilities(kind), (kinds) => success({ kinds, refused: runtime.refused })),
};

/** One result an id (cli.md: some failing is PARTIAL_FAILURE); what fails for a single id fails as itself. */
const perWorker = (
  done: string,
  results: readonly PerWorker[],
): Outcome<{ results: readonly PerWorker[] }> => {
  const failed = results.filter((result) => !result.ok);
  if (failed.length === 0) return success({ results });
  const only = results.length === 1 ? failed[0]?.error : undefined;
  const error = only
    ? new HoldfastError(only.code, only.message, { suggestion: only.suggestion })
    : new HoldfastError(
        "PARTIAL_FAILURE",
        `${failed.length} of ${results.length} workers could not be ${done}.`,
      );
  return { ...failure(error), value: { results } };
};
