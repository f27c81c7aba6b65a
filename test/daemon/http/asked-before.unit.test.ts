import { expect, it } from "vitest";
import { API_URL_KEPT_MAX_CHARS, API_URLS_KEPT_MAX } from "../../../src/base/limits.ts";
import { requestAsked } from "../../../src/daemon/http/asked.ts";
import { AskedBefore } from "../../../src/daemon/http/asked-before.ts";
import type { CheckedRequest } from "../../../src/daemon/request.ts";

const get = (url: string, headers: Record<string, string> = {}) => ({ method: "GET", url, headers });
const checked = (id: string): CheckedRequest =>
  requestAsked("agent/info", { id }, {}) as ReturnType<typeof requestAsked> & CheckedRequest;

it("knows a URL again, and no other one", () => {
  const before = new AskedBefore();
  const request = checked("a");
  expect(before.of(get("/api/agent/info?id=a"))).toBeUndefined();
  before.keep(get("/api/agent/info?id=a"), request);
  expect(before.of(get("/api/agent/info?id=a"))).toBe(request);
  expect(before.of(get("/api/agent/info?id=b"))).toBeUndefined();
  expect(before.of({ ...get("/api/agent/info?id=a"), method: "POST" })).toBeUndefined();
});

it.each(["idempotency-key", "x-request-id", "x-inline-max-bytes"])(
  "neither keeps nor knows a request with the header %s",
  (header) => {
    const before = new AskedBefore();
    const asked = get("/api/agent/info?id=a", { [header]: "1" });
    before.keep(asked, checked("a"));
    expect(before.of(get("/api/agent/info?id=a"))).toBeUndefined();
    before.keep(get("/api/agent/info?id=a"), checked("a"));
    expect(before.of(asked)).toBeUndefined();
  },
);

it("keeps no long URL, and a bounded number of others", () => {
  const before = new AskedBefore();
  const long = get(`/api/agent/info?id=${"a".repeat(API_URL_KEPT_MAX_CHARS)}`);
  before.keep(long, checked("a"));
  expect(before.of(long)).toBeUndefined();
  const urls = Array.from({ length: API_URLS_KEPT_MAX + 1 }, (_, n) => get(`/api/agent/info?id=${n}`));
  for (const url of urls) before.keep(url, checked("a"));
  const known = urls.filter((url) => before.of(url) !== undefined);
  expect(known.length).toBeLessThanOrEqual(API_URLS_KEPT_MAX);
  expect(known).toContain(urls.at(-1));
});

it("lets no request change what the next one asks", () => {
  const request = checked("a");
  new AskedBefore().keep(get("/api/agent/info?id=a"), request);
  expect(() => Object.assign(request.request.data, { id: "b" })).toThrow(TypeError);
});
