/**
 * A run in a bridge. Its output is asked for from the offsets that the daemon has, and appended to the daemon's own spools; its
 * end is written down once. Its heartbeat is the newest answer that named it: while the bridge does not answer, it ages.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "../../base/crash-point.ts";
import {
  BRIDGE_AWAIT_MS,
  BRIDGE_CHUNK_MAX_BYTES,
  BRIDGE_RECONNECT_MIN_MS,
  BRIDGE_STATE_STALE_MS,
  BRIDGE_UP_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { type RunExit, UNKNOWN_EXIT } from "../../protocol/incarnation.ts";
import type { SpoolName } from "../adapter.ts";
import type { Releaser } from "../process/release.ts";
import { SpoolSource } from "../process/spool-source.ts";
import type { Source } from "../source.ts";
import type { Run, RunId, SignalReport } from "../spawner.ts";
import { BridgeFailure } from "./connection.ts";
import type { BridgeLink } from "./link.ts";
import { type BridgeResult, UNKNOWN_RUN } from "./messages.ts";
import { isGone } from "./program.ts";
import type { RunClaim, RunFiles } from "./run-files.ts";

export interface BridgedRunGround {
  readonly link: BridgeLink;
  readonly releaser: Releaser;
  readonly report: (message: string) => void;
  /** Called once, when its end is written down. */
  readonly onEnd: (run: BridgedRun) => void;
  readonly answer_ms: number;
}

const exitOf = ({ code, signal }: NonNullable<BridgeResult<"runtime.await">["exit"]>): RunExit => ({
  exit_code: code,
  signal,
  signal_inferred: false,
  raw_status: code,
  reason: code === null ? "signalled" : "exited",
});

export class BridgedRun implements Run {
  readonly worker_id: string;
  readonly incarnation: number;
  readonly ref: string | undefined;
  readonly exited: Promise<RunExit>;
  /** Its name for the bridge. */
  readonly marker: string;
  private readonly claim: RunClaim;
  private readonly files: RunFiles;
  private readonly ground: BridgedRunGround;
  private readonly settled = Promise.withResolvers<RunExit>();
  private end: RunExit | undefined;
  private state: "running" | "paused" = "running";
  private seenMs = performance.now();
  private listener: (() => void) | undefined;
  private isDisposed = false;
  private isFollowed = false;
  /** A signal for its end that the bridge may not have got. */
  private owed: string | undefined;

  constructor(
    { worker_id, incarnation }: RunId,
    {
      marker,
      ref,
      claim,
    }: { readonly marker: string; readonly ref: string | undefined; readonly claim: RunClaim },
    files: RunFiles,
    ground: BridgedRunGround,
  ) {
    this.worker_id = worker_id;
    this.incarnation = incarnation;
    this.ref = ref;
    this.marker = marker;
    this.claim = claim;
    this.files = files;
    this.ground = ground;
    this.exited = this.settled.promise;
    const before = files.ended();
    if (before !== undefined) this.over(before);
  }

  exit(): RunExit | undefined {
    return this.end;
  }

  onOutput(listener: () => void): void {
    this.listener = listener;
  }

  source(stream: SpoolName): Source {
    return new SpoolSource(this.files.path(stream), this.ground.releaser);
  }

  process(): ReturnType<Run["process"]> {
    if (this.end !== undefined) return "dead";
    if (performance.now() - this.seenMs > BRIDGE_STATE_STALE_MS) return "unknown";
    return this.state === "paused" ? "stopped" : "running";
  }

  async signal(signal: string): Promise<SignalReport> {
    if (this.state === "paused") await this.unpause();
    return this.send(signal);
  }

  kill(): Promise<SignalReport> {
    return this.send("SIGKILL");
  }

  async pause(): Promise<SignalReport> {
    const reached = await this.send("SIGSTOP");
    if (reached.length > 0) this.state = "paused";
    return reached;
  }

  async unpause(): Promise<SignalReport> {
    const reached = await this.send("SIGCONT");
    if (reached.length > 0) this.state = "running";
    return reached;
  }

  dispose(): void {
    this.isDisposed = true;
    this.listener = undefined;
  }

  /** The bridge has named it among its runs. */
  seen(state: "running" | "paused"): void {
    this.state = state;
    this.seenMs = performance.now();
  }

  /** The bridge that had it is gone, or does not know it: nobody will ever know how it ended. */
  lose(): void {
    if (this.end === undefined) this.over(UNKNOWN_EXIT);
  }

  /** The bridge cannot be reached. If its process has ended, so has the run. */
  lookForHost(): void {
    if (isGone(this.claim.host)) this.lose();
  }

  /** The bridge is there again, perhaps in another life. */
  meet(instance: string): void {
    const { owed } = this;
    if (instance !== this.claim.instance) this.lose();
    else if (owed !== undefined) {
      this.owed = undefined;
      this.send(owed).catch(() => undefined);
    }
  }

  /** Fetches its output until its end. */
  follow(): void {
    if (this.isFollowed) return;
    this.isFollowed = true;
    this.fetchAll().catch((cause) =>
      this.ground.report(`run ${this.marker} is not followed any more: ${cause}`),
    );
  }

  private async fetchAll(): Promise<void> {
    const { link, answer_ms } = this.ground;
    let told: string | undefined;
    while (this.end === undefined && !this.isDisposed) {
      const asked = {
        run: this.marker,
        stdout: this.files.size("stdout"),
        stderr: this.files.size("stderr"),
        max_bytes: BRIDGE_CHUNK_MAX_BYTES,
        wait_ms: BRIDGE_AWAIT_MS,
      };
      try {
        const since = performance.now();
        this.take(await link.request("runtime.await", asked, BRIDGE_AWAIT_MS + answer_ms));
        told = undefined;
        // An answer without news at once is none to repeat at once.
        const isNews = this.files.size("stdout") > asked.stdout || this.files.size("stderr") > asked.stderr;
        if (!isNews && performance.now() - since < BRIDGE_RECONNECT_MIN_MS) await pause();
      } catch (cause) {
        if (isUnknownRun(cause)) {
          this.lose();
          return;
        }
        const isOfLink = cause instanceof BridgeFailure && cause.kind !== "refused";
        const message = (cause as Error).message;
        if (!isOfLink && message !== told)
          this.ground.report(`the output of run ${this.marker} waits: ${message}`);
        told = message;
        await pause();
        await link.up(BRIDGE_UP_MS).catch(() => undefined);
      }
    }
  }

  private take({ state, stdout, stderr, exit }: BridgeResult<"runtime.await">): void {
    if (this.isDisposed || this.end !== undefined) return;
    if (state === "unknown") {
      this.lose();
      return;
    }
    for (const [stream, bytes] of [
      ["stdout", stdout],
      ["stderr", stderr],
    ] as const)
      if (bytes.length > 0) this.files.append(stream, bytes);
    crashPoint("bridge-output");
    if (state !== "ended") this.seen(state);
    if (exit !== undefined) this.over(exitOf(exit));
    else if (stdout.length + stderr.length > 0) this.listener?.();
  }

  private over(exit: RunExit): void {
    crashPoint("bridge-exit");
    this.end = this.files.end(exit);
    crashPoint("bridge-ended");
    this.ground.onEnd(this);
    // As with a process, the sender of a signal knows of it before the exit is reported.
    queueMicrotask(() => this.settled.resolve(this.end!));
    this.listener?.();
  }

  private async send(signal: string): Promise<SignalReport> {
    if (this.end !== undefined) return [];
    try {
      const { reached } = await this.ground.link.request("runtime.signal", { run: this.marker, signal });
      return reached ? "run" : [];
    } catch (cause) {
      if (isUnknownRun(cause)) {
        this.lose();
        return [];
      }
      if (signal === "SIGKILL" || (signal === "SIGTERM" && this.owed === undefined)) this.owed = signal;
      throw new HoldfastError(
        "UNAVAILABLE",
        `${signal} did not reach the run: ${(cause as Error).message}.`,
        { cause },
      );
    }
  }
}

const pause = (): Promise<void> => sleep(BRIDGE_RECONNECT_MIN_MS, undefined, { ref: false });
const isUnknownRun = (cause: unknown): boolean =>
  cause instanceof BridgeFailure && cause.code === UNKNOWN_RUN;
