/**
 * Asks the kernel which process made a connection (unix(7), SO_PEERCRED), through the C library (decision
 * 0033). If that is not possible, callers are known only by their claims, and the daemon reports this.
 */
import type { Socket } from "node:net";
import { statClock } from "../adapters/process/origin.ts";
import { type Caller, type Peer, UNKNOWN } from "../protocol/caller.ts";
import { cFunction } from "./c-library.ts";

/**
 * The pid at the other end of the socket with this descriptor; 0 if it is in a pid namespace that this
 * process cannot see. Undefined if the kernel does not say.
 */
export type AskPeer = (fd: number) => number | undefined;

/** How callers are identified: by the kernel, or by their own claims; then `reason` says why. */
export interface CallerEvidence {
  readonly from: "kernel" | "claims";
  readonly reason?: string;
}

export interface Peers {
  readonly evidence: () => CallerEvidence;
  /**
   * The caller on this connection, identified once, at the first call. `claimed`: the marker that the client
   * says it has.
   */
  callerOf(socket: Socket): (claimed: string | undefined) => Caller;
}

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;
/** struct ucred: pid, uid and gid. */
const UCRED_BYTES = 12;

const loadAskPeer = (): AskPeer => {
  if (process.platform !== "linux") throw new Error(`${process.platform} is not supported`);
  const getsockopt = cFunction("int getsockopt(int, int, int, _Out_ uint8_t *, _Inout_ uint32_t *)");
  return (fd) => {
    const ucred = Buffer.alloc(UCRED_BYTES);
    const isAnswered = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, ucred, [UCRED_BYTES]) === 0;
    return isAnswered ? ucred.readInt32LE(0) : undefined;
  };
};

/** No process has this pid. */
const NOBODY = -1;

/** The descriptor of a Node socket; undefined once it is closed. */
const descriptorOf = (socket: Socket): number | undefined => {
  const fd = (socket as unknown as { readonly _handle?: { readonly fd?: number } | null })._handle?.fd;
  return fd !== undefined && fd >= 0 ? fd : undefined;
};

let askOnce: AskPeer | undefined | null;

/** The pid at the other end of a connection that this process has made; undefined where the kernel does not say. */
export const peerPid = (socket: Socket): number | undefined => {
  const fd = descriptorOf(socket);
  if (askOnce === undefined)
    try {
      askOnce = loadAskPeer();
    } catch {
      // The daemon tells it where it matters: of its callers.
      askOnce = null;
    }
  return fd === undefined ? undefined : askOnce?.(fd);
};

/** `report` is called once, with the reason why callers cannot be identified. */
export const makePeers = (
  identify: (peer: Peer) => Caller,
  report: (reason: string) => void,
  load: () => AskPeer = loadAskPeer,
): Peers => {
  const clock = statClock();
  let ask: AskPeer | undefined;
  let reason: string | undefined;
  const peerOf = (fd: number): number | undefined => {
    if (ask === undefined && reason === undefined)
      try {
        ask = load();
      } catch (cause) {
        reason = (cause as Error).message.split("\n")[0] ?? "";
        report(reason);
      }
    return ask?.(fd);
  };
  return {
    evidence: () => {
      peerOf(-1);
      return reason === undefined ? { from: "kernel" } : { from: "claims", reason };
    },
    callerOf: (socket) => {
      const connected_s = clock();
      let caller: Caller | undefined;
      return (claimed) => {
        if (caller !== undefined) return caller;
        const fd = descriptorOf(socket);
        try {
          // The connection is closed, so the kernel's facts are gone and no client waits for the answer.
          const pid = fd === undefined ? NOBODY : peerOf(fd);
          caller = identify({ pid, connected_s, claimed });
          return caller;
        } catch {
          // No descriptors left, so the caller is unknown now. The next request tries again.
          return UNKNOWN;
        }
      };
    },
  };
};
