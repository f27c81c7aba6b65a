import { expect, it } from "vitest";
import { dataOfQuery } from "../../../src/daemon/http/query.ts";
import { type RequestName, Requests } from "../../../src/protocol/requests.ts";

const read = (name: RequestName, query: string): unknown => ({
  ...dataOfQuery(name, new URLSearchParams(query)),
});

it.each<[RequestName, string, object]>([
  ["agent/list", "limit=5&labels.team=core&labels.a.b=c", { limit: 5, labels: { team: "core", "a.b": "c" } }],
  ["agent/watch", "ids=a&ids=b&follow=false&from=12", { ids: ["a", "b"], follow: false, from: 12 }],
  ["agent/watch", "from=EPOCH:12&ids=7", { from: "EPOCH:12", ids: ["7"] }],
  ["agent/info", "id=123", { id: "123" }],
])("%s of %s", (name, query, data) => {
  expect(read(name, query)).toEqual(data);
  expect(Requests[name].safeParse(data).success).toBe(true);
});

it.each<[RequestName, string]>([
  ["agent/list", "limit=many"],
  ["agent/list", "limit=1e9"],
  ["agent/watch", "follow=yes"],
  ["agent/info", "id=a&id=b"],
  ["agent/info", "id=a&__proto__=b"],
  ["agent/info", "id=a&constructor.prototype=b"],
])("%s of %s is refused by the schema", (name, query) => {
  expect(Requests[name].safeParse(read(name, query)).success).toBe(false);
});
