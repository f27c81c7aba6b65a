/** The machine of a node on which nothing is placed yet: there is nothing to search for, to stop or to wait for. */
import { randomUUID } from "node:crypto";
import type { KeptMembership, NodeMachine } from "../../cluster/node/machine.ts";
import { bootClock } from "./kept.ts";

const nothing = () => Promise.resolve();

export const machineKeeping = (keep: (kept: KeptMembership) => void): NodeMachine => ({
  now: bootClock,
  newSession: randomUUID,
  keep,
  sweep: nothing,
  launch: () => Promise.reject(new Error("This Holdfast starts no worker of a cluster yet.")),
  ended: nothing,
  stop: nothing,
  stopAll: nothing,
  copied: nothing,
});
