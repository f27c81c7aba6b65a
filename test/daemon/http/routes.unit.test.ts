import { expect, it } from "vitest";
import { isRead, routeOf } from "../../../src/daemon/http/routes.ts";
import { type RequestName, Requests } from "../../../src/protocol/requests.ts";

const names = Object.keys(Requests) as RequestName[];

it.each(names)("%s has a path, for POST always and for GET if it changes nothing", (name) => {
  expect(routeOf("POST", `/api/${name}`)).toEqual({ to: "request", name, from: "body" });
  const get = routeOf("GET", `/api/${name}`);
  if (isRead(name)) expect(get).toEqual({ to: "request", name, from: "query" });
  else expect(get).toMatchObject({ to: "nothing", allow: "POST" });
});

it.each([
  ["/api/events", "events"],
  ["/api/openapi.json", "openapi"],
  ["/metrics", "metrics"],
  ["/healthz", "health"],
  [`/api/artifacts/sha256:${"0".repeat(64)}`, "artifact"],
])("%s is read", (path, to) => {
  expect(routeOf("GET", path)).toMatchObject({ to });
  expect(routeOf("DELETE", path)).toMatchObject({ to: "nothing", allow: "GET" });
});

it.each([
  "/",
  "/api",
  "/api/",
  "/api/agent",
  "/api/agent/list/",
  "//api/agent/list",
  "/api/agent//list",
  "/api/./agent/list",
  "/api/agent/../agent/list",
  "/api/agent%2flist",
  "/API/agent/list",
  "/api/agent/list\0",
  "/api/__proto__/x",
  "__proto__",
  "/api/artifacts/sha256:zz",
  "/api/artifacts/../../etc/passwd",
])("%j is nothing", (path) => expect(routeOf("GET", path)).toMatchObject({ to: "nothing" }));

it("names the command that was meant", () =>
  expect(routeOf("GET", "/api/agent/lsit")).toMatchObject({
    error: { info: { suggestion: "Did you mean /api/agent/list?" } },
  }));
