import { describe, expect, it } from "vitest";
import { colourPaint, plainPaint, width } from "../../../src/cli/render/terminal.ts";
import { frameOf } from "../../../src/cli/top/frame.ts";
import { drawn } from "../../../src/cli/top/screen.ts";
import { rowsOf, type TopState } from "../../../src/cli/top/state.ts";
import { NOW, stateOf, supervisorNode, workerNode, workerView } from "./samples.ts";

const ESC = "\x1b[31;1m\x1b]0;title\x07\r\n<img onerror=x>";

const crew = (): TopState => {
  const workers = [
    workerView("a", { name: "fixer", usage: { input_tokens: 12_345, cost_usd: 1.5 } }),
    workerView("b", { name: `evil${ESC}`, reason: ESC, approvals: 1 }),
    workerView("c", { name: "日本語の長い名前を持つ労働者", state: "backing_off", reason: "restart 2" }),
  ];
  const root = supervisorNode("root", [
    supervisorNode("crew", workers.map(workerNode), { phase: "running", strategy: "one_for_one" }),
  ]);
  return stateOf(root, workers, {
    said: new Map([["a", { text: "npm test", tool_since: NOW - 12_000 }]]),
    cpu: new Map([["a", 45.4]]),
  });
};

const SIZES = [
  [6, 40],
  [24, 60],
  [24, 80],
  [50, 200],
] as const;

describe.each(SIZES)("a frame of %s rows and %s columns", (rows, columns) => {
  it.each([
    ["plain", plainPaint],
    ["coloured", colourPaint],
  ])("fills the terminal and stays within it (%s)", (_name, paint) => {
    const frame = frameOf(crew(), { rows, columns }, NOW, paint);
    expect(frame).toHaveLength(rows);
    for (const line of frame) expect(width(line)).toBeLessThanOrEqual(columns);
  });

  it("passes on no control character of an agent", () => {
    for (const line of frameOf(crew(), { rows, columns }, NOW, plainPaint))
      expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f]/);
  });
});

it("shows who waits first, then the tree with its words", () => {
  const frame = frameOf(crew(), { rows: 12, columns: 120 }, NOW, plainPaint);
  expect(frame[0]).toBe("1 waits for you · 2 of 3 workers run · 45% cpu · 0 bytes · $1.50");
  expect(frame[2]).toMatch(/^▸ evil .* +waits for you/);
  expect(frame[3]).toMatch(/^ {2}crew +running {2}one for one$/);
  expect(frame[4]).toMatch(/^ {4}fixer +running +\d\d:\d\d +45% +– +12k +\$1.50 npm test \(12s\)$/);
});

it("says how to begin where nobody works, and that a filter agrees with nobody", () => {
  const empty = stateOf(supervisorNode("root", []), []);
  expect(frameOf(empty, { rows: 6, columns: 80 }, NOW, plainPaint)[2]).toContain("agent spawn -- sleep 60");
  const filtered = { ...crew(), filter: "nobody" };
  expect(frameOf(filtered, { rows: 6, columns: 80 }, NOW, plainPaint)[2]).toContain("No worker agrees");
});

it("keeps the selected row in sight among a thousand", () => {
  const workers = Array.from({ length: 1_000 }, (_, n) => workerView(`w${n}`, {}));
  const state = stateOf(supervisorNode("root", workers.map(workerNode)), workers, { selected: "w700" });
  const frame = frameOf(state, { rows: 20, columns: 80 }, NOW, plainPaint);
  expect(frame.filter((line) => line.startsWith("▸ w700 "))).toHaveLength(1);
  expect(rowsOf(state)).toHaveLength(1_000);
});

describe("a screen", () => {
  it("gets only the lines that differ, and nothing for an equal frame", () => {
    expect(drawn(["a", "b"], ["a", "b"])).toBe("");
    expect(drawn(["a", "b"], ["a", "c"])).toBe("\x1b[2;1Hc\x1b[K");
  });

  it("is drawn anew in another size", () => {
    expect(drawn(["a"], ["a", "b"])).toBe("\x1b[2J\x1b[1;1Ha\x1b[K\x1b[2;1Hb\x1b[K");
  });
});
