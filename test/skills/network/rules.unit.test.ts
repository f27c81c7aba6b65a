/** The hosts and addresses to which a run of a skill may connect. */
import { describe, expect, it } from "vitest";
import {
  addressDenial,
  authorityOf,
  fixedAddresses,
  hostDenial,
  targetOf,
  targetOfUrl,
} from "../../../src/skills/network/rules.ts";

const named = (...hosts: string[]) => ({ named: hosts, declared: [] });
const target = (authority: string) => targetOf(authority)!;

describe("a target", () => {
  it.each([
    ["Example.COM:443", "example.com:443"],
    ["example.com.:443", "example.com:443"],
    ["127.1:80", "127.0.0.1:80"],
    ["2130706433:80", "127.0.0.1:80"],
    ["0x7f.1:8080", "127.0.0.1:8080"],
    ["[0:0:0:0:0:0:0:1]:80", "[::1]:80"],
  ])("%s is %s", (authority, canonical) => expect(authorityOf(target(authority))).toBe(canonical));

  it.each([
    ...["example.com", "example.com:", "example.com:0", "example.com:65536", ":80", "a b:80", "a/b:80"],
    ...["user@example.com:80", "example.com:80/x", "[::1", "example.com:8a", "/hosts", "a:1:2"],
  ])("%s is none", (authority) => expect(targetOf(authority)).toBeUndefined());

  it("of a URL has the port of its scheme", () => {
    expect(targetOfUrl("https://a.example/x?y")).toEqual({ host: "a.example", port: 443 });
    expect(targetOfUrl("http://a.example")).toEqual({ host: "a.example", port: 80 });
    expect(targetOfUrl("ftp://a.example")).toBeUndefined();
    expect(targetOfUrl("pets.json")).toBeUndefined();
  });
});

describe("by its name", () => {
  it.each([
    ["api.example.com:443", ["api.example.com:443"], true],
    ["api.example.com:80", ["api.example.com:443"], false],
    ["example.com:443", ["*.example.com:443"], false],
    ["a.b.example.com:443", ["*.example.com:443"], true],
    ["evilexample.com:443", ["*.example.com:443"], false],
    ["example.com.evil.net:443", ["*.example.com:443", "example.com:443"], false],
    ["10.0.0.1:80", ["*.0.0.1:80"], false],
    ["10.0.0.1:80", [], false],
  ])("%s with %j: %j", (asked, hosts, isAllowed) => {
    expect(hostDenial(target(asked), named(...hosts)) === undefined).toBe(isAllowed);
  });
});

describe("by its addresses", () => {
  const rule = (asked: string, addresses: string[], ...hosts: string[]) =>
    addressDenial(target(asked), addresses, named(...hosts), ["192.0.2.7"])?.rule;

  it("a name leads to no address of this machine, not even beside another", () => {
    expect(rule("a.example:80", ["203.0.113.1"], "a.example:80")).toBeUndefined();
    for (const bad of ["127.0.0.1", "169.254.169.254", "fd00:ec2::254", "192.0.2.7", "::ffff:127.0.0.1"])
      expect(rule("a.example:80", ["203.0.113.1", bad], "a.example:80"), bad).toBe("network_address");
  });

  it("but to one that is named itself, with its port", () => {
    expect(rule("a.example:80", ["127.0.0.1"], "a.example:80", "127.0.0.1:80")).toBeUndefined();
    expect(rule("a.example:80", ["127.0.0.1"], "a.example:80", "127.0.0.1:81")).toBe("network_address");
    expect(rule("169.254.169.254:80", ["169.254.169.254"], "169.254.169.254:80")).toBeUndefined();
    expect(rule("[::1]:80", ["::1"], "[::1]:80")).toBeUndefined();
  });

  it("localhost is this machine, without a name service, and nothing else", () => {
    expect(fixedAddresses(target("localhost:80"))).toEqual(["127.0.0.1", "::1"]);
    expect(rule("localhost:80", ["127.0.0.1", "::1"], "localhost:80")).toBeUndefined();
    expect(rule("localhost:80", ["169.254.169.254"], "localhost:80")).toBe("network_address");
  });

  it("a document names no address of this machine", () => {
    const lists = { named: [], declared: ["127.0.0.1:80", "localhost:80", "a.example:80"] };
    const denied = (asked: string, address: string) =>
      addressDenial(target(asked), [address], lists, [])?.rule;
    expect(denied("127.0.0.1:80", "127.0.0.1")).toBe("network_address");
    expect(denied("localhost:80", "127.0.0.1")).toBe("network_address");
    expect(denied("a.example:80", "203.0.113.1")).toBeUndefined();
  });
});
