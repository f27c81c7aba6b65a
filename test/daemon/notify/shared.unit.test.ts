/** A daemon tells one of the questions of several logs that are one. */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { SharedQuestions } from "../../../src/daemon/notify/shared.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { HoldView } from "../../../src/runtime/replies.ts";

const questionOf = (id: string, shared: Partial<HoldView> = {}): HoldView => ({
  id,
  reason: "budget",
  worker_id: null,
  worker: id,
  supervisor: null,
  incarnation: 1,
  question: "may it spend more?",
  answers: ["continue", "stop"],
  since: "2026-11-30T00:00:00.000Z",
  expires_at: null,
  otherwise: null,
  shared_id: "KEY",
  limit: "usd",
  bound: 5,
  ...shared,
});

const noNode = () => Effect.fail(new HoldfastError("INVALID_STATE", "This daemon is in no cluster."));
const heard = (questions: SharedQuestions, hold: HoldView, host?: string): Promise<boolean> =>
  Effect.runPromise(questions.isTold(hold, host));

test("one of two workers of a node is told, and each time that it is tried", async () => {
  const questions = new SharedQuestions({ tellsOfBudget: () => Effect.succeed(true) });
  expect(await heard(questions, questionOf("a:budget"))).toBe(true);
  expect(await heard(questions, questionOf("b:budget"))).toBe(false);
  expect(await heard(questions, questionOf("a:budget"))).toBe(true);
});

test("the same name on two hosts is two tellers, of which a daemon that is in no cluster hears one", async () => {
  const questions = new SharedQuestions({ tellsOfBudget: noNode });
  expect(await heard(questions, questionOf("a:budget"), "build")).toBe(true);
  expect(await heard(questions, questionOf("a:budget"), "desk")).toBe(false);
  expect(await heard(questions, questionOf("a:budget"))).toBe(false);
});

test("a question that another node tells is not told here, until it is about another value", async () => {
  const asked: unknown[] = [];
  const questions = new SharedQuestions({
    tellsOfBudget: (question) => {
      asked.push(question);
      return Effect.succeed(question.bound === 10);
    },
  });
  expect(await heard(questions, questionOf("a:budget"))).toBe(false);
  expect(await heard(questions, questionOf("a:budget", { bound: 10 }))).toBe(true);
  expect(asked).toEqual([
    { shared_id: "KEY", limit: "usd", bound: 5, teller: "local/a:budget" },
    { shared_id: "KEY", limit: "usd", bound: 10, teller: "local/a:budget" },
  ]);
});

test("a question of one log alone is told, and nobody is asked", async () => {
  const questions = new SharedQuestions({ tellsOfBudget: () => Effect.die("asked") });
  expect(await heard(questions, questionOf("a:budget", { shared_id: undefined }))).toBe(true);
});
