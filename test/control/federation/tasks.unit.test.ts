/** Federated tasks: who may ask for one, how often, how many at once; and trust that is not handed on. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { FEDERATED_TASK_MAX_MS, FEDERATED_TASKS_MAX } from "../../../src/base/limits.ts";
import { HOUR, Registry } from "./support.ts";

const met = () => new Registry().add("b").meet("b");

it("shares what was agreed, and nothing else", () => {
  const hub = met();
  expect(hub.ask("b", "t1", { capability: "legal:review" })).toMatchObject({ code: "CAPABILITY_DENIED" });
  expect(hub.ask("b", "t2", { direction: "out", capability: "legal:review" })).toMatchObject({
    code: "CAPABILITY_DENIED",
  });
  expect(hub.ask("b", "t3")).toBeUndefined();
});

it("takes 100 requests in an hour, refuses number 101, and slides", () => {
  const hub = met();
  const start = hub.wall_ms;
  for (let n = 0; n < 100; n += 1) {
    hub.wall_ms = start + n * 1_000;
    expect(hub.ask("b", `t${n}`)).toBeUndefined();
    hub.end("b", `t${n}`);
  }
  const refused = hub.ask("b", "t100");
  expect(refused).toMatchObject({ code: "RATE_LIMITED", info: { retry_after_s: HOUR / 1_000 - 99 } });
  hub.wall_ms = start + HOUR - 1;
  expect(hub.ask("b", "t100")).toBeDefined();
  hub.wall_ms = start + HOUR;
  expect(hub.ask("b", "t100")).toBeUndefined();
  expect(hub.ask("b", "t101")).toBeDefined();
});

it("runs 20 at once, and an unanswered one does not count for ever", () => {
  const hub = met();
  for (let n = 0; n < FEDERATED_TASKS_MAX; n += 1) expect(hub.ask("b", `t${n}`)).toBeUndefined();
  expect(hub.ask("b", "more")).toMatchObject({ code: "RATE_LIMITED" });
  hub.end("b", "t0");
  expect(hub.ask("b", "more")).toBeUndefined();
  hub.wall_ms += FEDERATED_TASK_MAX_MS;
  expect(hub.ask("b", "later")).toBeUndefined();
  expect(hub.peers.get("b")?.open).toHaveLength(1);
});

it("admits a task once, and no other one with its id", () => {
  const hub = met();
  hub.ask("b", "t");
  expect(hub.ask("b", "t")).toBeUndefined();
  expect(hub.peers.get("b")?.admitted).toHaveLength(1);
  expect(hub.ask("b", "t", { digest: "other" })).toMatchObject({ code: "ALREADY_EXISTS" });
});

it("settles a task once", () => {
  const hub = met();
  hub.ask("b", "t");
  expect(hub.end("b", "t")).toHaveLength(1);
  expect(hub.end("b", "t")).toEqual([]);
});

it("tells the same refusal once in a minute", () => {
  const hub = met();
  const told = () => Object.keys(hub.peers.get("b")?.refused ?? {}).length;
  const recent = () => hub.peers.get("b")?.fingerprint.recent.length;
  for (let n = 0; n < 50; n += 1) hub.ask("b", `t${n}`, { capability: "x:y" });
  expect([told(), recent()]).toEqual([1, 1]);
  hub.wall_ms += 60_000;
  hub.ask("b", "t", { capability: "x:y" });
  expect(recent()).toBe(2);
});

it("passes no task of a peer on to another one", () => {
  expect(met().ask("b", "t", { direction: "out", is_federated: true })).toMatchObject({
    code: "PEER_UNTRUSTED",
  });
});

it("hands no trust on: a hub is answered by those alone that agreed with it, in no other's name", () => {
  const hubs = ["a", "b", "c", "d", "e"] as const;
  const pair = fc.tuple(fc.constantFrom(...hubs), fc.constantFrom(...hubs));
  const claim = fc.tuple(pair, fc.option(fc.constantFrom(...hubs), { nil: undefined }));
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 12 }), fc.array(claim, { maxLength: 20 }), (edges, claims) => {
      const registries = new Map(hubs.map((hub) => [hub, new Registry()]));
      for (const [from, to] of edges) registries.get(from)?.add(to).meet(to);
      claims.forEach(([[asker, asked], on_behalf_of], n) => {
        const refused = registries.get(asked)?.ask(asker, `t${n}`, { on_behalf_of });
        const isDirect = edges.some(([from, to]) => from === asked && to === asker);
        // Nobody here is trusted, so that nobody is a delegate.
        expect(refused === undefined).toBe(isDirect && on_behalf_of === undefined);
      });
    }),
    { numRuns: 200 },
  );
});
