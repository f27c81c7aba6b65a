/** A daemon tells one of the questions of several logs that are one. */
import { Effect } from "effect";
import { expect, test } from "vitest";
import { NOTIFY_SHARED_WAIT_MS } from "../../../src/base/limits.ts";
import {
  declared,
  type LeasedBudget,
  limited,
  type SharedQuestion,
  tellingOf,
} from "../../../src/cluster/budgets.ts";
import type { Notice } from "../../../src/control/notify/notice.ts";
import { SharedQuestions, type WhenTold } from "../../../src/daemon/notify/shared.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import type { HoldView } from "../../../src/runtime/replies.ts";

const questionOf = (id: string): HoldView => ({
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
});

const noNode = () => Effect.fail(new HoldfastError("INVALID_STATE", "This daemon is in no cluster."));

/** Nodes share one row, as in the database, and one clock. */
const clusterOf = (budget: Partial<LeasedBudget> = { found_at: 5 }) => {
  let row: LeasedBudget = { limit: 5, portions: new Map(), spent: 0, ...budget };
  let now = 0;
  const node = (name: string): SharedQuestions => {
    const tellingOfBudget = (asked: SharedQuestion) =>
      Effect.sync(() => {
        const { budget: after, ...telling } = tellingOf(row, { ...asked, teller: `${name}/${asked.teller}` });
        row = after;
        return telling;
      });
    return new SharedQuestions({ tellingOfBudget }, () => now);
  };
  return {
    node,
    wait: (ms: number) => {
      now += ms;
    },
    become: (change: (before: LeasedBudget) => LeasedBudget) => {
      row = change(row);
    },
  };
};

const telling = (questions: SharedQuestions, id: string, host?: string): Promise<WhenTold> =>
  Effect.runPromise(questions.tellingOf(questionOf(id), host));
const send = (questions: SharedQuestions, id: string): Promise<void> =>
  Effect.runPromise(questions.sent({ asks: { hold: id, answers: [] } } as unknown as Notice));

test("one of all is told, each time that it is tried, and the others wait until it is sent", async () => {
  const cluster = clusterOf();
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  expect(await telling(a, "x:1")).toBe("now");
  expect(await telling(a, "y:1")).toBe("later");
  expect(await telling(b, "x:1")).toBe("later");
  expect(await telling(a, "x:1")).toBe("now");
  await send(a, "x:1");
  expect(await telling(a, "x:1")).toBe("now");
  expect(await telling(a, "y:1")).toBe("never");
  expect(await telling(b, "x:1")).toBe("never");
});

test("one that is not sent within a minute is taken over", async () => {
  const cluster = clusterOf();
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  expect(await telling(a, "x:1")).toBe("now");
  expect(await telling(b, "x:1")).toBe("later");
  cluster.wait(NOTIFY_SHARED_WAIT_MS - 1);
  expect(await telling(b, "x:1")).toBe("later");
  cluster.wait(1);
  expect(await telling(b, "x:1")).toBe("now");
  await send(b, "x:1");
  expect(await telling(a, "x:1")).toBe("never");
});

test("a question waits until the budget was found spent, because it may be withdrawn before, and a minute at most", async () => {
  const cluster = clusterOf({});
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  expect(await telling(a, "x:1")).toBe("later");
  cluster.become((budget) => ({ ...budget, found_at: 5 }));
  expect(await telling(b, "x:2")).toBe("now");
  const unsure = clusterOf({});
  const alone = unsure.node("a");
  expect(await telling(alone, "x:1")).toBe("later");
  unsure.wait(NOTIFY_SHARED_WAIT_MS);
  expect(await telling(alone, "x:1")).toBe("now");
});

test("a limit that was raised, or that the file says again, is told anew", async () => {
  const cluster = clusterOf();
  const [a, b] = [cluster.node("a"), cluster.node("b")];
  await telling(a, "x:1");
  await send(a, "x:1");
  cluster.become((budget) => ({ ...limited(budget, 10), found_at: 10 }));
  expect(await telling(b, "x:2")).toBe("now");
  await send(b, "x:2");
  cluster.become((budget) => ({ ...declared({ ...budget, own: 10 }, 5), found_at: 5 }));
  expect(await telling(a, "x:3")).toBe("now");
});

test("a daemon that is no node, and follows two hosts, tells one of what comes within a minute", async () => {
  let now = 0;
  const questions = new SharedQuestions({ tellingOfBudget: noNode }, () => now);
  expect(await telling(questions, "a:budget", "build")).toBe("now");
  expect(await telling(questions, "a:budget", "desk")).toBe("never");
  expect(await telling(questions, "a:budget", "build")).toBe("now");
  now += NOTIFY_SHARED_WAIT_MS;
  expect(await telling(questions, "b:budget", "desk")).toBe("now");
});

test("a question of one log alone is told, and nobody is asked", async () => {
  const questions = new SharedQuestions({ tellingOfBudget: () => Effect.die("asked") });
  const { shared_id: _, ...alone } = questionOf("a:budget");
  expect(await Effect.runPromise(questions.tellingOf(alone))).toBe("now");
});
