/** agent/*: the commands on workers, except the stream. */
import { constants } from "node:os";
import { Effect } from "effect";
import type { DenialReason } from "../../control/overseer/decide.ts";
import { bytesInline } from "../../protocol/artifactize.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { isUlid } from "../../protocol/forms.ts";
import { failure, success } from "../../protocol/outcome.ts";
import type { RequestName } from "../../protocol/requests.ts";
import type { PerWorker } from "../../runtime/api.ts";
import { pageOf, sortedPage } from "../page.ts";
import { invalidRequest } from "../request.ts";
import { each } from "./each.ts";
import { command, type Handlers, keyed, type RequestHandler, read } from "./handler.ts";

const kill = each<"agent/kill">("killed", (runtime, data, { cluster }) => {
  if (data.all === data.ids.length > 0)
    return Effect.fail(
      invalidRequest([data.all ? "Give ids or all, not both." : "Give at least one id, or all."]),
    );
  // A name that this daemon does not know, or whose worker has ended here, may be that of a worker on another node.
  const elsewhere = (one: PerWorker): Effect.Effect<PerWorker> => {
    const isElsewhere = one.ok ? one.effect === "noop" : one.error?.code === "WORKER_NOT_FOUND";
    if (!isElsewhere) return Effect.succeed(one);
    return Effect.match(cluster.kill(one.name ?? one.id, data), {
      onSuccess: (killed) => (killed === undefined || (one.ok && killed.effect === "noop") ? one : killed),
      onFailure: ({ code, message, suggestion }) =>
        one.ok ? one : { ...one, error: { code, message, suggestion } },
    });
  };
  // The tombstone comes first, so that no node takes the worker meanwhile.
  const isRefused = data.signal !== undefined && !Object.hasOwn(constants.signals, data.signal);
  const buried = data.dry_run || isRefused ? [] : data.ids;
  return Effect.andThen(
    Effect.forEach(buried, (ref) => cluster.bury(ref, data), { discard: true }),
    Effect.flatMap(runtime.kill(data), (results) =>
      Effect.forEach(results, elsewhere, { concurrency: "unbounded" }),
    ),
  );
});

/** A spec that asks for a place goes to the cluster, and its node starts it. */
const spawn: RequestHandler<"agent/spawn"> = {
  lifetime: "command",
  run: ({ runtime, cluster, caller }, { spec, ...options }) =>
    Effect.map(
      spec.placement === undefined
        ? runtime.spawn(spec, { ...options, caller: caller() })
        : cluster.place({ spec, ...options, caller: caller() }),
      (reply) => success(reply),
    ),
};

/** The message is delivered even if the client goes away. Only the wait for the answer ends. */
const ask: RequestHandler<"agent/ask"> = {
  ...command((runtime, { id, text, ...options }) => runtime.ask(id, text, options)),
  lifetime: "open",
};

const list: RequestHandler<"agent/list"> = {
  lifetime: "read",
  run: ({ runtime }, { limit, cursor, sort, since_ms, ...filter }) => {
    if (sort !== undefined && cursor !== undefined)
      return Effect.fail(
        invalidRequest(["A cursor continues in the order of ids: give sort or cursor, not both."]),
      );
    if (cursor !== undefined && !isUlid(cursor))
      return Effect.fail(new HoldfastError("PAGE_UNKNOWN", `No page begins at the cursor ${cursor}.`));
    const created_from_ms = since_ms === undefined ? undefined : Date.now() - since_ms;
    return Effect.map(runtime.list({ ...filter, created_from_ms }), (workers) =>
      success(sort === undefined ? pageOf(workers, limit, cursor) : sortedPage(workers, sort, limit)),
    );
  },
};

const wait: RequestHandler<"agent/wait"> = {
  lifetime: "open",
  run: ({ runtime }, { ids, timeout_ms, subtree }) =>
    Effect.map(runtime.wait(ids, timeout_ms, { subtree }), (results) => success({ results })),
};

/**
 * A run's raw output may have secrets, so it must not become an artifact. The slice is cut to fit inline, and
 * `next` is where to continue.
 */
const raw: RequestHandler<"agent/raw"> = {
  lifetime: "read",
  run: ({ runtime }, { id, stream, offset, max_bytes, incarnation }, _, inlineMax) => {
    const most = Math.min(max_bytes, bytesInline(inlineMax));
    return Effect.map(runtime.raw(id, stream, offset, most, incarnation), (reply) => success(reply));
  },
};

type WorkerRequestName = Exclude<Extract<RequestName, `agent/${string}`>, "agent/watch"> | "worktree/remove";

/** A group is started whole or not at all, also when its client goes away; only the wait for its end ends. A denied one is an error with its answer. */
const spawnMany: RequestHandler<"agent/spawn-many"> = {
  lifetime: "open",
  run: ({ runtime, caller }, asked) =>
    Effect.map(runtime.spawnMany(asked, { caller: caller() }), (reply) => {
      if (reply.accepted) return success(reply);
      const first = reply.denied_agents.find(({ reason }) => reason !== "not_started");
      const error = new HoldfastError(
        CODES[first?.reason ?? "spawn_failed"] ?? "INVALID_REQUEST",
        `${reply.denied_agents.length} agents were asked for, and none was started. ${first?.role}: ${first?.message}`,
        {
          details: { reason_code: first?.reason ?? "spawn_failed" },
          ...(reply.suggestion === null ? {} : { suggestion: reply.suggestion }),
        },
      );
      return { ...failure(error), value: reply };
    }),
};

/** The error that stands for the first denial of a group. */
const CODES: Readonly<Partial<Record<string, ErrorCode>>> = {
  depth_limit_exceeded: "DEPTH_LIMIT_EXCEEDED",
  local_limit_exceeded: "LOCAL_LIMIT_EXCEEDED",
  resource_exhausted: "RESOURCE_EXHAUSTED",
  policy_violation: "POLICY_VIOLATION",
} satisfies Partial<Record<DenialReason, ErrorCode>>;

export const WORKERS: Handlers<WorkerRequestName> = {
  "agent/spawn": spawn,
  "agent/spawn-many": spawnMany,
  "agent/resume": command((runtime, { id, ...options }) => runtime.resume(id, options)),
  "agent/fork": command((runtime, { id, ...options }) => runtime.resume(id, { ...options, fork: true })),
  "agent/kill": keyed(kill),
  "agent/restart": keyed(each("restarted", (runtime, { ids, caller }) => runtime.restart(ids, { caller }))),
  "agent/pause": keyed(each("paused", (runtime, { ids, ...how }) => runtime.pause(ids, how))),
  "agent/unpause": keyed(each("unpaused", (runtime, { ids, caller }) => runtime.unpause(ids, { caller }))),
  "agent/archive": keyed(each("archived", (runtime, { ids, ...how }) => runtime.archive(ids, how))),
  "agent/rename": keyed(command((runtime, { id, name, caller }) => runtime.rename(id, name, { caller }))),
  "agent/prune": keyed(command((runtime, asked) => runtime.prune(asked))),
  "agent/answer": keyed(
    command((runtime, { id, answer, question_id, message, budget, caller }) =>
      runtime.answer(id, answer, { question_id, message, budget, caller }),
    ),
  ),
  "agent/approve": keyed(
    command((runtime, { id, decision, message, caller }) =>
      runtime.approve(id, decision, { message, caller }),
    ),
  ),
  "agent/cancel": keyed(command((runtime, { id, caller }) => runtime.cancel(id, { caller }))),
  "agent/send": command((runtime, { id, text, ...options }) => runtime.send(id, text, options)),
  "agent/ask": ask,
  "agent/inbox": read((runtime, page) => runtime.inbox(page)),
  "agent/approvals": read((runtime, page) => runtime.approvals(page)),
  "agent/messages": read((runtime, { id, ...page }) => runtime.messages(id, page)),
  "agent/list": list,
  "agent/info": read((runtime, { id, ...parts }) => runtime.info(id, parts)),
  "agent/tree": read((runtime) => runtime.tree()),
  "agent/usage": read((runtime, asked) => runtime.usage(asked)),
  "agent/why": read((runtime, { id }) => runtime.why(id)),
  "agent/search": read((runtime, query) => runtime.search(query)),
  "agent/wait": wait,
  "agent/output": read((runtime, { id, ...how }) => runtime.output(id, how)),
  "agent/changes": read((runtime, { id }) => runtime.changes(id)),
  "worktree/remove": each("freed of their worktrees", (runtime, { ids, caller }) =>
    runtime.removeWorktrees(ids, { caller }),
  ),
  "agent/raw": raw,
  "agent/capabilities": read((runtime, { kind }) =>
    Effect.map(runtime.capabilities(kind), (kinds) => ({ kinds, refused: runtime.refused })),
  ),
};
