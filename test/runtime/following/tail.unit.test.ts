import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type ReadableLog, Tail, type Waiter } from "../../../src/runtime/following/tail.ts";
import type { Commit } from "../../../src/store/event-log.ts";

const newTail = (monoMs = () => 0) => {
  let listener: ((commit: Commit) => void) | undefined;
  let head = 0;
  const log = {
    head: () => head,
    onCommit: (told: (commit: Commit) => void) => {
      listener = told;
      return () => {
        listener = undefined;
      };
    },
  } as unknown as ReadableLog;
  return {
    tail: new Tail(log, monoMs),
    isListened: () => listener !== undefined,
    commit: (...streams: string[]) => {
      head += 1;
      listener?.({ head, streams: new Set(streams) });
    },
  };
};

const woken: string[] = [];
const reader = (name: string, streams?: readonly string[]): Waiter => ({
  streams,
  wake: (passed) => void woken.push(`${name}:${passed}`),
});

it("wakes each reader that a commit concerns once, with the seq up to which it has missed nothing", async () => {
  const { tail, commit, isListened } = newTail();
  const [a, b, all] = [reader("a", ["a"]), reader("b", ["b", "a"]), reader("all")];
  for (const one of [a, b, all]) tail.wait(one);
  commit("b");
  commit("b");
  await turn();
  expect(woken.splice(0)).toEqual(["all:0", "b:0"]);
  tail.wait(b);
  commit("a");
  await turn();
  expect(woken.splice(0)).toEqual(["a:2", "b:2"]);
  for (const one of [a, b, all]) tail.leave(one);
  expect(isListened()).toBe(false);
});

it("does not wake a reader that leaves while it is due, and listens as long as another one waits or is due", async () => {
  const { tail, commit, isListened } = newTail();
  const [gone, stays] = [reader("gone"), reader("stays")];
  tail.wait(gone);
  tail.wait(stays);
  commit("x");
  tail.leave(gone);
  expect(isListened()).toBe(true);
  await turn();
  expect(woken.splice(0)).toEqual(["stays:0"]);
  tail.leave(gone);
  expect(isListened()).toBe(false);
  tail.wait(gone);
  commit("x");
  await turn();
  expect(woken.splice(0)).toEqual(["gone:1"]);
  tail.leave(gone);
  expect(isListened()).toBe(false);
});

it("a reader that waits again while it is due is woken once", async () => {
  const { tail, commit, isListened } = newTail();
  const one = reader("one");
  tail.wait(one);
  commit("x");
  tail.wait(one);
  commit("x");
  await turn();
  expect(woken.splice(0)).toEqual(["one:1"]);
  tail.leave(one);
  expect(isListened()).toBe(false);
});

it("a reader that waits again at once comes behind the others, in slice after slice", async () => {
  let now = 0;
  // Each look at the clock takes longer than a slice.
  const { tail, commit } = newTail(() => (now += 1_000));
  const eager: Waiter = {
    streams: undefined,
    wake: (passed) => {
      woken.push(`eager:${passed}`);
      tail.wait(eager);
      commit("x");
    },
  };
  tail.wait(eager);
  tail.wait(reader("patient"));
  commit("x");
  await turn();
  await turn();
  await turn();
  tail.leave(eager);
  expect(woken.splice(0, 3)).toEqual(["eager:0", "patient:0", "eager:1"]);
  woken.splice(0);
});
