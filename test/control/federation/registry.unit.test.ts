/** Peers, their tiers, and what each tier may do. */
import { expect, it } from "vitest";
import { FINGERPRINT_TASKS_MIN, PEERS_MAX } from "../../../src/base/limits.ts";
import { ENDPOINT_TIERS, reaches, taskTier } from "../../../src/control/federation/access.ts";
import {
  decideKeyChange,
  decideMeet,
  decideRevoke,
  decideTrust,
  termsOf,
} from "../../../src/control/federation/registry.ts";
import { PEER_TIERS } from "../../../src/protocol/words.ts";
import { HOUR, keyOf, Registry, TERMS } from "./support.ts";

const tierOf = (hub: Registry, name: string) => hub.peers.get(name)?.tier;

/** A peer that has answered well, for a day. */
const verified = (): Registry => {
  const hub = new Registry().add("b").meet("b");
  for (let n = 0; n < FINGERPRINT_TASKS_MIN; n += 1) {
    if (n === FINGERPRINT_TASKS_MIN - 1) hub.wall_ms += 24 * HOUR;
    hub.ask("b", `t${n}`, { direction: "out" });
    hub.end("b", `t${n}`, { direction: "out" });
  }
  return hub;
};

it("is anonymous until the handshake, then known", () => {
  const hub = new Registry().add("b");
  expect(tierOf(hub, "b")).toBe("anonymous");
  expect(hub.ask("b", "t")).toMatchObject({ code: "PEER_UNTRUSTED" });
  expect(tierOf(hub.meet("b"), "b")).toBe("known");
  expect(hub.ask("b", "t")).toBeUndefined();
});

it("gives a stranger nothing", () => {
  expect(() => new Registry().meet("b")).toThrow("no peer");
});

it("holds at most so many peers", () => {
  const hub = new Registry();
  for (let n = 0; n < PEERS_MAX; n += 1) hub.add(`h${n}`);
  expect(() => hub.add("more")).toThrow("peers already");
  expect(hub.add("h0").peers.size).toBe(PEERS_MAX);
});

it("holds the address that the operator agreed to, and the key", () => {
  const hub = new Registry().add("b").meet("b");
  hub.wall_ms += 1_000;
  expect(() => hub.meet("b", [], keyOf("other"))).toThrow("another key");
  const moved = decideMeet(
    hub.peers.get("b"),
    "b",
    {
      public_key: keyOf("b"),
      algorithm: "Ed25519",
      url: "http://evil",
      capabilities: [],
      timestamp: 2_000_000_000,
      session: "s",
    },
    hub.deciding(),
  );
  expect(hub.take(moved)).toMatchObject([{ payload: { url: "http://b" } }]);
});

it("does not go back to an older declaration, and takes the same one as a repeat", () => {
  const hub = new Registry().add("b").meet("b");
  const session = hub.peers.get("b")?.session;
  hub.meet("b", ["seo:analyze"]);
  expect(() => new Registry().add("b").meet("b").meet("b", ["other:one"])).toThrow("timestamp");
  hub.wall_ms -= 1_000;
  expect(() => hub.meet("b")).toThrow("timestamp");
  expect(hub.peers.get("b")?.session).toBe(session);
});

it("verifies after enough good tasks and time, and not before", () => {
  const hub = verified();
  expect(tierOf(hub, "b")).toBe("verified");
  const young = new Registry().add("b").meet("b");
  for (let n = 0; n < 50; n += 1) {
    young.ask("b", `t${n}`, { direction: "out" });
    young.end("b", `t${n}`, { direction: "out" });
  }
  expect(tierOf(young, "b")).toBe("known");
});

it("loses the tier by failures only beyond the second bound, and by new capabilities or a new key at once", () => {
  const hub = verified();
  const fail = (n: number) => {
    hub.ask("b", `f${n}`, { direction: "out" });
    hub.end("b", `f${n}`, { direction: "out", status: "failed" });
  };
  fail(1);
  fail(2);
  expect(tierOf(hub, "b")).toBe("verified");
  fail(3);
  expect(tierOf(hub, "b")).toBe("known");
  const changed = verified();
  changed.wall_ms += 1_000;
  expect(tierOf(changed.meet("b", ["seo:analyze", "more:rights"]), "b")).toBe("known");
  const rekeyed = verified();
  const change = { old_public_key: keyOf("b"), public_key: keyOf("c"), algorithm: "Ed25519" as const };
  rekeyed.take(decideKeyChange(rekeyed.peers.get("b"), "b", change, rekeyed.deciding()));
  expect(rekeyed.peers.get("b")).toMatchObject({ tier: "known", public_key: keyOf("c") });
});

it("finds answers odd that have other members, or take far longer", () => {
  const hub = verified();
  for (let n = 0; n < 3; n += 1) {
    hub.ask("b", `o${n}`, { direction: "out" });
    if (n > 0) hub.wall_ms += 10_000;
    hub.end("b", `o${n}`, { direction: "out", fields: n === 0 ? ["other"] : [] });
  }
  expect(hub.peers.get("b")).toMatchObject({ tier: "known", fingerprint: { recent: /ooo$/ } });
});

it("is trusted by the operator alone, and only once it is verified", () => {
  const hub = new Registry().add("b").meet("b");
  expect(decideTrust(hub.peers.get("b"), "b", hub.deciding())).toMatchObject({ code: "PEER_UNTRUSTED" });
  const good = verified();
  good.take(decideTrust(good.peers.get("b"), "b", good.deciding()));
  expect(tierOf(good, "b")).toBe("trusted");
  expect(good.ask("b", "own", { on_behalf_of: "b" })).toBeUndefined();
  expect(verified().ask("b", "own", { on_behalf_of: "b" })).toMatchObject({ code: "PEER_UNTRUSTED" });
});

it("is gone at once when it is revoked", () => {
  const hub = verified();
  hub.take(decideRevoke(hub.peers.get("b"), "b", "no reason", hub.deciding()));
  expect(hub.ask("b", "t")).toMatchObject({ code: "PEER_NOT_FOUND" });
  expect(tierOf(hub.add("b"), "b")).toBe("anonymous");
});

const REACHES = {
  anonymous: [1, 1, 1, 1],
  known: [0, 1, 1, 1],
  verified: [0, 0, 1, 1],
  trusted: [0, 0, 0, 1],
};

it.each(Object.entries(ENDPOINT_TIERS))("%s is for the tier %s and those above", (_, lowest) => {
  expect(PEER_TIERS.map((tier) => Number(reaches(tier, lowest)))).toEqual(REACHES[lowest]);
});

it("anybody reaches health and listing, and no task", () => {
  const open = Object.entries(ENDPOINT_TIERS).flatMap(([name, tier]) => (tier === "anonymous" ? [name] : []));
  expect(open).toEqual(["health", "federation/manifest", "federation/peer", "federation/peer-accept"]);
});

it.each([
  ["seo:analyze", false, "known"],
  ["agent:message", false, "verified"],
  ["workflow:execute", false, "verified"],
  ["realtime:publish", false, "verified"],
  ["seo:analyze", true, "trusted"],
] as const)("%s, as a delegate: %s, needs %s", (capability, isDelegate, tier) => {
  expect(taskTier(capability, isDelegate)).toBe(tier);
});

it("has the terms of the configuration, and no others beside them", () => {
  const written = { ...TERMS, rate_limit: 7, trust_tier: "known" as const };
  expect(termsOf("b", {}, { b: written })).toEqual({ ...written, source: "configuration" });
  expect(termsOf("b", { rate_limit: 8 }, { b: written })).toMatchObject({ code: "INVALID_REQUEST" });
  expect(termsOf("b", { rate_limit: 8 }, {})).toEqual({ ...TERMS, shared_capabilities: [], rate_limit: 8 });
  expect(termsOf("constructor", {}, {})).toMatchObject({ rate_limit: 100 });
  const agreed = { ...TERMS, data_boundary: { ...TERMS.data_boundary, deny_fields: ["email"] } };
  expect(termsOf("b", { shared_capabilities: ["a:b"] }, {}, agreed)).toMatchObject({
    shared_capabilities: ["a:b"],
    data_boundary: { deny_fields: ["email"] },
  });
  expect(termsOf("b", { data_boundary: { retention: "1h" } }, {}, agreed)).toMatchObject({
    data_boundary: { deny_fields: ["email"], retention: "1h" },
  });
  expect(termsOf("b", {}, null, agreed)).toMatchObject({ code: "INVALID_STATE" });
});

it("stays known where the configuration says so, however good it is, and loses more than that", () => {
  const hub = verified();
  expect(tierOf(hub, "b")).toBe("verified");
  hub.add("b", { trust_tier: "known" });
  expect(tierOf(hub, "b")).toBe("known");
  hub.ask("b", "later", { direction: "out" });
  hub.end("b", "later", { direction: "out" });
  expect(tierOf(hub, "b")).toBe("known");
  expect(decideTrust(hub.peers.get("b"), "b", hub.deciding())).toMatchObject({ code: "PEER_UNTRUSTED" });
  hub.add("b", { trust_tier: "verified" });
  hub.ask("b", "last", { direction: "out" });
  hub.end("b", "last", { direction: "out" });
  expect(tierOf(hub, "b")).toBe("verified");
});
