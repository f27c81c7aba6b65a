/** The work that a full disk does not put off, and the work that it does. */
import { describe, expect, it } from "vitest";
import { mayHold } from "../../../src/supervisor/child/holding.ts";
import type { ChildCommand, ChildInput, StopReason } from "../../../src/supervisor/child/inputs.ts";

const KILL: StopReason = { kind: "kill", by: "user", reason: "killed", grace_ms: 0, signal: "SIGTERM" };
const STOP: ChildCommand = { type: "stop", grace_ms: 0, signal: "SIGTERM" };

describe("a decision is held on a full disk", () => {
  it.each<readonly [ChildInput["type"], boolean]>([
    ["kill", true],
    ["shutdown", true],
    ["limit", true],
    ["session_taken", true],
    ["passivate", true],
    ["pause", true],
    ["launched", true],
    ["adopted", true],
    ["abandoned", true],
    ["begin", false],
    ["restart", false],
    ["wake", false],
    ["unpause", false],
    ["ready", false],
    ["stalled", false],
    ["ask", false],
    ["withdraw", false],
  ])("%s: %s", (type, holds) => {
    expect(mayHold({ stop: null }, { type }, [])).toBe(holds);
    expect(mayHold({ stop: KILL }, { type }, [])).toBe(holds);
  });

  it("an end, where its worker is being stopped", () => {
    expect(mayHold({ stop: null }, { type: "exited" }, [])).toBe(false);
    expect(mayHold({ stop: KILL }, { type: "exited" }, [])).toBe(true);
  });

  it("an answer, where it stops", () => {
    expect(mayHold({ stop: null }, { type: "answer" }, [STOP])).toBe(true);
    expect(mayHold({ stop: null }, { type: "answer" }, [{ type: "end", state: "cancelled" }])).toBe(true);
    expect(mayHold({ stop: null }, { type: "answer" }, [{ type: "start" }])).toBe(false);
  });
});
