/** The words of CLIs for the reset of a limit, form by form. */
import { describe, expect, it } from "vitest";
import { classifyText } from "../../../src/adapters/decoding/classify.ts";
import { type Reset, readReset, resetAt } from "../../../src/adapters/decoding/reset-time.ts";

const wall = (hour: number, minute: number, more: object = {}): Reset => ({
  resets: { hour, minute, ...more },
});

describe("the reset of a limit", () => {
  it.each<[string, Reset | undefined]>([
    ["Claude AI usage limit reached|1749924000", { reset_at: "2025-06-14T18:00:00.000Z" }],
    ["You've hit your limit · resets 3pm (Europe/Berlin)", wall(15, 0, { zone: "Europe/Berlin" })],
    [
      "You've hit your session limit · resets 2:30pm (Pacific/Auckland)",
      wall(14, 30, { zone: "Pacific/Auckland" }),
    ],
    ["You've hit your limit · resets 11:30pm", wall(23, 30)],
    ["5-hour limit reached ∙ resets 12:30am", wall(0, 30)],
    ["5-hour limit reached ∙ resets 12pm", wall(12, 0)],
    [
      "You've hit your limit · resets Apr 3, 5pm (Europe/Berlin)",
      wall(17, 0, { month: 4, day: 3, zone: "Europe/Berlin" }),
    ],
    ["Weekly limit reached ∙ resets Feb 3 at 10am", wall(10, 0, { month: 2, day: 3 })],
    [
      "Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).",
      wall(13, 0, { zone: "Etc/GMT+5" }),
    ],
    ["You've hit your usage limit. Try again at 10:13 PM.", wall(22, 13)],
    [
      "You've hit your usage limit. Upgrade, or try again at Nov 3rd, 2025 10:13 PM.",
      wall(22, 13, { year: 2025, month: 11, day: 3 }),
    ],
    ["last status: 429. Please try again in 1.2s.", { retry_after_s: 2 }],
    ["usage limit reached, try again in 5 days 3 hours 2 minutes", { retry_after_s: 442_920 }],
    ["try again in 1 day, 2 hrs and 30 mins.", { retry_after_s: 95_400 }],
    ["try again in 6m0s", { retry_after_s: 360 }],
    ["try again in 250ms", { retry_after_s: 1 }],
    ["try again in 2 minutes. Upgrade for 3 seats", { retry_after_s: 120 }],
    // No form that is known: nothing is guessed.
    ["Claude AI usage limit reached|9999999999999", undefined],
    ["Claude AI usage limit reached|0000000001", undefined],
    ["resets soon", undefined],
    ["resets 13pm (UTC)", undefined],
    ["resets 3:75pm", undefined],
    ["resets Foo 3, 5pm", undefined],
    ["resets Apr 32, 5pm", undefined],
    ["the meeting is at 3pm (UTC)", undefined],
    ["try again in 1 month", undefined],
    ["try again in 2 weeks 1 day", undefined],
    ["try again in 3 sessions", undefined],
    ["try again at your own risk", undefined],
  ])("is read from %s", (text, expected) => {
    expect(readReset(text)).toEqual(expected);
  });

  it("is an instant where a field says so, and only of these decades", () => {
    expect(resetAt(1_772_766_000)).toEqual({ reset_at: "2026-03-06T03:00:00.000Z" });
    for (const no of [0, -1, 1_772_766_000_000, Number.NaN, "1772766000", null, undefined])
      expect(resetAt(no)).toBeUndefined();
  });

  it.each([
    ["You've hit your session limit · resets 3pm", "RATE_LIMITED"],
    ["5-hour limit reached ∙ resets 3pm", "RATE_LIMITED"],
    ["Claude AI usage limit reached|1749924000", "RATE_LIMITED"],
    ["The function resets 3pm as the time; limit reached", undefined],
    ["last status: 500, resets 3pm", "PROVIDER_ERROR"],
  ])("is one of a limit alone: %s", (text, code) => {
    const error = classifyText(text);
    expect(error?.code).toBe(code);
    if (code !== "RATE_LIMITED") expect(error ?? {}).not.toHaveProperty("resets");
  });
});
