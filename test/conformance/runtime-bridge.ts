/** The runtime document's boundaries of an external runtime: methods, sockets, ownership, hand-off of the tool policy. */
import type { Contract } from "./contract.ts";

const link = "adapters/bridge/link.int";
const sentences: Contract["sentences"] = {
  Ownership: [
    {
      says: "adapters execute work and own no truth: an end stays an end",
      done: ["RunFiles", "adapters/bridge/run-files"],
      held: ["cannot reopen a run that has ended", "adapters/bridge/sins.int"],
    },
    {
      says: "an external runtime is used only where it is configured",
      done: ["bridgeMakerOf", "adapters/bridge/maker"],
      held: ["refuses a runtime that is not there, and one that could not be made", "cli/runtimes.e2e"],
    },
    {
      says: "runtime facts are reconciled into records: one end of each worker",
      done: ["BridgeSpawner", "adapters/bridge/spawner"],
      held: [
        "is lost, once, with a bridge that is killed; status, doctor and why say that it is down, and what to do",
        "cli/bridge.e2e",
      ],
    },
  ],
  "Runtime boundaries": [
    {
      says: "`runtime.start_agent`, `runtime.spawn_child` with the parent",
      done: ["BridgeResults", "adapters/bridge/messages"],
      held: ["a start says what the run may do, and who is above it", link],
    },
    {
      says: "`runtime.signal`",
      done: ["BridgedRun", "adapters/bridge/run"],
      held: ["a signal that could not be sent is sent when the bridge is back", link],
    },
    {
      says: "`runtime.await`",
      done: ["BridgedRun", "adapters/bridge/run"],
      held: ["a lost connection loses no byte and no end", link],
    },
    {
      says: "`runtime.get_children`",
      done: ["BridgeSpawner", "adapters/bridge/spawner"],
      held: ["a list of many runs is read page by page, without those of another store", link],
    },
    {
      says: "`runtime.state`",
      done: ["BridgeSpawner", "adapters/bridge/spawner"],
      held: ["the heartbeat is the newest answer, and ages while there is none", link],
    },
    {
      says: "actions that call back: ask, tool run, child spawn",
      done: ["Authority", "runtime/authority/authority"],
      held: [
        "runs ask the daemon by its own socket: a skill, a child, and no more than their profile names",
        "chaos/bridge.chaos",
      ],
    },
    {
      says: "an action for companion context, of which the daemon gives the layers: `agent/info`, `agent/tree`, `agent/search`",
      done: ["Authority", "runtime/authority/authority"],
      held: [
        "has its companion context of the daemon: itself, those around it, and the timeline",
        "cli/bridge.e2e",
      ],
    },
  ],
  "Socket model": [
    {
      says: "two sockets, whose failures are apart",
      done: ["BridgeLink", "adapters/bridge/link"],
      held: ["each socket serves while the other does not", "chaos/bridge.chaos"],
    },
  ],
  "Tool policy hand-off": [
    {
      says: "`plugin_config`, with exactly its members, derived from the daemon's own policy",
      done: ["toolPolicyOf", "runtime/control/holders"],
      held: [
        "are told to a run as what its own and all profiles above it name",
        "runtime/control/holders.unit",
      ],
    },
  ],
};

export const RUNTIME_BRIDGE: Contract = {
  title: "Runtime architecture: external runtimes",
  intro:
    "A bridge ([bridge.md](../how-to/bridge.md)) has the methods that the document gives to Jido; Jido itself has not been run.",
  sentences,
  deviations: [
    "**`companion.context`, `tool.run` and `child.spawn` have other names**: they are requests of the daemon's own protocol.",
  ],
};
