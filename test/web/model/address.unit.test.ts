import { describe, expect, it } from "vitest";
import { addressOf, hostOfPath, linkTo, pathOfHost, tokenOf } from "../../../src/web/model/address.ts";

describe("an address", () => {
  it.each([
    ["", "waiting", "", {}],
    ["#/", "waiting", "", {}],
    ["#/runs?view=table&state=failed&q=", "runs", "", { view: "table", state: "failed" }],
    ["#/worker/crew%2Ffixer?tab=why", "worker", "crew/fixer", { tab: "why" }],
    ["#/worker/%E0%A4%A", "worker", "%E0%A4%A", {}],
    ["#/nothing", "waiting", "", {}],
  ])("%j", (fragment, page, id, filters) => expect(addressOf(fragment)).toEqual({ page, id, filters }));

  it("is read as it was written", () => {
    const address = { page: "worker", id: "a/b?c#d <e>", filters: { tab: "x=y&z" } } as const;
    expect(addressOf(linkTo(address.page, address.id, address.filters))).toEqual(address);
  });
});

describe("a token", () => {
  it("stands in the fragment alone", () => expect(tokenOf("#token=hft_1")).toBe("hft_1"));
  it.each(["", "#/runs?token=hft_1", "#token=", "#token=a b", `#token=${"x".repeat(300)}`])(
    "is not in %j",
    (one) => expect(tokenOf(one)).toBeUndefined(),
  );
});

describe("the path of a host", () => {
  it.each(["build", "local", "ssh://ada@box:22", "exec:docker exec -i box", "a/b?c#d %e"])(
    "is read as %j",
    (host) => expect(hostOfPath(pathOfHost(host))).toBe(host),
  );

  it.each(["/", "/hosts/", "/hosts/build", "/hosts/a/b/", "/hosts//"])("is not %j", (path) =>
    expect(hostOfPath(path)).toBeUndefined(),
  );
});
