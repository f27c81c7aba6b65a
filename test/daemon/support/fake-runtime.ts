/** A RuntimeApi in memory: workers are names, records are lines that a test appends. */
import { Effect, Stream } from "effect";
import { USER } from "../../../src/protocol/caller.ts";
import { partsOf } from "../../../src/protocol/cursor.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { PerWorker, RuntimeApi } from "../../../src/runtime/api.ts";

export interface FakeRuntime extends RuntimeApi {
  /** Add records of about `bytes` bytes each to the log. Answers how many there were before. */
  append(count: number, bytes?: number): number;
  /** Watches that are open now. */
  watchers(): number;
  /** Pages read by watches so far. */
  pagesRead(): number;
  /** Waits that are open now. */
  waits(): number;
  readonly shutdowns: (readonly [string, string])[];
  readonly spawns: string[];
  readonly killed: string[];
}

/** The output of every fake worker: no text. */
export const spool = Buffer.alloc(100_000, 0xff);

const PAGE = 500;

export const makeFakeRuntime = (workers: readonly string[] = []): FakeRuntime => {
  const lines: string[] = [];
  const listeners = new Set<() => void>();
  const shutdowns: (readonly [string, string])[] = [];
  const spawns: string[] = [];
  const killed: string[] = [];
  const live = new Set(workers);
  let watchers = 0;
  let pages = 0;
  let waits = 0;

  const notFound = (id: string) => new HoldfastError("WORKER_NOT_FOUND", `There is no worker ${id}.`);
  const resolve = (id: string) => (live.has(id) ? Effect.succeed(id) : Effect.fail(notFound(id)));
  const per = (id: string): PerWorker =>
    live.has(id)
      ? { id, name: null, ok: true, effect: "deleted", status: "cancelled", error: null }
      : {
          id,
          name: null,
          ok: false,
          effect: "noop",
          status: null,
          error: { code: "WORKER_NOT_FOUND", message: notFound(id).message },
        };
  const unused = (name: string) => () => Effect.die(new Error(`the fake has no ${name}`));

  return {
    refused: [],
    placed: () => Effect.succeed([]),
    placeOf: () => undefined,
    stateOf: () => undefined,
    hasOther: () => false,
    identify: () => USER,
    identifyIn: () => USER,
    permitStart: () => Effect.succeed("user"),
    permitAll: () => Effect.succeed("user"),
    mailbox: {
      send: unused("mailbox.send"),
      poll: unused("mailbox.poll"),
      ack: unused("mailbox.ack"),
      nack: unused("mailbox.nack"),
      extend: unused("mailbox.extend"),
      list: unused("mailbox.list"),
      show: unused("mailbox.show"),
      resend: unused("mailbox.resend"),
      drop: unused("mailbox.drop"),
    },
    schedules: {
      add: unused("schedules.add"),
      list: unused("schedules.list"),
      show: unused("schedules.show"),
      remove: unused("schedules.remove"),
      pause: unused("schedules.pause"),
      resume: unused("schedules.resume"),
      run: unused("schedules.run"),
      next: unused("schedules.next"),
    },
    tokens: {
      create: unused("tokens.create"),
      list: unused("tokens.list"),
      revoke: unused("tokens.revoke"),
    },
    peers: {
      configure: unused("peers.configure"),
      notify: unused("peers.notify"),
      add: unused("peers.add"),
      list: unused("peers.list"),
      show: unused("peers.show"),
      trust: unused("peers.trust"),
      revoke: unused("peers.revoke"),
      meet: unused("peers.meet"),
      rekey: unused("peers.rekey"),
      admit: unused("peers.admit"),
      settle: unused("peers.settle"),
      audit: unused("peers.audit"),
    },
    principalOf: () => undefined,
    skills: {
      run: unused("skills.run"),
      tools: unused("skills.tools"),
      list: unused("skills.list"),
      info: unused("skills.info"),
      check: unused("skills.check"),
    },
    shutdowns,
    spawns,
    killed,
    watchers: () => watchers,
    pagesRead: () => pages,
    waits: () => waits,
    append: (count, bytes = 200) => {
      const before = lines.length;
      for (let i = 0; i < count; i++) {
        const seq = lines.length + 1;
        lines.push(`{"seq":${seq},"payload":{"text":"${"x".repeat(bytes)}"}}`);
      }
      for (const listener of [...listeners]) listener();
      return before;
    },
    spawn: ({ name = "anonymous" }) => {
      if (name === "defect") return Effect.die(new TypeError("a parser broke"));
      if (name === "unsayable") return Effect.succeed({ ...created(name), kind: 1n as never });
      const spawned = Effect.sync(() => {
        live.add(name);
        spawns.push(name);
        return created(name);
      });
      return name === "slow" ? Effect.delay(spawned, 200) : spawned;
    },
    usage: unused("usage"),
    blackboard: {
      post: unused("post"),
      list: unused("list"),
      claim: unused("claim"),
      release: unused("release"),
      follow: unused("follow"),
      watch: () => Stream.die(new Error("the fake has no blackboard")),
    },
    board: {
      add: unused("board.add"),
      list: unused("board.list"),
      show: unused("board.show"),
      claim: unused("board.claim"),
      release: unused("board.release"),
      retry: unused("board.retry"),
      block: unused("board.block"),
      handoff: unused("board.handoff"),
      done: unused("board.done"),
      dispatch: unused("board.dispatch"),
      follow: unused("board.follow"),
      watch: () => Stream.die(new Error("the fake has no boards")),
    },
    resume: unused("resume"),
    spawnMany: unused("spawnMany"),
    jobs: {
      submit: unused("jobs.submit"),
      list: unused("jobs.list"),
      info: unused("jobs.info"),
      tail: () => Stream.die(new Error("the fake has no jobs.tail")),
      wait: unused("jobs.wait"),
      result: unused("jobs.result"),
      cancel: unused("jobs.cancel"),
    },
    why: unused("why"),
    applyTree: unused("applyTree"),
    downTree: unused("downTree"),
    kill: ({ ids, all }) =>
      Effect.sync(() => {
        const targets = all ? [...live] : ids;
        killed.push(...targets);
        return targets.map(per);
      }),
    restart: (ids) => Effect.sync(() => ids.map(per)),
    pause: (ids) => Effect.sync(() => ids.map(per)),
    changes: unused("changes"),
    removeWorktrees: (ids) => Effect.sync(() => ids.map(per)),
    archive: (ids) => Effect.sync(() => ids.map(per)),
    rename: unused("rename"),
    prune: unused("prune"),
    unpause: (ids) => Effect.sync(() => ids.map(per)),
    answer: (id, answer) =>
      Effect.as(resolve(id), { id, question_id: "q1", answer, effect: "updated" as const }),
    send: (id) =>
      Effect.as(resolve(id), { message_id: "m1", state: "delivered" as const, effect: "created" as const }),
    ask: unused("ask"),
    messages: unused("messages"),
    inbox: unused("inbox"),
    approvals: unused("approvals"),
    approve: unused("approve"),
    cancel: unused("cancel"),
    resolve,
    epoch: "fake",
    settled: Effect.void,
    list: () => Effect.sync(() => [...live].map((id) => ({ id }) as never)),
    info: (id) => Effect.map(resolve(id), () => ({ id }) as never),
    tree: () =>
      Effect.succeed({ id: "root", name: "root", type: "supervisor", strategy: "one_for_one", children: [] }),
    follow: ({ from, follow }, take) =>
      Effect.callback<number>((resume) => {
        let cursor = from === undefined ? lines.length : partsOf(from).seq;
        const goOn = (): void => {
          for (;;) {
            const page = lines.slice(cursor, cursor + PAGE);
            if (page.length === 0) break;
            pages++;
            cursor += page.length;
            const seqs = page.map((_, at) => cursor - page.length + at + 1);
            const taken = take({ lines: page, seqs, head: cursor });
            if (taken === undefined || taken === "at_once") continue;
            if (taken === "enough") break;
            listeners.delete(goOn);
            return void taken.then(() => {
              listeners.add(goOn);
              goOn();
            });
          }
          if (!follow) resume(Effect.succeed(cursor));
        };
        watchers++;
        listeners.add(goOn);
        goOn();
        return Effect.sync(() => {
          watchers--;
          listeners.delete(goOn);
        });
      }),
    watch: () => Stream.empty,
    search: unused("search"),
    wait: () =>
      Effect.acquireUseRelease(
        Effect.sync(() => void waits++),
        () => Effect.never,
        () => Effect.sync(() => void waits--),
      ),
    output: unused("output"),
    raw: (_id, _stream, offset, maxBytes) =>
      Effect.sync(() => {
        const slice = spool.subarray(offset, offset + maxBytes);
        const next = offset + slice.length;
        return { base64: slice.toString("base64"), next, ended: true, incarnation: 1, newest: 1 };
      }),
    capabilities: unused("capabilities"),
    status: () =>
      Effect.sync(() => ({
        version: "0.0.0",
        pid: process.pid,
        node: process.version,
        store_id: "fake",
        epoch: "fake",
        restored: null,
        state_dir: "",
        started_at: "",
        store_error: null,
        head: lines.length,
        workers: {
          live: live.size,
          total: live.size,
          polled: 0,
          tampered: 0,
          heartbeats: { late: 0, oldest_ms: null },
        },
        runtimes: [{ name: "process", backend_kind: "subprocess", trouble: null }],
        disk: { free_bytes: null, floor_bytes: 0, low: false },
        rss_bytes: process.memoryUsage().rss,
        heap_bytes: 0,
      })),
    check: () =>
      Effect.succeed({ ok: true, records: lines.length, head: lines.length, findings: [], notes: [] }),
    gc: unused("gc"),
    rebuild: () => Effect.succeed({ records: lines.length }),
    shutdown: (agents, reason) => Effect.sync(() => void shutdowns.push([agents, reason])),
  };
};

const created = (id: string) => ({
  id,
  name: id,
  kind: "command",
  status: "pending" as const,
  effect: "created" as const,
});
