import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type CardEvent,
  decideCard,
  isBeingDispatched,
  MOVES,
  requestIdOf,
} from "../../../src/control/board/decide.ts";
import type { CardLane } from "../../../src/protocol/words.ts";
import { CARD_LANES } from "../../../src/protocol/words.ts";
import { ADD, DISPATCH, DISPATCHED, failedWith, move, Subject, timeAt, WAY_TO, WORDS } from "./support.ts";

const inLane = (lane: CardLane): Subject => new Subject().takeAll(...WAY_TO[lane]);

describe("a card", () => {
  it.each(CARD_LANES)("comes into %s", (lane) => {
    expect(inLane(lane).card).toMatchObject({ lane });
  });

  it("is added once, takes new words, and stays where it is", () => {
    const subject = inLane("Blocked");
    expect(subject.take(ADD)).toEqual([]);
    expect(subject.take({ type: "add", words: { ...WORDS, title: "Fix that" }, by: "user" })).toEqual([
      "issue.discovered",
    ]);
    expect(subject.card).toMatchObject({ title: "Fix that", lane: "Blocked", seq: 1, last_seq: 3 });
  });

  it("goes through the contract's states from Unclaimed to Released", () => {
    const subject = new Subject();
    const seen = [ADD, DISPATCH, DISPATCHED, failedWith("TIMEOUT")].map((input) => {
      subject.take(input);
      const { state, lane, attempt } = subject.card!;
      return [state, lane, attempt];
    });
    expect(seen).toEqual([
      ["Unclaimed", "Todo", 0],
      ["Claimed", "Claimed", 1],
      ["Running", "Running", 1],
      ["RetryQueued", "RetryQueued", 1],
    ]);
    expect(subject.card).toMatchObject({ code: "TIMEOUT", failures: 1, last_outcome: "execution_failed" });
    expect(subject.take(DISPATCH, 4_999)).toEqual([]);
    expect(subject.take(DISPATCH, 5_000)).toEqual(["issue.claimed"]);
    subject.take(DISPATCHED);
    subject.take({ type: "ended", end: { type: "completed" }, completed_lane: "Done" });
    expect(subject.card).toMatchObject({
      state: "Released",
      lane: "Done",
      attempt: 2,
      last_outcome: "completed",
      code: null,
      eligibility: "ineligible",
    });
  });

  it("waits for a review where the board says so", () => {
    const subject = inLane("Running");
    subject.take({ type: "ended", end: { type: "completed" }, completed_lane: "Review" });
    expect(subject.card).toMatchObject({ lane: "Review", state: "Released" });
    expect(subject.take(move("done"))).toEqual(["issue.done"]);
  });

  it("is blocked by a failure that another try cannot mend, and by one too many", () => {
    const hopeless = inLane("Running");
    expect(hopeless.take(failedWith("INVALID_REQUEST", "no such model"))).toEqual(["issue.blocked"]);
    expect(hopeless.card).toMatchObject({
      lane: "Blocked",
      code: "INVALID_REQUEST",
      denial_reason: "no such model",
    });

    const tried = new Subject().takeAll(ADD);
    for (let n = 1; n <= 3; n += 1) {
      tried.take(DISPATCH, n * 1_000_000);
      tried.take(DISPATCHED, n * 1_000_000);
      tried.take(failedWith("AGENT_FAILED"), n * 1_000_000);
    }
    expect(tried.card).toMatchObject({
      lane: "Blocked",
      attempt: 3,
      denial_reason: "3 tries failed; the last one: it failed",
    });
    // A person starts the count anew.
    expect(tried.take(move("retry"))).toEqual(["issue.retry_queued"]);
    expect(tried.card).toMatchObject({ lane: "RetryQueued", failures: 0, code: null });
  });

  it("says in the contract's words why it was not spawned, by the code", () => {
    const outcomes = (["POLICY_VIOLATION", "INVALID_REQUEST"] as const).map((code) => {
      const subject = new Subject().takeAll(ADD, DISPATCH, {
        type: "refused",
        error: { code, message: "no" },
      });
      const { last_outcome, policy_status, lane } = subject.card!;
      return [last_outcome, policy_status, lane];
    });
    expect(outcomes).toEqual([
      ["policy_denied", "denied", "Blocked"],
      ["preflight_failed", "validation_failed", "Blocked"],
    ]);
    const full = new Subject().takeAll(ADD, DISPATCH, {
      type: "refused",
      error: { code: "RESOURCE_EXHAUSTED", message: "full", retry_after_s: 60 },
    });
    expect(full.card).toMatchObject({
      lane: "RetryQueued",
      last_outcome: "spawn_denied",
      retry: { after_ms: 60_000 },
    });
  });

  it("is released and waits for a person when its worker is killed, and goes on when the daemon was stopped", () => {
    const killed = inLane("Running");
    killed.take({
      type: "ended",
      end: { type: "killed", by: "user", reason: "killed by user" },
      completed_lane: "Done",
    });
    expect(killed.card).toMatchObject({ state: "Released", lane: "Blocked", eligibility: "ineligible" });
    expect(killed.take(DISPATCH)).toEqual([]);
    const stopped = inLane("Running");
    stopped.take({ type: "ended", end: { type: "stopped" }, completed_lane: "Done" });
    expect(stopped.take(DISPATCH)).toEqual(["issue.claimed"]);
  });

  it("is held by one: others are refused, and a person may settle what an agent holds", () => {
    const subject = new Subject().takeAll(ADD, move("claim", "worker:A"));
    expect(subject.take(move("claim", "worker:B"))).toEqual(["held"]);
    expect(subject.take(move("claim", "worker:A"))).toEqual([]);
    expect(subject.take(move("done", "worker:B"))).toEqual(["held"]);
    expect(subject.take(DISPATCH)).toEqual([]);
    expect(subject.take(move("release"))).toEqual(["issue.released"]);
    expect(subject.card).toMatchObject({ state: "Released", lane: "Todo", eligibility: "eligible" });
    expect(subject.take(DISPATCH)).toEqual(["issue.claimed"]);
    for (const type of ["claim", "done", "block"] as const)
      expect(subject.take(move(type))).toEqual(["dispatching"]);
  });
});

const verbs = Object.keys(MOVES) as (keyof typeof MOVES)[];

describe("a move", () => {
  it.each(verbs.flatMap((verb) => CARD_LANES.map((lane) => [verb, lane] as const)))(
    "%s from %s",
    (verb, lane) => {
      const subject = inLane(lane);
      const told = subject.take(move(verb));
      if (MOVES[verb].includes(lane)) expect(told).toHaveLength(1);
      else expect([["lane"], []]).toContainEqual(told);
      // Nothing moves a card that runs but its worker.
      if (lane === "Running") expect(subject.card?.lane).toBe("Running");
    },
  );

  it("of a card that is not there is refused", () => {
    expect(decideCard({ board: "b", issue_id: "x" }, undefined, move("done"), timeAt(0))).toMatchObject({
      refused: { why: "unknown" },
    });
  });
});

describe("any sequence of inputs", () => {
  const inputs: fc.Arbitrary<CardEvent> = fc.oneof(
    fc
      .constantFrom(...verbs)
      .chain((type) => fc.constantFrom("user", "worker:A", "worker:B").map((by) => move(type, by))),
    fc.constantFrom<CardEvent>(
      ADD,
      DISPATCH,
      DISPATCHED,
      failedWith("TIMEOUT"),
      failedWith("INVALID_REQUEST"),
      { type: "refused", error: { code: "UNAVAILABLE", message: "later" } },
      { type: "ended", end: { type: "completed" }, completed_lane: "Review" },
      { type: "ended", end: { type: "stopped" }, completed_lane: "Done" },
    ),
  );

  it("a card runs only as one worker at a time, each try has a key of its own, and what is done stays so", () => {
    fc.assert(
      fc.property(fc.array(inputs, { maxLength: 40 }), (sequence) => {
        const subject = new Subject().takeAll(ADD);
        const keys: string[] = [];
        let ms = 0;
        for (const input of sequence) {
          const before = subject.card!;
          ms += 60_000;
          const [type] = subject.take(input, ms);
          const card = subject.card!;
          if (before.lane === "Done") expect(card.lane).toBe("Done");
          if (type === "issue.dispatched") expect(isBeingDispatched(before)).toBe(true);
          if (card.lane === "Running") expect(card.request_id).toBe(requestIdOf(card, card.attempt));
          if (before.lane === "Running" && card.lane !== "Running") expect(input.type).toBe("ended");
          if (isBeingDispatched(card) && !isBeingDispatched(before)) keys.push(card.request_id!);
          expect(card.retry !== null).toBe(card.lane === "RetryQueued");
          expect(card.claimed_by !== null).toBe(card.lane === "Claimed");
        }
        expect(new Set(keys).size).toBe(keys.length);
      }),
    );
  });
});
