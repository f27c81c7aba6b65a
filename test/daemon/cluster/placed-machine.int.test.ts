/** A tombstone and the kill that follows it on the worker's own node: the order in which the node's look may find them. */
import { Effect } from "effect";
import { expect, it, onTestFinished } from "vitest";
import { bootClock } from "../../../src/daemon/cluster/kept.ts";
import { type MachineGround, PlacedMachine } from "../../../src/daemon/cluster/placed-machine.ts";
import { ObeyedTombstones } from "../../../src/daemon/cluster/tombstones.ts";
import type { PlacedWorker } from "../../../src/runtime/api.ts";
import { until } from "../../cli/support/commands.ts";

const HOUR_MS = 3_600_000;
const KILLER = { by: "user", reason: "enough" };

/** A node whose one worker has a tombstone that its next look finds. */
const nodeWith = (again: boolean) => {
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const killer = { ...KILLER, again };
  const tombstones = new ObeyedTombstones();
  const asked: string[] = [];
  const worker = {
    id: "W",
    placed: { node: "a", worker: "pip", term: 1, on_partition: "stop" },
    state: "running",
    isItself: true,
    killed_by: null as string | null,
  } satisfies PlacedWorker;
  const machine = new PlacedMachine({
    node: "a",
    store_id: "S",
    tombstones,
    runtime: {
      placed: () =>
        Effect.sync(() => {
          asked.push("look");
          return [{ ...worker }];
        }),
      kill: () =>
        Effect.sync(() => {
          asked.push("kill");
          return [];
        }),
      wait: () =>
        Effect.suspend(() => {
          asked.push("wait");
          return Effect.never;
        }),
    },
    store: { killedAt: () => Promise.resolve([{ worker: "pip", term: 1, killer }]) },
    rights: { give: () => undefined },
    signal: ended.signal,
  } as unknown as MachineGround);
  return { machine, tombstones, asked, worker, ended };
};

it("a look that finds the tombstone before the kill of this node leaves the worker to that kill, and waits for its end", async () => {
  const { machine, tombstones, asked, worker } = nodeWith(false);
  tombstones.expectKill("pip", bootClock() + HOUR_MS);
  await machine.tellOfKilled();
  await until(() => asked.filter((each) => each === "look").length > 1);
  expect(asked).not.toContain("kill");
  worker.killed_by = "user";
  await until(() => asked.includes("wait"));
  expect(asked).not.toContain("kill");
});

it.each([
  ["from another node", false, undefined],
  ["that this node expected, and that did not come", false, -HOUR_MS],
  ["which is the second one", true, HOUR_MS],
])("a look carries out a kill %s", async (_, again, expected_in_ms) => {
  const { machine, tombstones, asked } = nodeWith(again);
  if (expected_in_ms !== undefined) tombstones.expectKill("pip", bootClock() + expected_in_ms);
  await machine.tellOfKilled();
  await until(() => asked.includes("kill"));
  expect(asked).not.toContain("wait");
});

it("waits for no end that is asked about after the node has stopped", async () => {
  const { machine, ended } = nodeWith(false);
  ended.abort();
  const run = { worker: "pip", term: 1 } as Parameters<PlacedMachine["ended"]>[0];
  await expect(machine.ended(run, () => true)).rejects.toThrow();
});
