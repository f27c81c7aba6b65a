import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  afterTries,
  asHoldfastError,
  ERROR_CATALOGUE,
  type ErrorCode,
  type ErrorRow,
  HoldfastError,
} from "../../src/protocol/errors.ts";
import { WEBLISK_CODES, webliskError } from "../../src/protocol/weblisk-errors.ts";

/** response-envelope notes B.2: the codes of G1, with whether anything may have been done. */
const SIDE_EFFECTS: Readonly<Record<number, readonly ErrorRow["effects"][]>> = {
  1: ["none", "partial"],
  2: ["partial"],
  3: ["none"],
  4: ["none"],
  5: ["none"],
  6: ["none"],
  7: ["none"],
  8: ["none"],
  9: ["none"],
  10: ["partial"],
  11: ["none"],
  12: ["none", "partial"],
  13: ["none"],
  130: ["partial"],
};
/** protocol-v1.txt, Error catalog. */
const V1_CODES =
  "EARG EAUTH ERATELIMIT EPAGINATION ERUNTIME ENOTFOUND ETIMEOUT EPOLICY ESKILLDOWN EPARSE EOUTPUT_TOO_LARGE EENVELOPE EIO ECANCELED EOPENAPI".split(
    " ",
  );

/** weblisk.txt, Standard Error Codes: code, HTTP status, category. */
const WEBLISK_DOCUMENT = [
  ["INVALID_REQUEST", 400, "permanent"],
  ["INVALID_SIGNATURE", 401, "permanent"],
  ["TOKEN_EXPIRED", 401, "transient"],
  ["FORBIDDEN", 403, "permanent"],
  ["NOT_FOUND", 404, "permanent"],
  ["AGENT_UNREACHABLE", 502, "transient"],
  ["RATE_LIMITED", 429, "transient"],
] as const;

/** Statuses that the protocol gives no code of their own (notes 1.1). */
const WEBLISK_STATUSES: Readonly<Record<string, readonly number[]>> = {
  INVALID_REQUEST: [409, 413],
  INTERNAL_ERROR: [503],
  PHASE_FAILED: [502],
};

test.each(WEBLISK_DOCUMENT)("Weblisk's %s has status %i and is %s", (code, http, category) =>
  expect(WEBLISK_CODES[code]).toEqual({ http, category }),
);

it("no code is gone, or means another exit code, since callers act on it", () => {
  const known = JSON.parse(
    readFileSync(join(import.meta.dirname, "../fixtures/contracts/error-codes.json"), "utf8"),
  );
  expect(ERROR_CATALOGUE).toMatchObject(known);
  // A new one is written down where it comes in.
  expect(Object.keys(known).sort()).toEqual(Object.keys(ERROR_CATALOGUE).sort());
});

it("every code of Protocol v1 is that of some error", () => {
  const used = new Set(Object.values(ERROR_CATALOGUE).map(({ v1 }) => v1));
  expect(V1_CODES.filter((code) => !used.has(code as ErrorRow["v1"]))).toEqual([]);
});

describe.each(Object.entries(ERROR_CATALOGUE))("%s", (code, row: ErrorRow) => {
  it("is written in capitals and has a code of Protocol v1", () => {
    expect(code).toMatch(/^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/);
    expect(V1_CODES).toContain(row.v1);
  });
  it("has an exit code of G1 and the side effects that it promises", () =>
    expect(SIDE_EFFECTS[row.exit]).toContain(row.effects));
  it("may be retried only where nothing was done", () =>
    expect(row.retryable && row.effects !== "none").toBe(false));
  it("is no success of HTTP, but for a partial one, and a redirect where it is one", () => {
    const range = row.exit === 13 ? [308, 308] : row.http === 207 ? [207, 207] : [400, 599];
    expect(row.http).toBeGreaterThanOrEqual(range[0]!);
    expect(row.http).toBeLessThanOrEqual(range[1]!);
  });
  it("has a code of Weblisk with its status, and is transient there where it may be retried as it is", () => {
    const weblisk = webliskError(code as ErrorCode);
    expect([WEBLISK_CODES[weblisk.code].http, ...(WEBLISK_STATUSES[weblisk.code] ?? [])]).toContain(
      weblisk.http,
    );
    if (weblisk.category === "permanent" && row.exit !== 13 && row.exit !== 3)
      expect(row.retryable).toBe(false);
    if (row.http === 404 && row.exit === 5) expect(weblisk.code).toBe("NOT_FOUND");
  });
  it("tells the next step in one sentence", () => {
    expect(row.next).toMatch(/^[A-Z].*\.$/);
    expect(row.next).not.toMatch(/[.!?]\s+[A-Z]/);
  });
});

it("everything of exit code 3 and 11 may be retried, nothing of 2, 5, 6 and 7", () => {
  for (const row of Object.values(ERROR_CATALOGUE)) {
    if (row.exit === 3 || row.exit === 11) expect(row.retryable, row.next).toBe(true);
    if ([2, 5, 6, 7].includes(row.exit)) expect(row.retryable, row.next).toBe(false);
  }
});

it("an error tells its own suggestion before the catalogue's", () => {
  expect(new HoldfastError("TIMEOUT", "Late.").suggestion).toBe(ERROR_CATALOGUE.TIMEOUT.next);
  expect(new HoldfastError("TIMEOUT", "Late.", { suggestion: "Wait." }).suggestion).toBe("Wait.");
});

it("every thrown value becomes a HoldfastError, and one stays itself", () => {
  const known = new HoldfastError("TIMEOUT", "Late.");
  expect(asHoldfastError(known)).toBe(known);
  // An error of another bundle, with its own copy of the class.
  const foreign = Object.assign(new Error("Late."), { [Symbol.for("holdfast.error")]: true });
  expect(asHoldfastError(foreign)).toBe(foreign);
  const cause = new TypeError("x is undefined");
  expect(asHoldfastError(cause)).toMatchObject({ code: "INTERNAL", message: "x is undefined", cause });
  expect(asHoldfastError("text").message).toBe("text");
});

it("an error after some tries says how many, and how they were spaced", () => {
  const error = new HoldfastError("UNAVAILABLE", "Late.", { suggestion: "Wait." });
  expect(afterTries(error, 3, 200)).toMatchObject({
    code: "UNAVAILABLE",
    message: "Late.",
    info: { suggestion: "Wait.", attempts: 3, backoff: "fixed 200ms" },
  });
});
