/** POST federation/notify: a hub tells of a change of itself (weblisk.txt, Peering Handshake, step 5: "capability stability"). */
import { afterEach, expect, it } from "vitest";
import { FEDERATION_NOTES_MAX, FINGERPRINT_TASKS_MIN } from "../../../src/base/limits.ts";
import { signedNote } from "../../../src/weblisk/federation/declarations.ts";
import { newId, send } from "../support/agent.ts";
import { type Hub, makeHub } from "../support/hub.ts";

const opened: Hub[] = [];
afterEach(() => {
  for (const one of opened.splice(0)) one.close();
});

const met = async (): Promise<readonly [Hub, Hub]> => {
  const [a, b] = [await makeHub("a.example"), await makeHub("b.example")];
  opened.push(a, b);
  a.add(b);
  b.add(a);
  await a.asker.connect("b.example");
  return [a, b];
};

const noteOf = (from: Hub, content: object, audience = "b.example") =>
  signedNote(from.ground, { hub_id: from.hub_id }, audience, content as Record<string, unknown>);
const tell = (to: Hub, note: object) => send(to.url, "POST", "/v1/federation/notify", note);
const tierAt = (hub: Hub) => hub.registry.peers.get("a.example")?.tier;

/** Hub b trusts hub a by what it did for a day. */
const verified = async (): Promise<readonly [Hub, Hub]> => {
  const [a, b] = await met();
  for (let n = 0; n < FINGERPRINT_TASKS_MIN; n += 1) {
    if (n === FINGERPRINT_TASKS_MIN - 1)
      for (const { registry } of [a, b]) registry.wall_ms += 24 * 3_600_000;
    await a.asker.task({
      ...{ hub_id: "b.example", task_id: newId(), capability: "seo:analyze" },
      inputs: { prompt: "p" },
    });
  }
  expect(tierAt(b)).toBe("verified");
  return [a, b];
};

it.each([
  ["benign", "verified"],
  ["notable", "verified"],
  ["breaking", "known"],
  ["critical", "known"],
])("a %s change leaves a verified hub %s, and is in the trail", async (change, tier) => {
  const [a, b] = await verified();
  const reply = await tell(b, noteOf(a, { change, capability: "seo:analyze" }));
  expect(reply).toMatchObject({ status: 200, body: { status: "accepted", tier } });
  expect(tierAt(b)).toBe(tier);
  expect(b.trail).toContainEqual(
    expect.objectContaining({
      ...{ actor: "a.example", target: "a.example", action: "peer.notify", status: "ok" },
      detail: { change, capability: "seo:analyze" },
    }),
  );
  // A hub that was taken back earns its tier anew: one more good task is not enough.
  await a.asker.task({
    ...{ hub_id: "b.example", task_id: newId(), capability: "seo:analyze" },
    inputs: { prompt: "p" },
  });
  expect(tierAt(b)).toBe(tier);
});

it("is taken once, of a known hub, for this one, signed by its key, in words that there are", async () => {
  const [a, b] = await met();
  const c = await makeHub("c.example");
  opened.push(c);
  const note = noteOf(a, { change: "notable" });
  expect((await tell(b, note)).status).toBe(200);
  expect(await tell(b, note)).toMatchObject({ status: 401, body: { detail: { reason: "nonce_seen" } } });
  expect(await tell(b, noteOf(a, { change: "notable" }, "c.example"))).toMatchObject({
    status: 401,
    body: { detail: { reason: "audience_other" } },
  });
  expect(await tell(b, { ...noteOf(a, { change: "benign" }), change: "critical" })).toMatchObject({
    status: 401,
    body: { detail: { reason: "hub_signature" } },
  });
  expect(await tell(b, noteOf(a, { change: "huge" }))).toMatchObject({
    status: 400,
    body: { code: "INVALID_REQUEST" },
  });
  expect(await tell(b, noteOf(c, { change: "benign" }))).toMatchObject({
    status: 403,
    body: { code: "PEER_UNTRUSTED" },
  });
  expect(b.trail.filter(({ action }) => action === "peer.notify")).toHaveLength(1);
});

it("is not taken of a hub that is added, and was not met", async () => {
  const [a, b] = await met();
  b.revoke(a);
  b.add(a);
  expect((await tell(b, noteOf(a, { change: "critical" }))).status).toBeGreaterThanOrEqual(401);
  expect(b.trail.some(({ action }) => action === "peer.notify")).toBe(false);
});

it("is limited to so many in a minute", async () => {
  const [a, b] = await met();
  const replies = [];
  for (let n = 0; n <= FEDERATION_NOTES_MAX; n += 1)
    replies.push(await tell(b, noteOf(a, { change: "benign" })));
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get("retry-after")).toMatch(/^\d+$/);
});
