/** Makes the runtime of a bridge that the configuration names. It is there also while the bridge is down. */
import type { Socket } from "node:net";
import { join } from "node:path";
import type { BridgeConfiguration } from "../../protocol/configuration.ts";
import type { MakeRuntime } from "../user-runtimes.ts";
import { BridgeProgram } from "./program.ts";
import { BridgeSpawner } from "./spawner.ts";

/** The daemon, as its bridges need it. */
export interface BridgeGround {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute path of the daemon's own socket. */
  readonly daemonSocket: string;
  /** Absolute path of the `agent` command. */
  readonly binary: string;
  /** The pid at the other end, by the kernel; undefined where it does not say. */
  readonly peerPid: (socket: Socket) => number | undefined;
  readonly report: (message: string) => void;
}

export const bridgeMakerOf =
  (name: string, { socket, command, abilities }: BridgeConfiguration, ground: BridgeGround): MakeRuntime =>
  async ({ store_id, state_dir }) => {
    const { env, daemonSocket, binary, peerPid, report } = ground;
    const sockets = { HOLDFAST_BRIDGE_SOCKET: socket, HOLDFAST_DAEMON_SOCKET: daemonSocket };
    const log = join(state_dir, `bridge-${name}.log`);
    const program = command && new BridgeProgram({ command, env: { ...env, ...sockets }, log });
    const runsDir = join(state_dir, "runs");
    const can = new Set(abilities);
    return new BridgeSpawner({
      name,
      socket,
      store_id,
      runsDir,
      program,
      abilities: can,
      daemonSocket,
      binary,
      peerPid,
      report,
    });
  };
