/** The guard of addresses: a name is resolved once, and nothing of this machine or of a private network is reached unasked. */
import { describe, expect, it } from "vitest";
import { ForbiddenAddressError, pinnedAddress } from "../../src/base/pinned-address.ts";

const at = (url: string, found: readonly string[], isPrivateAllowed = false) => {
  let asked = 0;
  const resolve = async () => {
    asked += 1;
    return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return pinnedAddress(
    new URL(url),
    { isPrivateAllowed, allowedBy: "private: true", own: ["93.184.216.40"] },
    resolve,
  ).then((pinned) => ({
    ...pinned,
    asked,
  }));
};

describe("by default", () => {
  it("a public address is pinned, after one question", async () =>
    expect(await at("https://hooks.example/x", ["93.184.216.34"])).toEqual({
      address: "93.184.216.34",
      family: 4,
      asked: 1,
    }));
  it.each([
    "127.0.0.1",
    "::1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "169.254.169.254",
    "fe80::1",
    "fd00::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "93.184.216.40",
    "0.0.0.0",
  ])("a name of %s is refused", (address) =>
    expect(at("https://hooks.example/", [address])).rejects.toThrow(ForbiddenAddressError),
  );
  it("one bad address among good ones is enough", () =>
    expect(at("https://hooks.example/", ["93.184.216.34", "127.0.0.1"])).rejects.toThrow(
      ForbiddenAddressError,
    ));
  it.each([
    "http://127.0.0.1:1/",
    "http://[::1]/",
    "http://0x7f.1/",
    "http://2130706433/",
    "http://[::ffff:a00:1]/",
  ])("%s is refused without a question", (url) =>
    expect(at(url, [])).rejects.toThrow(/an address of this machine or of a private network; private: true/),
  );
});

it("the refusal says of a name where it leads, and of an address what it is", async () => {
  await expect(at("https://hooks.example/", ["10.1.2.3"])).rejects.toThrow(
    /^hooks.example leads to 10.1.2.3, an address of/,
  );
  await expect(at("http://169.254.169.254/", [], true)).rejects.toThrow(
    "169.254.169.254 is an address to which nothing may connect.",
  );
});

describe("with private: true", () => {
  it.each(["127.0.0.1", "10.1.2.3", "192.168.1.1", "93.184.216.40"])("%s is allowed", async (address) =>
    expect((await at("http://box.local/", [address], true)).address).toBe(address),
  );
  it.each(["169.254.169.254", "fd00:ec2::254", "169.254.1.1", "224.0.0.1"])(
    "%s is refused all the same",
    (address) => expect(at("http://box.local/", [address], true)).rejects.toThrow(ForbiddenAddressError),
  );
});

it("a name without an address fails, and may be tried again", () =>
  expect(at("https://hooks.example/", [])).rejects.not.toThrow(ForbiddenAddressError));
