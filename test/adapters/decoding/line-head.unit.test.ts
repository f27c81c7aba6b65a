/** The values in the beginning of a line of JSON, wherever it is cut. */
import { expect, test } from "vitest";
import { objectOfHead } from "../../../src/adapters/decoding/line-head.ts";

test.each([
  [
    '{"id":12,"method":"a/b","params":{"id":3,"x":[1,{"method":"no"}]},"jsonrpc":"2.',
    { id: 12, method: "a/b", params: { id: 3, x: [1, { method: "no" }] } },
  ],
  [
    '{ "request_id" : "q\\"1" , "ok":true,"none":null,"request":{"a',
    { request_id: 'q"1', ok: true, none: null, request: {} },
  ],
  ['{"params":{"x":"}{\\"id\\":4"},"id":5,"rest":"', { params: { x: '}{"id":4' }, id: 5 }],
  ['{"a":{"b":[1,"two",[tr', { a: { b: [1, "two", []] } }],
  ['{"a":{"__proto__":{"b":1},"c":2}},', { a: { ["__proto__"]: { b: 1 }, c: 2 } }],
  ['{"id":1}{"id":2}', { id: 1 }],
  ['{"id":1}', { id: 1 }],
  ['{"id":12', {}],
  ['{"id":12e,"a":x,"b":1,', { b: 1 }],
  ['["id",1,{"id":2},', {}],
  ["\0\0\0", {}],
  ["", {}],
  ["a line of words, with: a colon,", {}],
])("%j has %j", (head, fields) => {
  expect(objectOfHead(head)).toEqual(fields);
});

test("a whole object cut at every place never tells what it does not say", () => {
  const whole = { jsonrpc: "2.0", id: 1_234, method: "session/request_permission", params: { id: "x" } };
  const json = JSON.stringify(whole);
  for (let end = 0; end <= json.length; end += 1)
    for (const [key, value] of Object.entries(objectOfHead(json.slice(0, end))))
      if (typeof value === "object") expect([{}, whole.params]).toContainEqual(value);
      else expect(value).toBe(whole[key as keyof typeof whole]);
});
