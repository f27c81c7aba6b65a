import { expect, it } from "vitest";
import { authorityOf, isLoopback, parseAddress } from "../../src/base/http-address.ts";

it.each([
  ["7000", "127.0.0.1:7000"],
  ["localhost:7000", "127.0.0.1:7000"],
  ["0.0.0.0:0", "0.0.0.0:0"],
  ["[::1]:80", "[::1]:80"],
  ["127.0.0.2", "127.0.0.2:7433"],
  ["::1", "[::1]:7433"],
  ["[::]", "[::]:7433"],
])("%s is %s", (text, authority) => {
  const address = parseAddress(text);
  expect(address && authorityOf(address)).toBe(authority);
});

it.each([
  "",
  "70000",
  "example.com",
  "example.com:80",
  ":80:",
  "127.0.0.1:",
  "1.2.3.4:x",
  "[::1",
  "http://127.0.0.1:80",
])("%j is no address", (text) => expect(parseAddress(text)).toBeUndefined());

it("knows the addresses of this machine alone", () => {
  expect(["127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "10.0.0.1", "::"].map(isLoopback)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
});
