import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  CHANNEL_MAX_BYTES,
  DATA_MAX_BYTES,
  DATA_MAX_DEPTH,
  FINAL_TEXT_MAX_BYTES,
  MESSAGE_MAX_BYTES,
  TEXT_MAX_BYTES,
} from "../../src/base/limits.ts";
import { AgentEvent } from "../../src/protocol/agent-event.ts";
import {
  boundCompletion,
  boundData,
  boundEvent,
  cutUtf8,
  splitUtf8,
  TRUNCATED_SUFFIX,
  truncateMessage,
} from "../../src/protocol/bounds.ts";
import { AgentCompletion } from "../../src/protocol/completion.ts";

const bytes = (text: string): number => Buffer.byteLength(text);
const DROPPED = { dropped: { reason: "oversize" } };
/** Text of every width of UTF-8: 1, 2, 3 and 4 bytes a code point. */
const wide = fc.string({ unit: fc.constantFrom("a", "é", "漢", "🦀", "\n", "\u0000", '"'), maxLength: 60 });
/** The same, long enough to pass the bounds now and then. */
const long = fc
  .tuple(wide, fc.integer({ min: 1, max: 3_000 }), wide)
  .map(([unit, times, tail]) => unit.repeat(times) + tail);
const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)]);

const anyEvent: fc.Arbitrary<AgentEvent> = fc
  .record(
    {
      agent_kind: fc.constant("codex"),
      kind: fc.constantFrom("TextOutput", "ToolCall", "ToolResult", "Status", "Error", "Unknown"),
      channel: fc.oneof(wide, long),
      text: long,
      message: long,
      data: fc.oneof(
        fc.jsonValue(),
        long.map((text) => ({ text })),
      ),
    },
    { requiredKeys: ["agent_kind", "kind"] },
  )
  .map((event) => event as AgentEvent);

describe("cutUtf8", () => {
  it("gives the longest prefix within the bound, never inside a code point", () => {
    fc.assert(
      fc.property(wide, fc.nat(200), (text, max) => {
        const cut = cutUtf8(text, max);
        expect(text.startsWith(cut)).toBe(true);
        expect(cut.isWellFormed()).toBe(true);
        expect(bytes(cut)).toBeLessThanOrEqual(max);
        const next = [...text.slice(cut.length)][0];
        if (next !== undefined) expect(bytes(cut + next)).toBeGreaterThan(max);
      }),
    );
  });
});

describe("truncateMessage", () => {
  it("has a suffix of 14 bytes", () => expect(bytes(TRUNCATED_SUFFIX)).toBe(14));

  it.each(["a", "é", "漢", "🦀"])(
    "passes a message of %s that is exactly at the bound, and cuts one that is over it",
    (unit) => {
      const fitting =
        unit.repeat(Math.floor(MESSAGE_MAX_BYTES / bytes(unit))) +
        "a".repeat(MESSAGE_MAX_BYTES % bytes(unit));
      expect(bytes(fitting)).toBe(MESSAGE_MAX_BYTES);
      expect(truncateMessage(fitting)).toBe(fitting);
      const cut = truncateMessage(`${fitting}a`);
      expect(cut.endsWith(TRUNCATED_SUFFIX)).toBe(true);
      expect(bytes(cut)).toBeLessThanOrEqual(MESSAGE_MAX_BYTES);
      expect(bytes(cut)).toBeGreaterThan(MESSAGE_MAX_BYTES - bytes(unit));
    },
  );

  it.each([
    [15, `h${TRUNCATED_SUFFIX}`],
    [14, "…"],
    [3, "…"],
    [2, ""],
    [0, ""],
  ])("with a bound of %i leaves %j", (bound, expected) =>
    expect(truncateMessage("hello, hello, hello", bound)).toBe(expected),
  );

  it("is idempotent", () => {
    fc.assert(
      fc.property(wide, fc.nat(100), (text, bound) => {
        const once = truncateMessage(text, bound);
        expect(truncateMessage(once, bound)).toBe(once);
        expect(bytes(once)).toBeLessThanOrEqual(bound);
      }),
    );
  });
});

describe("splitUtf8", () => {
  it("loses nothing, keeps the order, and makes every part as long as it can be", () => {
    fc.assert(
      fc.property(wide, fc.integer({ min: 4, max: 40 }), (text, max) => {
        const parts = splitUtf8(text, max);
        expect(parts.join("")).toBe(text);
        for (const [index, part] of parts.entries()) {
          expect(bytes(part)).toBeLessThanOrEqual(max);
          expect(part.isWellFormed()).toBe(true);
          const next = parts[index + 1];
          if (next !== undefined) expect(bytes(part + [...next][0])).toBeGreaterThan(max);
        }
      }),
    );
  });
});

describe("boundData", () => {
  it("passes data of exactly 65,536 bytes, the same object, and drops one byte more", () => {
    const exact = { text: "x".repeat(DATA_MAX_BYTES - bytes('{"text":""}')) };
    expect(bytes(JSON.stringify(exact))).toBe(DATA_MAX_BYTES);
    expect(boundData(exact)).toBe(exact);
    expect(boundData({ text: `${exact.text}x` })).toEqual(DROPPED);
  });

  it("counts bytes of the serialised form, not characters", () => {
    expect(boundData("\n".repeat(DATA_MAX_BYTES / 2))).toEqual(DROPPED);
    expect(boundData("漢".repeat(DATA_MAX_BYTES / 3))).toEqual(DROPPED);
    expect(boundData("漢".repeat(DATA_MAX_BYTES / 3 - 1))).not.toEqual(DROPPED);
  });

  it("takes what cannot be serialised as oversize", () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    for (const value of [cycle, { n: 1n }, () => 1, undefined, Symbol("s")])
      expect(boundData(value)).toEqual(DROPPED);
    expect(
      boundData({
        toJSON: () => {
          throw new Error("no");
        },
      }),
    ).toEqual(DROPPED);
  });

  it("makes JSON of what is not quite JSON", () => {
    expect(boundData({ nan: Number.NaN, inf: -Infinity, gone: undefined, at: new Date(0) })).toEqual({
      nan: null,
      inf: null,
      at: "1970-01-01T00:00:00.000Z",
    });
    expect(boundData({ "k\ud800": ["\udc00x"] })).toEqual({ "k\ufffd": ["\ufffdx"] });
    expect(Object.keys(boundData({ gone: undefined }) as object)).toEqual([]);
  });

  it("counts a lone surrogate as the three bytes that it becomes", () => {
    expect(boundData("\ud800".repeat(20_000))).toBe("\ufffd".repeat(20_000));
  });

  it("bounds the nesting, and ends on a graph that unfolds without end", () => {
    expect(boundData(nested(DATA_MAX_DEPTH))).toEqual(nested(DATA_MAX_DEPTH));
    expect(boundData(nested(DATA_MAX_DEPTH + 1))).toEqual(DROPPED);
    expect(boundData(JSON.parse(`${"[".repeat(200_000)}${"]".repeat(200_000)}`))).toEqual(DROPPED);
    let doubled: unknown = {};
    for (let i = 0; i < 90; i++) doubled = [doubled, doubled];
    expect(boundData(doubled)).toEqual(DROPPED);
  });

  it("agrees with the definition for any JSON value", () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), long), (value) => {
        const fit = bytes(JSON.stringify(value)) <= DATA_MAX_BYTES;
        expect(boundData(value)).toEqual(fit ? value : DROPPED);
      }),
    );
  });
});

describe("boundEvent", () => {
  it("returns an event that is within its bounds as it is", () => {
    const event: AgentEvent = {
      agent_kind: "codex",
      kind: "Status",
      channel: "status",
      message: "turn started",
      data: { turn: 1 },
    };
    expect(boundEvent(event)).toEqual([event]);
    expect(boundEvent(event)[0]).toBe(event);
  });

  it("passes every field exactly at its bound unchanged", () => {
    const event: AgentEvent = {
      agent_kind: "codex",
      kind: "TextOutput",
      channel: "c".repeat(CHANNEL_MAX_BYTES),
      text: "t".repeat(TEXT_MAX_BYTES),
      message: "m".repeat(MESSAGE_MAX_BYTES),
      data: "d".repeat(DATA_MAX_BYTES - 2),
    };
    expect(boundEvent(event)[0]).toBe(event);
  });

  it("drops a channel over 128 bytes, without leaving its key", () => {
    const [event] = boundEvent({
      agent_kind: "codex",
      kind: "Status",
      channel: "é".repeat(65),
      message: "m",
    });
    expect(event).toStrictEqual({ agent_kind: "codex", kind: "Status", message: "m" });
  });

  it("splits the text of a TextOutput into events that all have its channel and data", () => {
    const text = `${"🦀".repeat(TEXT_MAX_BYTES / 4)}end`;
    expect(
      boundEvent({ agent_kind: "codex", kind: "TextOutput", channel: "assistant", text, data: { id: 7 } }),
    ).toStrictEqual([
      {
        agent_kind: "codex",
        kind: "TextOutput",
        channel: "assistant",
        text: "🦀".repeat(TEXT_MAX_BYTES / 4),
        data: { id: 7 },
      },
      { agent_kind: "codex", kind: "TextOutput", channel: "assistant", text: "end", data: { id: 7 } },
    ]);
  });

  it("passes an empty text as one event", () => {
    expect(boundEvent({ agent_kind: "codex", kind: "TextOutput", text: "" })).toHaveLength(1);
  });

  it("cuts the text of any other kind like a message", () => {
    const [event, ...more] = boundEvent({
      agent_kind: "codex",
      kind: "ToolResult",
      text: "t".repeat(TEXT_MAX_BYTES + 1),
    });
    expect(more).toEqual([]);
    expect(bytes(event!.text!)).toBe(TEXT_MAX_BYTES);
    expect(event!.text!.endsWith(TRUNCATED_SUFFIX)).toBe(true);
  });

  it("makes every event valid, loses no text, and does nothing the second time", () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const bounded = boundEvent(event);
        for (const part of bounded) {
          expect(AgentEvent.safeParse(part).error).toBeUndefined();
          expect(boundEvent(part)[0]).toBe(part);
        }
        if (event.kind === "TextOutput" && event.text !== undefined)
          expect(bounded.map((part) => part.text).join("")).toBe(event.text);
        else expect(bounded).toHaveLength(1);
      }),
    );
  });

  it("makes strings well-formed, so that stored and sent UTF-8 are the same text", () => {
    expect(boundEvent({ agent_kind: "codex", kind: "Error", message: "half \ud83e" })[0]!.message).toBe(
      "half \ufffd",
    );
  });
});

describe("boundCompletion", () => {
  it("cuts the final text, drops oversize data and keeps the status", () => {
    const status = { code: 0, signal: null };
    const bounded = boundCompletion({
      status,
      final_text: "f".repeat(FINAL_TEXT_MAX_BYTES + 1),
      data: "d".repeat(DATA_MAX_BYTES),
    });
    expect(AgentCompletion.safeParse(bounded).success).toBe(true);
    expect(bounded.final_text!.endsWith(TRUNCATED_SUFFIX)).toBe(true);
    expect(bounded.data).toEqual(DROPPED);
    expect(boundCompletion({ status })).toStrictEqual({ status });
  });
});
