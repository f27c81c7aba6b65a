/** Nodes on networks of their own, of which one is cut: silently, both ways or one way, and with what was under way arriving later. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../../cli/support/commands.ts";
import { TestPostgres } from "../../support/postgres.ts";
import { ClusterOfMachines } from "./support/machines.ts";
import { CUTS, Networks } from "./support/networks.ts";
import { copiesIn } from "./support/tables.ts";

const NODES = ["a", "b"];

describe.runIf(Networks.canBeMade)("a machine whose network is cut", () => {
  let networks: Networks;
  let postgres: TestPostgres;
  let cluster: ClusterOfMachines;
  let url: string;
  beforeAll(async () => {
    networks = await Networks.make(NODES);
    postgres = await TestPostgres.start(networks.address);
    url = await postgres.database("networks");
    const there = url.replace("localhost", networks.address);
    const daemons = Object.fromEntries(NODES.map((name) => [name, { enter: networks.enter(name) }]));
    cluster = await ClusterOfMachines.start(
      () => `${there}?sslmode=disable`,
      NODES,
      () => [],
      daemons,
    );
    const [first] = cluster.machines;
    await first!.agent(...cluster.canary("stops", "--on-partition", "stop"));
    await first!.agent(...cluster.canary("goes-on", "--on-partition", "continue"));
  });
  afterAll(async () => {
    await cluster?.close();
    await postgres?.remove();
    networks?.close();
  });

  it.each(CUTS)(
    "(%s) has nothing left that stops, which runs elsewhere; what goes on does so",
    async (cut) => {
      const machine = await cluster.placed("stops");
      const other = cluster.machines.find((each) => each !== machine)!;
      const goesOn = await cluster.placed("goes-on");
      const pid = await cluster.pidOn(goesOn, "goes-on");
      networks.cut(machine.name, cut);
      await until(async () => (await cluster.listed(other, "stops")) !== undefined);
      expect(await cluster.listed(machine, "stops")).toBeUndefined();
      networks.mend(machine.name, cut);
      for (const each of cluster.machines) await until(() => cluster.holdsLease(each));
      expect(await cluster.pidOn(goesOn, "goes-on")).toBe(pid);
      expect(cluster.overlaps).toEqual([]);
      for (const each of cluster.machines) await until(() => cluster.isCopied(each));
      for (const { copied_to, records } of await copiesIn(url)) expect(records).toBe(copied_to);
    },
  );
});
