import { expect, it } from "vitest";
import { connectHosts, type HostCalls } from "../../src/library/hosts.ts";

const asking = (...holds: readonly object[]): HostCalls =>
  ({ inbox: async () => ({ holds }), status: async () => ({}), close: async () => undefined }) as never;

it("a question of a whole cluster is one row of all hosts, and those of two clusters are two", async () => {
  const ofCluster = { id: "lost:placement", shared_id: "1" };
  const runtimes = new Map([
    ["local", asking({ id: "x:stall" }, ofCluster)],
    ["exec:b", asking({ id: "x:stall" }, ofCluster, { ...ofCluster, shared_id: "2" })],
  ]);
  const hosts = await connectHosts(
    { hosts: [...runtimes.keys()] },
    async ({ host = "local" }) => runtimes.get(host as string)!,
  );
  expect((await hosts.inbox()).rows).toEqual([
    { id: "x:stall", host: "local" },
    { ...ofCluster, host: "local" },
    { id: "x:stall", host: "exec:b" },
    { ...ofCluster, shared_id: "2", host: "exec:b" },
  ]);
});
