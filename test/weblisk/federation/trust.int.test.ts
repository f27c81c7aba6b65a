/** Trust is between two hubs: no path through others, and no token of another one, opens a third. */
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { signedNote } from "../../../src/weblisk/federation/declarations.ts";
import { keptToken } from "../../../src/weblisk/federation/hub-files.ts";
import { newId, send } from "../support/agent.ts";
import { type Hub, makeHub } from "../support/hub.ts";

const NAMES = ["a.example", "b.example", "c.example", "d.example"];
const PAIRS = NAMES.flatMap((one) => NAMES.flatMap((other) => (one < other ? [[one, other] as const] : [])));
const CAPABILITY = "seo:analyze";
const RUNS = 12;

const hubs = new Map<string, Hub>();
const at = (name: string): Hub => hubs.get(name)!;
beforeAll(async () => {
  for (const name of NAMES) hubs.set(name, await makeHub(name));
});
afterAll(() => {
  for (const hub of hubs.values()) hub.close();
});

/** Every token of the target that any hub holds, with a task signed by the sender or lent by the holder. */
const intrusions = async (from: Hub, to: Hub): Promise<readonly number[]> => {
  const statuses: number[] = [];
  for (const holder of hubs.values()) {
    const token = holder === to ? undefined : keptToken(holder.ground, to.hub_id)?.token;
    if (token === undefined) continue;
    const authorization = `Bearer ${token}`;
    for (const [signer, name, more] of [
      [from, from, {}],
      [from, holder, {}],
      [holder, holder, { on_behalf_of: from.hub_id }],
    ] as const) {
      const own = { hub_id: name.hub_id, url: name.url, capabilities: [CAPABILITY] };
      const content = { id: newId(), capability: CAPABILITY, inputs: { prompt: "p" }, ...more };
      const note = signedNote(signer.ground, own, to.hub_id, content);
      statuses.push((await send(to.url, "POST", "/v1/federation/task", note, { authorization })).status);
    }
  }
  return statuses;
};

it("over random graphs a hub does the tasks of those that its operator has added, and of nobody else", async () => {
  let refused = 0;
  let done = 0;
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(fc.constantFrom(...PAIRS), { minLength: 1 }), async (edges) => {
      for (const [one, other] of edges) {
        at(one).add(at(other));
        at(other).add(at(one));
        await at(one).asker.connect(other);
        await at(other).asker.connect(one);
      }
      for (const from of hubs.values())
        for (const to of hubs.values()) {
          if (from === to) continue;
          const before = to.orders.length;
          const isPeer = edges.some((edge) => edge.includes(from.hub_id) && edge.includes(to.hub_id));
          const asking = from.asker.task({
            ...{ hub_id: to.hub_id, task_id: newId(), capability: CAPABILITY, inputs: { prompt: "p" } },
          });
          if (isPeer) {
            expect((await asking).output).toEqual({ text: "p" });
            done += 1;
            continue;
          }
          await expect(asking).rejects.toMatchObject({ code: "PEER_NOT_FOUND" });
          const statuses = await intrusions(from, to);
          refused += statuses.length;
          expect(statuses.filter((status) => status !== 401 && status !== 403)).toEqual([]);
          expect(to.orders.length).toBe(before);
        }
      for (const [one, other] of edges) {
        at(one).revoke(at(other));
        at(other).revoke(at(one));
      }
    }),
    { numRuns: RUNS, seed: 20_261_127 },
  );
  expect([refused, done].every((count) => count > RUNS)).toBe(true);
});
