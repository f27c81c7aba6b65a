/** Makes the runtime of a bridge that the configuration names. It is there also while the bridge is down. */
import type { Socket } from "node:net";
import { join } from "node:path";
import type { BridgeConfiguration } from "../../protocol/configuration.ts";
import type { MakeRuntime } from "../user-runtimes.ts";
import { BridgeProgram } from "./program.ts";
import { type AskedDaemon, BridgeSpawner } from "./spawner.ts";

/** The daemon, or the program with a runtime in it, as its bridges need it. */
export interface BridgeGround {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly daemon: AskedDaemon | undefined;
  /** The pid at the other end, by the kernel; undefined where it does not say. */
  readonly peerPid: (socket: Socket) => number | undefined;
  readonly report: (message: string) => void;
}

export const bridgeMakerOf =
  (name: string, { socket, command, abilities }: BridgeConfiguration, ground: BridgeGround): MakeRuntime =>
  async ({ store_id, state_dir }) => {
    const { env, daemon, peerPid, report } = ground;
    const sockets = {
      HOLDFAST_BRIDGE_SOCKET: socket,
      ...(daemon && { HOLDFAST_DAEMON_SOCKET: daemon.socket }),
    };
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
      daemon,
      peerPid,
      report,
    });
  };
