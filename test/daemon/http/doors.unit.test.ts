import { describe, expect, it } from "vitest";
import { bearerOf, refusalOf } from "../../../src/daemon/http/doors.ts";

const doorOf = (
  headers: Readonly<Record<string, string>>,
  { url = "/api/agent/list", host = "127.0.0.1", hosts = [] as readonly string[] } = {},
): unknown =>
  refusalOf({ method: "GET", url, headers }, { address: { host, port: 7433 }, hosts })?.info.details?.door;

describe("the host", () => {
  it.each(["127.0.0.1:7433", "localhost:7433", "LOCALHOST:7433"])("%s is this server", (host) =>
    expect(doorOf({ host })).toBeUndefined(),
  );
  it.each([
    "evil.example:7433",
    "127.0.0.1",
    "127.0.0.1:80",
    "127.0.0.1.evil.example:7433",
    "10.0.0.1:7433",
    "",
    "[::1",
  ])("%j is another one", (host) => expect(doorOf({ host })).toBe("host"));
  it("must be there", () => expect(doorOf({})).toBe("host"));
  it("may be any IP address, and no name, at a wildcard address", () => {
    expect(doorOf({ host: "10.0.0.1:7433" }, { host: "0.0.0.0" })).toBeUndefined();
    expect(doorOf({ host: "evil.example:7433" }, { host: "0.0.0.0" })).toBe("host");
  });
  it("may be a name that the configuration has", () => {
    const hosts = ["box.example"];
    expect(doorOf({ host: "box.example" }, { hosts })).toBeUndefined();
    expect(doorOf({ host: "box.example:7433" }, { hosts })).toBe("host");
  });
});

describe("the origin", () => {
  const host = "127.0.0.1:7433";
  it("may be the server's own", () => {
    expect(doorOf({ host, origin: "http://127.0.0.1:7433" })).toBeUndefined();
    expect(
      doorOf({ host, origin: "http://127.0.0.1:7433", "sec-fetch-site": "same-origin" }),
    ).toBeUndefined();
  });
  it.each([
    "http://evil.example",
    "null",
    "http://127.0.0.1:7434",
    "http://127.0.0.1:7433.evil.example",
    "file://",
  ])("may not be %s", (origin) => expect(doorOf({ host, origin })).toBe("origin"));
  it.each(["cross-site", "same-site"])("may not be %s", (site) =>
    expect(doorOf({ host, "sec-fetch-site": site })).toBe("origin"),
  );
});

describe("a visit from a page of another site", () => {
  const visit = {
    host: "127.0.0.1:7433",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "sec-fetch-dest": "document",
  };
  it("may open the dashboard", () => expect(doorOf(visit, { url: "/?from=chat" })).toBeUndefined());
  it("may open nothing else, and in no frame", () => {
    expect(doorOf(visit, { url: "/api/agent/list" })).toBe("origin");
    expect(doorOf({ ...visit, "sec-fetch-dest": "iframe" }, { url: "/" })).toBe("origin");
    expect(doorOf({ ...visit, "sec-fetch-mode": "cors" }, { url: "/" })).toBe("origin");
    expect(doorOf({ ...visit, origin: "http://evil.example", "sec-fetch-mode": "cors" }, { url: "/" })).toBe(
      "origin",
    );
  });
});

describe("a secret", () => {
  const host = "127.0.0.1:7433";
  it.each(["token", "access_token", "TOKEN", "secret", "api_key", "authorization"])(
    "is refused in a URL as %s",
    (name) => expect(doorOf({ host }, { url: `/api/events?after=0&${name}=x` })).toBe("secret_in_url"),
  );
  it("is nothing that a parameter of a request is called", () =>
    expect(doorOf({ host }, { url: "/api/agent/list?idempotency_key=x&labels.tokens=1" })).toBeUndefined());
  it.each([
    ["Bearer hft_1", "hft_1"],
    ["bearer  hft_1 ", "hft_1"],
    ["Basic aHVudGVyMg==", undefined],
    ["Bearer", undefined],
    ["Bearer a b", undefined],
  ])("of %j is %j", (authorization, secret) => expect(bearerOf({ authorization })).toBe(secret));
});
