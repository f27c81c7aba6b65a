/** Nodes whose wall clocks are an hour ahead and an hour behind: no clocks of two machines are compared. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { type ClusterMachine, ClusterOfMachines } from "./support/machines.ts";
import { copiesIn } from "./support/tables.ts";

const HOUR_MS = 3_600_000;
const SHIFTS: Readonly<Record<string, number>> = { ahead: HOUR_MS, right: 0, behind: -HOUR_MS };
const ELSEWHERE_WITHIN_MS = 20_000;

let postgres: TestPostgres;
let cluster: ClusterOfMachines;
let url: string;
beforeAll(async () => {
  postgres = await TestPostgres.start();
  url = await postgres.database("clocks");
  cluster = await ClusterOfMachines.start(
    () => url,
    Object.keys(SHIFTS),
    (machine) => (machine.name === "right" ? [] : ["--label", "clock=wrong"]),
    Object.fromEntries(Object.entries(SHIFTS).map(([name, shift_ms]) => [name, { shift_ms }])),
  );
});
afterAll(async () => {
  await cluster?.close();
  await postgres?.remove();
});

interface Status {
  readonly self: { readonly holds_lease: boolean; readonly copy: { readonly behind: number | null } };
  readonly nodes: readonly { readonly name: string; readonly state: string; readonly beat_age_ms: number }[];
}
const statusOf = async (machine: ClusterMachine): Promise<Status> =>
  (await machine.agent("cluster", "status")).data as unknown as Status;

const shiftOf = async (machine: ClusterMachine): Promise<number> => {
  const { started_at } = (await machine.agent("daemon", "status")).data;
  const hours = Math.round((Date.parse(String(started_at)) - Date.now()) / HOUR_MS);
  return hours * HOUR_MS + 0;
};

it("they hold their leases, take over from each other at once, and copy all", async () => {
  const right = cluster.machines.find(({ name }) => name === "right")!;
  for (const machine of cluster.machines) {
    expect(await shiftOf(machine)).toBe(SHIFTS[machine.name]);
    const { self, nodes } = await statusOf(machine);
    expect(self.holds_lease).toBe(true);
    expect(nodes.map(({ state }) => state)).toEqual(["active", "active", "active"]);
    for (const { beat_age_ms } of nodes) expect(beat_age_ms).toBeLessThan(HOUR_MS / 2);
  }
  const names = ["ahead", "behind"];
  for (const name of names) {
    const flags = ["--where", "clock=wrong", "--timeout", "30m"];
    await right.agent(...cluster.canary(name, ...flags));
    await cluster.placed(name);
  }
  // Each machine with a wrong clock gives its workers to the other one.
  for (const name of names) {
    const lost = cluster.machines.find((machine) => machine.name === name)!;
    cluster.powerOff(lost);
    const since = performance.now();
    await until(() => names.every((bird) => cluster.sings(bird)));
    expect(performance.now() - since).toBeLessThan(ELSEWHERE_WITHIN_MS);
    await lost.agent("daemon", "start");
    await until(async () => (await statusOf(lost)).self.holds_lease);
    expect(cluster.overlaps).toEqual([]);
  }
  // Both were on one machine before the second loss, so each has moved.
  expect(names.map((bird) => cluster.starts(bird)).every((starts) => starts > 1)).toBe(true);
  await until(async () =>
    (await Promise.all(cluster.machines.map(statusOf))).every(({ self }) => self.copy.behind === 0),
  );
  const copied = await copiesIn(url);
  expect(copied).toHaveLength(cluster.machines.length);
  for (const { copied_to, records } of copied) expect(records).toBe(copied_to);
});
