/** Boards through the whole runtime, on a real log, agents in memory and a clock that the test moves. */
import { it } from "@effect/vitest";
import { Effect } from "effect";
import { describe, expect } from "vitest";
import {
  BOARD_CARDS_MAX,
  BOARD_DISPATCHES_PER_PASS_MAX,
  BOARD_ORPHAN_GRACE_MS,
} from "../../../src/base/limits.ts";
import { requestIdOf } from "../../../src/control/board/decide.ts";
import { boardStream } from "../../../src/protocol/board-records.ts";
import type { HoldfastError } from "../../../src/protocol/errors.ts";
import type { LogRecord, RecordDraft } from "../../../src/protocol/records.ts";
import { type RequestInput, Requests } from "../../../src/protocol/requests.ts";
import type { CardLane } from "../../../src/protocol/words.ts";
import type { RuntimeApi } from "../../../src/runtime/api.ts";
import type { EventLog } from "../../../src/store/event-log.ts";
import { elapse, memoryMachine, memoryRuntime, nth, settled, spec } from "../memory-runtime.ts";

const WORKER = { restart: "temporary" } as const;

/** As the daemon hands it on. */
const boardOf = ({ board }: RuntimeApi, who: { readonly worker?: string } = {}) => {
  const caller =
    who.worker === undefined
      ? {}
      : { caller: { type: "worker", worker_id: who.worker, incarnation: 1 } as const };
  const moved =
    (verb: "claim" | "release" | "retry" | "block" | "handoff" | "done") => (id: string, reason?: string) =>
      board[verb]({ ...Requests["board/done"].parse({ id, reason }), ...caller });
  return {
    add: (...ids: readonly string[]) =>
      board.add({
        ...Requests["board/add"].parse({ cards: ids.map((id) => ({ id, title: `do ${id}` })) }),
        ...caller,
      }),
    list: (asked: RequestInput<"board/list"> = {}) => board.list(Requests["board/list"].parse(asked)),
    show: (id: string) => board.show(Requests["board/show"].parse({ id })),
    dispatch: (asked: RequestInput<"board/dispatch">) =>
      board.dispatch({ ...Requests["board/dispatch"].parse(asked), ...caller }),
    claim: moved("claim"),
    release: moved("release"),
    retry: moved("retry"),
    block: moved("block"),
    handoff: moved("handoff"),
    done: moved("done"),
  };
};
type Board = ReturnType<typeof boardOf>;

const lanes = (board: Board) =>
  Effect.map(
    board.list(),
    ({ cards }): Record<string, CardLane> =>
      Object.fromEntries(cards.map(({ issue_id, lane }) => [issue_id, lane])),
  );

/** Only the codes of those that failed. */
const codeOf = <A>(work: Effect.Effect<A, HoldfastError>) =>
  Effect.match(work, { onSuccess: () => "ok", onFailure: ({ code }) => code });

const issues = (log: EventLog): readonly LogRecord[] =>
  log.read(0, 1_000).records.filter(({ type }) => type.startsWith("issue."));

describe("the dispatcher", () => {
  it.effect(
    "gives each card one worker, as many at once as there are slots, and moves it by its worker's end",
    () =>
      Effect.gen(function* () {
        const { runtime, memory, log } = yield* memoryRuntime;
        const board = boardOf(runtime);
        yield* board.add("A", "B", "C");
        const set = yield* board.dispatch({
          slots: 2,
          spec: spec({ ...WORKER, prompt: "Do {id}: {title}" }),
        });
        expect(set).toMatchObject({ effect: "created", slots: 2, completed_lane: "Done", worktree: false });
        const first = yield* nth(memory, 1);
        const second = yield* nth(memory, 2);
        yield* settled;
        expect(first.stdin).toBe("Do A: do A");
        expect(yield* lanes(board)).toEqual({ A: "Running", B: "Running", C: "Todo" });
        expect(memory.runs).toHaveLength(2);
        second.exit(0);
        yield* nth(memory, 3);
        yield* settled;
        expect(yield* lanes(board)).toEqual({ A: "Running", B: "Done", C: "Running" });
        first.exit(1);
        yield* settled;
        expect(yield* board.show("A")).toMatchObject({
          lane: "RetryQueued",
          state: "RetryQueued",
          code: "AGENT_FAILED",
          attempt: 1,
          worker: { name: "A", status: "failed" },
        });
        yield* elapse(9);
        expect(memory.runs).toHaveLength(3);
        yield* elapse(2);
        const again = yield* nth(memory, 4);
        again.exit(0);
        yield* settled;
        expect(yield* board.show("A")).toMatchObject({ lane: "Done", attempt: 2, last_outcome: "completed" });
        const claims = issues(log).flatMap((record) =>
          record.type === "issue.claimed" ? [record.payload.request_id] : [],
        );
        expect(new Set(claims).size).toBe(claims.length);
      }),
  );

  it.effect("takes the urgent cards first, and only so many in one pass", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const { board } = runtime;
      const cards = Array.from(
        { length: 14 },
        (_, n) => ({ id: `c${n}`, title: "x", priority: n === 13 ? "critical" : "normal" }) as const,
      );
      yield* board.add(Requests["board/add"].parse({ cards }));
      yield* boardOf(runtime).dispatch({ slots: 100, spec: spec(WORKER) });
      const first = yield* nth(memory, 1);
      expect(first.stdin).toContain("c13");
      yield* nth(memory, 14);
      expect(cards.length).toBeGreaterThan(BOARD_DISPATCHES_PER_PASS_MAX);
    }),
  );

  it.effect("keeps its hands off what a person has, and takes it when it is given back", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const board = boardOf(runtime);
      yield* board.add("A");
      expect(yield* board.claim("A")).toMatchObject({
        effect: "updated",
        claimed_by: "user",
        lane: "Claimed",
      });
      expect(yield* board.claim("A")).toMatchObject({ effect: "noop" });
      yield* board.dispatch({ slots: 1, spec: spec(WORKER) });
      yield* settled;
      expect(memory.runs).toHaveLength(0);
      yield* board.release("A");
      yield* nth(memory, 1);
      yield* settled;
      expect(yield* codeOf(board.done("A"))).toBe("INVALID_STATE");
      expect(yield* codeOf(board.claim("nobody"))).toBe("CARD_NOT_FOUND");
    }),
  );

  it.effect("leaves a card whose worker was killed to a person", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const board = boardOf(runtime);
      yield* board.add("A");
      yield* board.dispatch({ slots: 1, spec: spec(WORKER) });
      yield* nth(memory, 1);
      yield* settled;
      yield* runtime.kill({ ids: ["A"], reason: "wrong issue" });
      yield* settled;
      const card = yield* board.show("A");
      expect(card).toMatchObject({ state: "Released", lane: "Blocked", eligibility: "ineligible" });
      expect(card.denial_reason).toContain("wrong issue");
      yield* elapse(20);
      expect(memory.runs).toHaveLength(1);
      yield* board.retry("A");
      yield* nth(memory, 2);
    }),
  );

  it.effect("moves completed cards to Review where the board says so, and stops at no slots", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const board = boardOf(runtime);
      yield* board.add("A", "B");
      yield* board.dispatch({ slots: 1, completed_lane: "Review", spec: spec(WORKER) });
      const first = yield* nth(memory, 1);
      expect(yield* board.dispatch({ slots: 0 })).toMatchObject({
        effect: "updated",
        completed_lane: "Review",
      });
      expect(yield* board.dispatch({ slots: 0 })).toMatchObject({ effect: "noop" });
      first.exit(0);
      yield* elapse(10);
      expect(yield* lanes(board)).toEqual({ A: "Review", B: "Todo" });
      yield* board.dispatch({ slots: 1 });
      yield* nth(memory, 2);
    }),
  );

  it.effect("refuses what no card can run as, before anything is dispatched", () =>
    Effect.gen(function* () {
      const { runtime } = yield* memoryRuntime;
      const board = boardOf(runtime);
      expect(yield* codeOf(board.dispatch({ slots: 1 }))).toBe("INVALID_REQUEST");
      expect(yield* codeOf(board.dispatch({ spec: spec({ restart: "permanent" }) }))).toBe("INVALID_REQUEST");
      expect(yield* codeOf(board.dispatch({ spec: spec({ ...WORKER, kind: "nothing" }) }))).toBe(
        "INVALID_AGENT_KIND",
      );
      expect((yield* board.list()).dispatcher).toBeNull();
    }),
  );

  it.effect("blocks a card by the code of a spawn that is refused", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const { runtime } = yield* machine.boot({}, { running_max: 1, queue_max: 0 });
      const board = boardOf(runtime);
      yield* runtime.spawn(spec({ name: "other" }));
      yield* nth(machine.memory, 1);
      yield* board.add("A");
      yield* board.dispatch({ slots: 1, spec: spec(WORKER) });
      yield* settled;
      expect(yield* board.show("A")).toMatchObject({
        lane: "RetryQueued",
        last_outcome: "spawn_denied",
        agent_id: null,
      });
    }),
  );
});

describe("over the end of a daemon", () => {
  const draft = (type: "issue.claimed", payload: object): RecordDraft =>
    ({
      type,
      stream: boardStream("default"),
      payload: { issue_id: "A", by: "daemon", clock: { boot_id: "boot", mono_ns: "0" }, ...payload },
    }) as RecordDraft;
  const request_id = requestIdOf({ board: "default", issue_id: "A" }, 1);

  it.effect("each card that runs has its worker, and ends with it", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      yield* boardOf(first.runtime).add("A", "B", "C");
      yield* boardOf(first.runtime).dispatch({ slots: 2, spec: spec(WORKER) });
      const run = yield* nth(machine.memory, 1);
      yield* nth(machine.memory, 2);
      yield* settled;
      yield* first.crash;
      run.exit(0);
      const { runtime } = yield* machine.boot();
      const board = boardOf(runtime);
      yield* nth(machine.memory, 3);
      yield* settled;
      expect(yield* lanes(board)).toEqual({ A: "Done", B: "Running", C: "Running" });
      expect(machine.memory.runs).toHaveLength(3);
    }),
  );

  it.effect("a card that was taken and not spawned is spawned once", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      yield* boardOf(first.runtime).dispatch({ slots: 1, spec: spec(WORKER) });
      yield* first.crash;
      const before = yield* machine.boot();
      yield* boardOf(before.runtime).dispatch({ slots: 0 });
      yield* boardOf(before.runtime).add("A");
      yield* before.crash;
      machine.log.append([draft("issue.claimed", { attempt: 1, request_id })]);
      const { runtime } = yield* machine.boot();
      yield* nth(machine.memory, 1);
      yield* settled;
      expect(yield* boardOf(runtime).show("A")).toMatchObject({ lane: "Running", attempt: 1 });
      expect(machine.memory.runs).toHaveLength(1);
    }),
  );

  it.effect("a card whose worker was spawned, and not told of, has that worker", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      yield* boardOf(first.runtime).add("A");
      const { id } = yield* first.runtime.spawn(spec(WORKER), { idempotency_key: request_id });
      yield* nth(machine.memory, 1);
      yield* first.crash;
      machine.log.append([draft("issue.claimed", { attempt: 1, request_id })]);
      const { runtime } = yield* machine.boot();
      yield* settled;
      expect(yield* boardOf(runtime).show("A")).toMatchObject({ lane: "Running", agent_id: id });
      expect(machine.memory.runs).toHaveLength(1);
    }),
  );

  it.effect("a card whose worker is gone fails after a grace, and is tried again", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      yield* boardOf(first.runtime).dispatch({ slots: 0, spec: spec(WORKER) });
      yield* boardOf(first.runtime).add("A");
      yield* first.crash;
      const agent_id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
      machine.log.append([
        draft("issue.claimed", { attempt: 1, request_id }),
        {
          ...draft("issue.claimed", {}),
          type: "issue.dispatched",
          payload: {
            issue_id: "A",
            by: "daemon",
            clock: { boot_id: "boot", mono_ns: "0" },
            attempt: 1,
            request_id,
            agent_id,
          },
        } as RecordDraft,
      ]);
      const { runtime } = yield* machine.boot();
      const board = boardOf(runtime);
      yield* elapse(BOARD_ORPHAN_GRACE_MS / 1_000 - 6);
      expect(yield* board.show("A")).toMatchObject({ lane: "Running", worker: null });
      yield* elapse(12);
      expect(yield* board.show("A")).toMatchObject({ lane: "RetryQueued", code: "WORKER_LOST" });
      yield* board.dispatch({ slots: 1 });
      yield* elapse(6);
      yield* nth(machine.memory, 1);
    }),
  );

  it.effect("a daemon that was stopped with its agents goes on with their cards", () =>
    Effect.gen(function* () {
      const machine = yield* memoryMachine;
      const first = yield* machine.boot();
      yield* boardOf(first.runtime).add("A");
      yield* boardOf(first.runtime).dispatch({ slots: 1, spec: spec(WORKER) });
      yield* nth(machine.memory, 1);
      yield* settled;
      yield* first.runtime.shutdown("kill", "stopped");
      yield* first.crash;
      const { runtime } = yield* machine.boot();
      yield* nth(machine.memory, 2);
      yield* settled;
      expect(yield* boardOf(runtime).show("A")).toMatchObject({ lane: "Running", attempt: 2 });
    }),
  );
});

describe("a caller", () => {
  it.effect("that is an agent holds its claim until it ends, and moves no card of others", () =>
    Effect.gen(function* () {
      const { runtime, memory } = yield* memoryRuntime;
      const user = boardOf(runtime);
      yield* user.add("A", "B");
      yield* user.dispatch({ slots: 0, spec: spec(WORKER) });
      const { id } = yield* runtime.spawn(spec({ ...WORKER, budget: { wall_ms: 3_600_000 } }));
      const run = yield* nth(memory, 1);
      const own = boardOf(runtime, { worker: id });
      yield* own.claim("A");
      expect(yield* codeOf(own.add("C"))).toBe("POLICY_VIOLATION");
      expect(yield* codeOf(own.block("B"))).toBe("POLICY_VIOLATION");
      expect(yield* codeOf(own.dispatch({ slots: 9 }))).toBe("POLICY_VIOLATION");
      run.exit(0);
      yield* elapse(6);
      expect(yield* user.show("A")).toMatchObject({ lane: "Todo", claimed_by: null });
    }),
  );

  it.effect("feeds a board again and again: one card of an id, with the newest words", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const { board } = runtime;
      const feed = (title: string) =>
        board.add(
          Requests["board/add"].parse({
            cards: [
              { id: 7, title },
              { id: "8", title: "x", labels: ["a", "a"] },
            ],
          }),
        );
      const effects = (yield* feed("one")).cards.map(({ effect }) => effect);
      expect(effects).toEqual(["created", "created"]);
      expect((yield* feed("one")).cards.map(({ effect }) => effect)).toEqual(["noop", "noop"]);
      expect((yield* feed("two")).cards.map(({ effect }) => effect)).toEqual(["updated", "noop"]);
      expect(
        (yield* Effect.all([feed("three"), feed("three")], { concurrency: "unbounded" }))
          .flatMap(({ cards }) => cards)
          .map(({ effect }) => effect)
          .sort(),
      ).toEqual(["noop", "noop", "noop", "updated"]);
      expect((yield* board.list(Requests["board/list"].parse({}))).cards.map(({ title }) => title)).toEqual([
        "three",
        "x",
      ]);
      expect(issues(log)).toHaveLength(4);
    }),
  );

  it.effect("is refused more cards than a board may have, and has its secrets masked", () =>
    Effect.gen(function* () {
      const { runtime, log } = yield* memoryRuntime;
      const board = boardOf(runtime);
      const secret = `sk-ant-api03-${"a1B2".repeat(12)}`;
      yield* runtime.board.add(
        Requests["board/add"].parse({ cards: [{ id: "A", title: `use ${secret}`, body: secret }] }),
      );
      expect(yield* board.show("A")).toMatchObject({ title: "use ***", body: "***" });
      const [first] = issues(log);
      const copies = Array.from({ length: BOARD_CARDS_MAX - 1 }, (_, n) => ({
        type: "issue.discovered",
        stream: boardStream("default"),
        payload: { ...first!.payload, issue_id: `c${n}` },
      })) as RecordDraft[];
      log.append(copies);
      expect(yield* codeOf(board.add("B"))).toBe("QUEUE_FULL");
      yield* board.done("A");
      expect(yield* codeOf(board.add("B"))).toBe("ok");
      expect((yield* board.list({ limit: 2 })).cursor).toBeDefined();
    }),
  );
});
