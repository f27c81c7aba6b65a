/** The calls of a runtime as requests to a daemon: the reverse of `daemon/handlers`. */
import { Effect, Stream } from "effect";
import type { Replies } from "../../daemon/replies.ts";
import { asHoldfastError, type HoldfastError } from "../../protocol/errors.ts";
import type { JobStep } from "../../protocol/jobs.ts";
import type { Outcome, RunMeta } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { RequestInput, RequestName } from "../../protocol/requests.ts";
import type { PerWorker, WorkerView } from "../../runtime/replies.ts";
import type { RuntimeCalls } from "../calls.ts";
import type { RemoteLink } from "./link.ts";

/** A daemon finds out itself who asks. */
const asked = <T extends object>(data: T): Omit<T, "caller" | "by"> => {
  const { caller: _, by: __, ...rest } = data as T & { readonly caller?: unknown; readonly by?: unknown };
  return rest as Omit<T, "caller" | "by">;
};

class Requesting {
  private readonly link: RemoteLink;

  constructor(link: RemoteLink) {
    this.link = link;
  }

  outcome<N extends RequestName>(name: N, data: object): Effect.Effect<Outcome<Replies[N]>, HoldfastError> {
    return Effect.tryPromise({
      try: (signal) => this.link.ask(name, asked(data) as RequestInput<N>, signal),
      catch: asHoldfastError,
    });
  }

  /** The value of the answer. */
  of<N extends RequestName>(name: N, data: object = {}): Effect.Effect<Replies[N], HoldfastError> {
    return Effect.flatMap(this.outcome(name, data), (outcome) =>
      outcome.ok ? Effect.succeed(outcome.value) : Effect.fail(outcome.error),
    );
  }

  /** The value even of a failure, if it has one: it says more than the error. */
  all<N extends RequestName>(name: N, data: object): Effect.Effect<Replies[N], HoldfastError> {
    return Effect.flatMap(this.outcome(name, data), (outcome) =>
      outcome.value === undefined
        ? Effect.fail((outcome as { error: HoldfastError }).error)
        : Effect.succeed(outcome.value),
    );
  }

  each(
    name:
      | "agent/kill"
      | "agent/restart"
      | "agent/pause"
      | "agent/unpause"
      | "agent/archive"
      | "worktree/remove"
      | "jobs/cancel",
    data: object,
  ): Effect.Effect<readonly PerWorker[], HoldfastError> {
    return Effect.map(this.all(name, data), ({ results }) => results);
  }

  records(name: "agent/watch" | "bb/watch" | "board/watch", data: object) {
    return this.stream<LogRecord>(name, data);
  }

  stream<A extends { readonly seq: number }>(
    name: Parameters<RemoteLink["stream"]>[0],
    data: object,
  ): Stream.Stream<A, HoldfastError> {
    return Stream.fromAsyncIterable(this.link.stream<A>(name, data), asHoldfastError);
  }
}

/** `epoch` is that of the daemon's log. */
export const remoteCalls = (link: RemoteLink, epoch: string): RuntimeCalls => {
  const request = new Requesting(link);
  return {
    epoch,
    artifact: link.artifact,
    elsewhere: (how) => request.of("cluster/workers", how),
    copied: (how) => request.of("cluster/records", how),
    ...workerCalls(request),
    ...readCalls(request),
    ...treeCalls(request),
    ...controlCalls(request),
    shutdown: () => Effect.sync(() => link.close()),
  };
};

type CallsOf<K extends keyof RuntimeCalls> = Pick<RuntimeCalls, K>;

const workerCalls = (
  request: Requesting,
): CallsOf<
  | "spawn"
  | "spawnMany"
  | "resume"
  | "kill"
  | "restart"
  | "pause"
  | "unpause"
  | "archive"
  | "rename"
  | "prune"
  | "answer"
  | "send"
  | "ask"
  | "approve"
  | "cancel"
  | "removeWorktrees"
  | "gc"
> => ({
  spawn: (spec, how = {}) => request.of("agent/spawn", { spec, ...how }),
  spawnMany: (group) => request.all("agent/spawn-many", group),
  resume: (id, how) => request.of("agent/resume", { id, ...how }),
  kill: (how) => request.each("agent/kill", how),
  restart: (ids) => request.each("agent/restart", { ids }),
  pause: (ids, how = {}) => request.each("agent/pause", { ids, ...how }),
  unpause: (ids) => request.each("agent/unpause", { ids }),
  archive: (ids, how = {}) => request.each("agent/archive", { ids, ...how }),
  rename: (id, name) => request.of("agent/rename", { id, name }),
  prune: (how) => request.of("agent/prune", how),
  answer: (id, answer, how = {}) => request.of("agent/answer", { id, answer, ...how }),
  send: (id, text, { idempotency_key, close } = {}) =>
    request.of("agent/send", { id, text, idempotency_key, close }),
  ask: (id, text, { idempotency_key, timeout_ms } = {}) =>
    request.of("agent/ask", { id, text, idempotency_key, timeout_ms }),
  // The answerer may name itself here, and the daemon has its own word for who that is.
  approve: (id, decision, { message } = {}) => request.of("agent/approve", { id, decision, message }),
  cancel: (id) => request.of("agent/cancel", { id }),
  removeWorktrees: (ids) => request.each("worktree/remove", { ids }),
  gc: (how = {}) => request.of("db/gc", how),
});

const readCalls = (
  request: Requesting,
): CallsOf<
  | "resolve"
  | "list"
  | "info"
  | "tree"
  | "usage"
  | "why"
  | "watch"
  | "search"
  | "wait"
  | "output"
  | "changes"
  | "raw"
  | "capabilities"
  | "status"
  | "check"
  | "inbox"
  | "messages"
  | "approvals"
> => ({
  resolve: (id) => Effect.map(request.of("agent/info", { id }), (info) => info.id),
  list: ({ created_from_ms: _, restart: __, ...filter } = {}) =>
    Effect.gen(function* () {
      const workers: WorkerView[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = yield* request.of("agent/list", { ...filter, cursor });
        workers.push(...page.workers);
        cursor = page.cursor;
        if (cursor === undefined) return workers;
      }
    }),
  info: (id, parts) => request.of("agent/info", { id, ...parts }),
  tree: () => request.of("agent/tree"),
  usage: (how) => request.of("agent/usage", how),
  why: (id) => request.of("agent/why", { id }),
  watch: ({ filter: { types, kinds } = {}, streams: _, ...query }) =>
    request.records("agent/watch", { ...query, types, kinds }),
  search: (query) => request.of("agent/search", query),
  wait: (ids, timeout_ms, { subtree } = {}) =>
    Effect.map(request.of("agent/wait", { ids, timeout_ms, subtree }), ({ results }) => results),
  output: (id, how = {}) => request.of("agent/output", { id, ...how }),
  changes: (id) => request.of("agent/changes", { id }),
  raw: (id, stream, offset, max_bytes, incarnation) =>
    request.of("agent/raw", { id, stream, offset, max_bytes, incarnation }),
  capabilities: (kind) => Effect.map(request.of("agent/capabilities", { kind }), ({ kinds }) => kinds),
  status: () => request.of("daemon/status"),
  check: () => request.of("db/check"),
  inbox: (page) => request.of("agent/inbox", page),
  messages: (id, page) => request.of("agent/messages", { id, ...page }),
  approvals: (page) => request.of("agent/approvals", page),
});

const treeCalls = (request: Requesting): CallsOf<"applyTree" | "downTree"> => ({
  applyTree: (tree, how = {}) => request.of("tree/apply", { tree, ...how }),
  downTree: (name, { file, dry_run } = {}) => request.of("tree/down", { name, file, dry_run }),
});

const controlCalls = (
  request: Requesting,
): CallsOf<"jobs" | "blackboard" | "board" | "mailbox" | "schedules" | "skills" | "tokens"> => ({
  jobs: {
    submit: (spec, how = {}) =>
      request.of("jobs/submit", { spec: { ...spec, restart: "temporary" }, ...how }),
    list: (page) => request.of("jobs/list", page),
    info: (id) => request.of("jobs/info", { id }),
    tail: (id, how) => request.stream<JobStep>("jobs/tail", { id, ...how }),
    wait: (ids, timeout_ms) => Effect.map(request.of("jobs/wait", { ids, timeout_ms }), ({ jobs }) => jobs),
    result: (id, how = {}) => request.of("jobs/result", { id, ...how }),
    cancel: ({ ids, grace_ms, reason }) => request.each("jobs/cancel", { ids, grace_ms, reason }),
  },
  blackboard: {
    post: (item) => request.of("bb/post", item),
    list: (page) => (page.text === undefined ? request.of("bb/list", page) : request.of("bb/search", page)),
    claim: (how) => request.of("bb/claim", how),
    release: (how) => request.of("bb/release", how),
    watch: (query) => request.records("bb/watch", query),
  },
  board: {
    add: (cards) => request.of("board/add", cards),
    list: (page) => request.of("board/list", page),
    show: (card) => request.of("board/show", card),
    claim: (card) => request.of("board/claim", card),
    release: (card) => request.of("board/release", card),
    retry: (card) => request.of("board/retry", card),
    block: (card) => request.of("board/block", card),
    handoff: (card) => request.of("board/handoff", card),
    done: (card) => request.of("board/done", card),
    dispatch: (how) => request.of("board/dispatch", how),
    watch: (query) => request.records("board/watch", query),
  },
  mailbox: {
    send: (message) => request.of("mailbox/send", message),
    poll: (how = {}) => request.of("mailbox/poll", how),
    ack: (token, how = {}) => request.of("mailbox/ack", { token, ...how }),
    nack: (token, how = {}) => request.of("mailbox/nack", { token, ...how }),
    extend: (token, how = {}) => request.of("mailbox/extend", { token, ...how }),
    list: (how = {}) => request.of("mailbox/list", how),
    show: (id) => request.of("mailbox/show", { id }),
    resend: (id) => request.of("mailbox/resend", { id }),
    drop: (id) => request.of("mailbox/drop", { id }),
  },
  schedules: {
    add: (schedule) => request.of("schedule/add", { schedule }),
    list: (page) => request.of("schedule/list", page),
    show: (name) => request.of("schedule/show", { name }),
    remove: (name) => request.of("schedule/remove", { name }),
    pause: (name) => request.of("schedule/pause", { name }),
    resume: (name) => request.of("schedule/resume", { name }),
    run: (name) => request.of("schedule/run", { name }),
    next: (how) => request.of("schedule/next", how),
  },
  skills: {
    run: (how) =>
      Effect.flatMap(request.outcome("skill/run", how), (outcome) =>
        outcome.ok
          ? Effect.succeed({ data: outcome.value, run: outcome.run as RunMeta })
          : Effect.fail(outcome.error),
      ),
    list: (workspace) => request.of("skill/list", { workspace }),
    tools: (how) => request.of("skill/tools", how),
    check: (folder) => request.of("skill/check", { folder }),
    info: (skill, workspace) => request.of("skill/info", { skill, workspace }),
  },
  tokens: {
    create: (token) => request.of("token/create", token),
    list: () => request.of("token/list"),
    revoke: (name) => request.of("token/revoke", { name }),
  },
});
