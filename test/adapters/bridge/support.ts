/** A bridge of the test's own: an honest peer or a sinful one, and the runtime over it, under a directory that is removed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { BridgeSpawner, type BridgeSpawnerOptions } from "../../../src/adapters/bridge/spawner.ts";
import type { RunBehaviour } from "../../../src/adapters/runtime-conformance.ts";
import type { LaunchRequest } from "../../../src/adapters/spawner.ts";
import { Peer } from "../../fixtures/bridges/peer.mjs";

const STORE = "S";

export interface BridgePlace {
  readonly dir: string;
  readonly socket: string;
  readonly peer: Peer;
  /** The reports to the operator. */
  readonly reports: string[];
  /** The runtime of a daemon over this directory. */
  open(more?: Partial<BridgeSpawnerOptions>): BridgeSpawner;
  close(): Promise<void>;
}

export const makePlace = async (sin?: (peer: Peer) => void): Promise<BridgePlace> => {
  const dir = mkdtempSync(join(tmpdir(), "holdfast-bridge-"));
  const socket = join(dir, "bridge.sock");
  const peer = new Peer();
  sin?.(peer);
  await peer.listen(socket);
  const opened: BridgeSpawner[] = [];
  const reports: string[] = [];
  return {
    dir,
    socket,
    peer,
    reports,
    open: (more = {}) => {
      const spawner = new BridgeSpawner({
        name: "beam",
        socket,
        store_id: STORE,
        runsDir: join(dir, "runs"),
        program: undefined,
        abilities: new Set(["pause"]),
        daemon: { socket: join(dir, "agent.sock"), binary: "/opt/agent" },
        peerPid: () => undefined,
        report: (message) => reports.push(message),
        ...more,
      });
      opened.push(spawner);
      return spawner;
    },
    close: async () => {
      for (const spawner of opened) await spawner.close();
      await peer.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** Closed with its test. */
export const place = async (sin?: (peer: Peer) => void): Promise<BridgePlace> => {
  const made = await makePlace(sin);
  onTestFinished(() => made.close());
  return made;
};

export const requestOf = (worker_id: string, ...argv: string[]): LaunchRequest => ({
  worker_id,
  incarnation: 1,
  argv,
  cwd: "/",
  env: {},
  stdin: { kind: "empty" },
});

/** The arguments by which a bridge of the tests, or the one in Erlang, behaves so. */
export const argvOf = (behaviour: RunBehaviour): readonly string[] => {
  switch (behaviour.does) {
    case "prints":
      return ["print", String(behaviour.code), ...behaviour.lines];
    case "is_deaf":
      return ["deaf"];
    default:
      return ["wait"];
  }
};

/** Short times, for peers that do not answer. */
export const QUICK = { answer_ms: 200, frame_ms: 200, state_period_ms: 50 };
