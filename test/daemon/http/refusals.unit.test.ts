import { expect, it } from "vitest";
import { API_REFUSALS_PERIOD_MS, API_REFUSALS_TOLD_MAX } from "../../../src/base/limits.ts";
import { makeRefusals, type RefusedRequest } from "../../../src/daemon/http/refusals.ts";
import { HoldfastError } from "../../../src/protocol/errors.ts";

it("tells the first refusals of a period, and with the next period how many others there were", () => {
  const told: RefusedRequest[] = [];
  let now = 0;
  const refused = makeRefusals(
    (one) => told.push(one),
    () => now,
  );
  const error = new HoldfastError("NOT_AUTHORISED", "no", { details: { door: "token" } });
  for (let n = 0; n < API_REFUSALS_TOLD_MAX + 7; n += 1) refused(error, "::1");
  expect(told).toHaveLength(API_REFUSALS_TOLD_MAX);
  expect(told[0]).toEqual({ code: "NOT_AUTHORISED", peer: "::1", door: "token" });
  now = API_REFUSALS_PERIOD_MS;
  refused(error, "::1");
  expect(told.at(-1)).toMatchObject({ untold: 7 });
  refused(error, "::1");
  expect(told.at(-1)).not.toHaveProperty("untold");
});
