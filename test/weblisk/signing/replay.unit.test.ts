import { expect, test } from "vitest";
import { checkTimestamp } from "../../../src/weblisk/signing/replay.ts";

const NOW = 1_713_264_000;

test.each([0, 1, -1, 300, -300])("%i seconds from now passes", (off) =>
  expect(() => checkTimestamp(NOW + off, NOW)).not.toThrow(),
);
test.each([301, -301, 600, -600])(
  "%i seconds from now is refused, and the sentence names the timestamp",
  (off) =>
    expect(() => checkTimestamp(NOW + off, NOW)).toThrowError(
      expect.objectContaining({ code: "INVALID_SIGNATURE", message: expect.stringContaining("timestamp") }),
    ),
);
test.each([undefined, "1713264000", 1.5, Number.NaN])("%s is no timestamp", (wrong) =>
  expect(() => checkTimestamp(wrong, NOW)).toThrowError(expect.objectContaining({ code: "INVALID_REQUEST" })),
);
