import { describe, expect, it } from "vitest";
import { promptOf, specFor, specProblems, workerNameOf } from "../../../src/control/board/worker-spec.ts";
import { WorkerSpec } from "../../../src/protocol/worker.ts";
import { Subject, WAY_TO } from "./support.ts";

const card = { ...new Subject().takeAll(...WAY_TO.Todo).card!, body: "It hangs." };
const spec = WorkerSpec.parse({
  kind: "command",
  argv: ["work"],
  cwd: "/",
  restart: "temporary",
  env: { A: "1" },
});

describe("the name of a card's worker", () => {
  it.each([
    ["default", "GH-12", "GH-12"],
    ["night", "GH-12", "night.GH-12"],
    ["default", "org/repo#12", expect.stringMatching(/^org-repo-12-[0-9a-f]{6}$/)],
    ["default", "#", expect.stringMatching(/^[0-9a-f]{6}$/)],
    ["default", "x".repeat(128), expect.stringMatching(/^x{57}-[0-9a-f]{6}$/)],
  ])("on board %s of %s", (board, issue_id, expected) => {
    expect(workerNameOf({ board, issue_id })).toEqual(expected);
  });

  it("is another one for another card", () => {
    const names = ["a/b", "a#b", "a b"].map((issue_id) => workerNameOf({ board: "default", issue_id }));
    expect(new Set(names).size).toBe(3);
  });
});

describe("the prompt", () => {
  it("has the words of the card in their places, whatever stands in them", () => {
    const told = promptOf("Fix {id} ({labels}): {title}\n{body}", { ...card, title: "{id} $& {nothing}" });
    expect(told).toBe("Fix GH-1 (bug): {id} $& {nothing}\nIt hangs.");
  });

  it("has them at its end where it names no place, and alone where there is none", () => {
    expect(promptOf("Fix this.", card)).toBe("Fix this.\n\nGH-1: Fix it\n\nIt hangs.");
    expect(promptOf(undefined, { ...card, body: null })).toBe("GH-1: Fix it");
  });
});

it("the worker knows its card by its variables and its labels", () => {
  expect(specFor(spec, { ...card, attempt: 2, priority: "high" })).toMatchObject({
    name: "GH-1",
    priority: "high",
    labels: { board: "default", card: "GH-1", attempt: "2" },
    env: { A: "1", HOLDFAST_CARD: "GH-1", HOLDFAST_BOARD: "default" },
  });
});

it("a worker that no card can have is refused, each reason in a sentence", () => {
  const wrong = {
    name: "a",
    session: "s",
    restart: "permanent",
    interactive: true,
    supervisor: "crew",
    worktree: { branch: "b" },
  } as const;
  expect(specProblems({ ...spec, ...wrong })).toHaveLength(6);
  expect(specProblems({ ...spec, worktree: {} })).toEqual([]);
});
