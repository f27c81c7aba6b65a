/**
 * The link to a bridge: one connection at a time, made anew after each end of it, behind a breaker. A bridge that is not there
 * is tried again with a growing delay; one that breaks rules or does not answer is left alone for a while (`base/breaker`).
 */
import { lstatSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { backoffDelay } from "../../base/backoff.ts";
import { admit, type Breaker, CLOSED, settled } from "../../base/breaker.ts";
import {
  BRIDGE_ANSWER_MS,
  BRIDGE_FRAME_MAX_MS,
  BRIDGE_RECONNECT_MAX_MS,
  BRIDGE_RECONNECT_MIN_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import type { RuntimeTrouble } from "../spawner.ts";
import { BridgeConnection, BridgeFailure } from "./connection.ts";
import { BRIDGE_PROTOCOL, type BridgeMethod, type BridgeParams, type BridgeResult } from "./messages.ts";
import { type BridgeProgram, hostOf } from "./program.ts";

/** A connection that has shaken hands. */
export interface BridgeSession {
  /** The life of the bridge: its runs live as long as it stays. */
  readonly instance: string;
  /** The process at the other end, if the kernel says. */
  readonly host: ProcessIdentity | undefined;
}

export interface LinkPorts {
  readonly name: string;
  /** Absolute path. */
  readonly socket: string;
  readonly store_id: string;
  readonly program: BridgeProgram | undefined;
  /** The pid at the other end, by the kernel; undefined where it does not say. */
  readonly peerPid: (socket: Socket) => number | undefined;
  readonly report: (message: string) => void;
  readonly onUp: (session: BridgeSession) => void;
  /** Called at each failed attempt. */
  readonly onDown: () => void;
  readonly times: LinkTimes;
}

/** In milliseconds. */
export interface LinkTimes {
  readonly answer_ms: number;
  readonly frame_ms: number;
}

export const LINK_TIMES: LinkTimes = { answer_ms: BRIDGE_ANSWER_MS, frame_ms: BRIDGE_FRAME_MAX_MS };

interface SessionWaiter {
  readonly resolve: (session: BridgeSession) => void;
  readonly reject: (cause: HoldfastError) => void;
  readonly timer: NodeJS.Timeout;
}

/** `since` is a wall clock in milliseconds. */
interface LinkFault {
  readonly since: number;
  readonly why: string;
}

export class BridgeLink {
  private readonly ports: LinkPorts;
  private connection: BridgeConnection | undefined;
  private session: BridgeSession | undefined;
  private breaker: Breaker = CLOSED;
  private failures = 0;
  private upMs = 0;
  private isClosed = false;
  private retry: NodeJS.Timeout | undefined;
  private readonly waiters = new Set<SessionWaiter>();
  /** Why it is down, and since when. */
  private fault: LinkFault | undefined;
  /** It is connected, and has not answered in time since. */
  private silence: LinkFault | undefined;

  constructor(ports: LinkPorts) {
    this.ports = ports;
  }

  open(): void {
    this.attempt();
  }

  current(): BridgeSession | undefined {
    return this.session;
  }

  trouble(): RuntimeTrouble | undefined {
    const fault = this.fault ?? this.silence;
    if (fault === undefined) return undefined;
    const { name, socket, program } = this.ports;
    const { since, why } = fault;
    const failed = program?.failure();
    return {
      since: new Date(since).toISOString(),
      message: `The bridge ${name} does not serve at ${socket}: ${failed === undefined ? why : `${why}; ${failed}`}.`,
      suggestion:
        program === undefined
          ? "Start it; the daemon connects by itself. Its runs go on meanwhile if its process lives."
          : `The daemon starts it again by itself; what it printed is in ${program.log}.`,
    };
  }

  /** The session, as soon as there is one. Rejects with UNAVAILABLE after `within_ms`. */
  up(within_ms: number): Promise<BridgeSession> {
    if (this.session !== undefined) return Promise.resolve(this.session);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.waiters.delete(waiter);
        reject(this.down());
      }, within_ms);
      const waiter = { resolve, reject, timer };
      this.waiters.add(waiter);
    });
  }

  down(): HoldfastError {
    const { message, suggestion } = this.trouble() ?? {
      message: `The bridge ${this.ports.name} is not connected.`,
      suggestion: "Try again.",
    };
    return new HoldfastError("UNAVAILABLE", message, { suggestion });
  }

  /** Rejects with a BridgeFailure. */
  request<M extends BridgeMethod>(
    method: M,
    params: BridgeParams[M],
    within_ms = this.ports.times.answer_ms,
  ): Promise<BridgeResult<M>> {
    if (this.session === undefined || this.connection === undefined)
      return Promise.reject(new BridgeFailure("unsent", this.down().message));
    return this.connection.request(method, params, within_ms);
  }

  /** Requests that wait fail as lost. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.retry);
    this.connection?.close(undefined);
    for (const { timer, reject } of this.waiters) {
      clearTimeout(timer);
      reject(new HoldfastError("UNAVAILABLE", "The runtime is being closed."));
    }
    this.waiters.clear();
  }

  private attempt(): void {
    if (this.isClosed) return;
    const { breaker, wait_ms } = admit(this.breaker, performance.now());
    this.breaker = breaker;
    if (wait_ms !== undefined) {
      this.later(wait_ms);
      return;
    }
    const refusal = foreignSocket(this.ports.socket);
    if (refusal !== undefined) {
      this.failed(refusal);
      return;
    }
    const socket = connect(this.ports.socket);
    socket.once("connect", () => this.connected(socket));
    socket.once("error", (cause: NodeJS.ErrnoException) => {
      if (cause.syscall !== "connect") return;
      this.ports.program?.start();
      this.failed(cause.code ?? cause.message);
    });
  }

  private connected(socket: Socket): void {
    const { store_id, peerPid, times } = this.ports;
    const host = hostOf(peerPid(socket));
    const connection = new BridgeConnection(
      socket,
      {
        answered: () => this.proved(),
        unanswered: () => {
          this.silence ??= { since: Date.now(), why: "it did not answer in time" };
          this.settle("failure");
          if (this.breaker.state === "open") connection.close("it does not answer");
        },
        closed: (fault) => this.ended(fault),
      },
      times,
    );
    this.connection = connection;
    const asked = { protocol: BRIDGE_PROTOCOL, store_id, runs: [], forget: [] };
    connection.request("runtime.state", asked, times.answer_ms).then(
      ({ protocol, instance }) => {
        if (protocol === BRIDGE_PROTOCOL) this.shaken({ instance, host });
        else
          connection.close(
            `it speaks version ${protocol} of the methods, and this daemon ${BRIDGE_PROTOCOL}`,
          );
      },
      ({ message }: BridgeFailure) => connection.close(message),
    );
  }

  private shaken(session: BridgeSession): void {
    this.fault = undefined;
    this.session = session;
    this.upMs = performance.now();
    this.ports.onUp(session);
    for (const { timer, resolve } of this.waiters) {
      clearTimeout(timer);
      resolve(session);
    }
    this.waiters.clear();
  }

  /** Only a connection that lasts is a success: one that begins well and then breaks a rule is none. */
  private proved(): void {
    this.silence = undefined;
    if (this.session === undefined || performance.now() - this.upMs < BRIDGE_RECONNECT_MAX_MS) return;
    this.failures = 0;
    this.settle("success");
  }

  private settle(end: "success" | "failure"): void {
    this.breaker = settled(this.breaker, end, performance.now());
  }

  private ended(fault: string | undefined): void {
    this.connection = undefined;
    this.session = undefined;
    this.silence = undefined;
    if (this.isClosed) return;
    if (fault !== undefined) this.settle("failure");
    this.failed(fault ?? "the connection was closed");
  }

  private failed(why: string): void {
    const { name, report, onDown } = this.ports;
    if (this.fault?.why !== why) report(`bridge ${name}: ${why}`);
    this.fault = { since: this.fault?.since ?? Date.now(), why };
    this.failures += 1;
    onDown();
    const bounds = { min_ms: BRIDGE_RECONNECT_MIN_MS, max_ms: BRIDGE_RECONNECT_MAX_MS };
    this.later(backoffDelay(this.failures, bounds, Math.random()));
  }

  private later(delay_ms: number): void {
    clearTimeout(this.retry);
    if (this.isClosed) return;
    this.retry = setTimeout(() => this.attempt(), delay_ms);
    this.retry.unref();
  }
}

/** Prompts and keys go over the socket, so it must be our own. A missing one is found by the connect. */
const foreignSocket = (path: string): string | undefined => {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  if (!found.isSocket()) return "there is something else than a socket";
  return found.uid === process.getuid?.() ? undefined : "the socket belongs to another user";
};
