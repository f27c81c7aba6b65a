/** The desk for requests of other nodes: each is carried out once, and its asker may go away or ask for too much. */
import { setImmediate } from "node:timers/promises";
import { it } from "@effect/vitest";
import { Deferred, Effect } from "effect";
import { TestClock } from "effect/testing";
import { expect } from "vitest";
import { CLUSTER_CALL_ANSWER_MAX_CHARS, CLUSTER_CALLS_LOOK_MS } from "../../../src/base/limits.ts";
import type { CallTable, TakenCall } from "../../../src/cluster/postgres/calls.ts";
import { type AnswerCall, answerCalls } from "../../../src/daemon/cluster/call-desk.ts";
import { success } from "../../../src/protocol/outcome.ts";

/** The rows for one node, as the database would have them. */
class Rows {
  readonly waiting: TakenCall[] = [];
  readonly wantedIds = new Set<string>();
  readonly answers = new Map<
    string,
    { readonly status: string; readonly error: { message: string | null } }
  >();
  readonly lives = new Set<string>();
  failures = 0;
  losesNext = false;

  ask(id: string, name = "agent/wait"): void {
    this.waiting.push({ id, name, data: "{}", caller: { type: "user" } });
    this.wantedIds.add(id);
  }

  readonly table = {
    clear: async (_: string, life: string) => void this.lives.add(life),
    take: async (_: string, __: string, max: number) => {
      if (this.failures-- > 0) throw new Error("away");
      const taken = this.waiting.splice(0, max);
      if (!this.losesNext) return taken;
      // The rows are taken, and their node does not hear of it.
      this.losesNext = false;
      this.waiting.push(...taken);
      throw new Error("the connection broke");
    },
    wanted: async (ids: readonly string[]) => ids.filter((id) => this.wantedIds.has(id)),
    answer: async (id: string, text: string) => void this.answers.set(id, JSON.parse(text)),
  } as unknown as CallTable;
}

const told: string[] = [];
const desk = (rows: Rows, answer: AnswerCall) =>
  Effect.forkScoped(
    answerCalls({ node: "a", calls: rows.table, answer, report: (what) => void told.push(what) }),
  );
/** The table answers by promises, which the test clock does not move. */
const until = (isSo: () => boolean) =>
  Effect.gen(function* () {
    while (!isSo()) {
      yield* TestClock.adjust(CLUSTER_CALLS_LOOK_MS);
      yield* Effect.promise(() => setImmediate());
    }
  });

it.effect("a wait ends with its asker, and a command is completed", () =>
  Effect.gen(function* () {
    const rows = new Rows();
    const done = yield* Deferred.make<void>();
    const ended: string[] = [];
    const begun: string[] = [];
    yield* desk(rows, (name) => {
      begun.push(name);
      const run = Effect.as(Deferred.await(done), success({}));
      const isCommand = name === "agent/restart";
      const kept = isCommand ? Effect.uninterruptible(run) : run;
      return Effect.ensuring(
        kept,
        Effect.sync(() => void ended.push(name)),
      );
    });
    rows.ask("1");
    rows.ask("2", "agent/restart");
    yield* until(() => begun.length === 2);
    rows.wantedIds.clear();
    yield* until(() => ended.includes("agent/wait"));
    expect(ended).toEqual(["agent/wait"]);
    yield* Deferred.succeed(done, undefined);
    yield* until(() => ended.length === 2);
    expect(rows.lives.size).toBe(1);
  }),
);

it.effect("a database that is away for a moment ends nothing that is under way", () =>
  Effect.gen(function* () {
    const rows = new Rows();
    const done = yield* Deferred.make<void>();
    yield* desk(rows, () => Effect.as(Deferred.await(done), success({ results: [] })));
    rows.ask("1");
    yield* until(() => rows.waiting.length === 0);
    rows.failures = 2;
    yield* until(() => rows.failures < 0);
    yield* Deferred.succeed(done, undefined);
    yield* until(() => rows.answers.has("1"));
    expect(rows.answers.get("1")).toMatchObject({ status: "ok", data: { results: [] } });
    expect(told).toContain("the requests of other nodes");
  }),
);

it.effect("an answer that is too large is an error", () =>
  Effect.gen(function* () {
    const rows = new Rows();
    yield* desk(rows, () => Effect.succeed(success({ text: "a".repeat(CLUSTER_CALL_ANSWER_MAX_CHARS) })));
    rows.ask("1", "agent/output");
    yield* until(() => rows.answers.has("1"));
    expect(rows.answers.get("1")?.error.message).toContain("has at most");
  }),
);

it.effect("a request whose taking was not heard is taken again, and a defect is an answer", () =>
  Effect.gen(function* () {
    const rows = new Rows();
    rows.losesNext = true;
    const asked: string[] = [];
    yield* desk(rows, (name) => {
      asked.push(name);
      return Effect.die(new Error("a mistake of ours"));
    });
    rows.ask("1", "agent/why");
    yield* until(() => rows.answers.has("1"));
    expect([asked, rows.answers.get("1")?.status]).toEqual([["agent/why"], "error"]);
  }),
);
