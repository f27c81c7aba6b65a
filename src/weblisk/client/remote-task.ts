/**
 * A task at an orchestrator elsewhere: gives it, looks at it until its agent has ended it, and believes a signed result alone. The same
 * task given again is the same task there, so whoever is killed in its middle just begins anew.
 */
import { backoffDelay } from "../../base/backoff.ts";
import {
  WEBLISK_CALL_MAX_MS,
  WEBLISK_LATE_MAX_MS,
  WEBLISK_LOOK_MAX_MS,
  WEBLISK_LOOK_MIN_MS,
  WEBLISK_LOST_MAX_MS,
  WEBLISK_REMOTE_TASK_MAX_MS,
  WEBLISK_RETRY_MAX_MS,
  WEBLISK_RETRY_MIN_MS,
  WEBLISK_STOP_MAX_MS,
  WEBLISK_UNHEARD_MAX_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { RemoteLine, RemotePlace, RemoteTaskOrder } from "../../protocol/weblisk-lines.ts";
import { newWireId } from "../wire/ids.ts";
import { plain } from "../wire/refusal.ts";
import type { IncomingReply } from "./exchange.ts";
import { type ClientGround, OrchestratorClient } from "./orchestrator.ts";
import { believed, refusedBy, unheard } from "./refused.ts";
import { provenResult, type RemoteResult, type RemoteStep, requestOf, stepAfter } from "./steps.ts";

export interface RemoteTaskGround extends ClientGround {
  /** In [0, 1). */
  readonly random: () => number;
  readonly tell: (line: Exclude<RemoteLine, { readonly type: "end" }>) => void;
}

/** The bounds of one task's waiting, in milliseconds. */
export interface RemotePatience {
  readonly unheard_ms: number;
  readonly lost_ms: number;
  readonly call_ms: number;
}

const PATIENCE: RemotePatience = {
  unheard_ms: WEBLISK_UNHEARD_MAX_MS,
  lost_ms: WEBLISK_LOST_MAX_MS,
  call_ms: WEBLISK_CALL_MAX_MS,
};

type Waiting = Extract<RemoteLine, { readonly type: "waits" }>["for"];

export class RemoteTask {
  private readonly ground: RemoteTaskGround;
  private readonly client: OrchestratorClient;
  private readonly place: RemotePlace;
  private readonly order: RemoteTaskOrder;
  private readonly patience: RemotePatience;
  /** When the task is over for certain, in epoch milliseconds. */
  private readonly over_ms: number;
  private isGiven = false;
  private waitsFor: Waiting | undefined;

  constructor(ground: RemoteTaskGround, place: RemotePlace, order: RemoteTaskOrder, patience = PATIENCE) {
    this.ground = ground;
    this.place = place;
    this.order = order;
    this.patience = patience;
    const deadline_ms =
      order.deadline === undefined ? ground.now() + WEBLISK_REMOTE_TASK_MAX_MS : order.deadline * 1_000;
    this.over_ms = deadline_ms + WEBLISK_LATE_MAX_MS;
    this.client = new OrchestratorClient(ground, place, patience.call_ms);
  }

  /** Its signed result. With `signal`, the task is ended there. Fails with UNAVAILABLE, TIMEOUT, PEER_UNTRUSTED, or as it is refused. */
  async result(signal: AbortSignal): Promise<RemoteResult> {
    let [heard, looks, tries] = [this.ground.now(), 0, 0];
    while (!signal.aborted) {
      this.checkDeadline();
      const step = stepAfter(await this.asked(signal), { isGiven: this.isGiven, host: this.client.host });
      if (step.do === "read") return this.proven(step);
      if (step.do === "fail") throw step.error;
      if (step.do === "retry") {
        const silent_ms = this.ground.now() - heard;
        if (silent_ms >= (this.isGiven ? this.patience.lost_ms : this.patience.unheard_ms))
          throw unheard(this.place.url);
        tries += 1;
        if (tries > 1) this.waits("peer");
        await this.pause(
          delayOf(tries, WEBLISK_RETRY_MIN_MS, WEBLISK_RETRY_MAX_MS, this.ground.random()),
          signal,
        );
        continue;
      }
      [heard, tries] = [this.ground.now(), 0];
      looks += 1;
      const look_ms = delayOf(looks, WEBLISK_LOOK_MIN_MS, WEBLISK_LOOK_MAX_MS, this.ground.random());
      await this.pause(this.next(step, look_ms), signal);
    }
    return this.ended();
  }

  /** Notes what an answer says, and how long to wait after it. */
  private next(
    step: Extract<RemoteStep, { readonly do: "look" | "wait" | "give" }>,
    look_ms: number,
  ): number {
    if (step.do === "give") {
      this.isGiven = false;
      return look_ms;
    }
    if (step.do === "wait") {
      this.waits("place");
      return step.after_s === undefined ? WEBLISK_LOOK_MAX_MS : step.after_s * 1_000;
    }
    if (!this.isGiven) this.ground.tell({ type: "given", task_id: this.order.task_id });
    this.isGiven = true;
    if (step.isAsking) this.waits("approval");
    else this.waitsFor = undefined;
    return look_ms;
  }

  private asked(signal: AbortSignal): Promise<IncomingReply | "silent" | "slow"> {
    const { task_id } = this.order;
    if (this.isGiven) return this.client.call("GET", `/v1/task/${task_id}`, { signal });
    // It is not cut off by a stop: the end of a task that is on its way would come before it.
    return this.client
      .call("POST", "/v1/task", {
        body: requestOf(this.order),
        headers: { ...this.ids(), prefer: "respond-async" },
      })
      .catch(unlessUnheard);
  }

  /** Ends the task there. */
  private async ended(): Promise<RemoteResult> {
    const until = this.ground.now() + WEBLISK_STOP_MAX_MS;
    for (let tries = 1; ; tries += 1) {
      const timeout_ms = Math.max(1, until - this.ground.now());
      const reply = await this.client
        .call("DELETE", `/v1/task/${this.order.task_id}`, { headers: this.ids(), timeout_ms })
        .catch(unlessUnheard);
      const step = stepAfter(reply, { isGiven: true, host: this.client.host });
      if (step.do === "read") return this.proven(step);
      if (step.do === "give") throw stopped("was stopped before anybody had begun it");
      if (step.do === "fail") throw refusedBy(this.client.host, reply as IncomingReply);
      if (this.ground.now() >= until) throw stopped("was stopped, and its agent has not said that it ended");
      await this.ground.pause(
        Math.min(timeout_ms, delayOf(tries, WEBLISK_LOOK_MIN_MS, WEBLISK_LOOK_MAX_MS, 0)),
      );
    }
  }

  private async proven({ body }: Extract<RemoteStep, { readonly do: "read" }>): Promise<RemoteResult> {
    const { host } = this.client;
    const verifier = await this.client.keyOf(this.order.agent);
    return believed(host, () => provenResult(body, this.order, verifier, host));
  }

  private checkDeadline(): void {
    if (this.ground.now() > this.over_ms)
      throw new HoldfastError(
        "TIMEOUT",
        `${plain(this.client.host)} has not ended the task by its deadline.`,
        {
          suggestion: "Ask its operator; a new worker is a new task.",
        },
      );
  }

  private waits(what: Waiting): void {
    if (this.waitsFor === what) return;
    this.waitsFor = what;
    this.ground.tell({ type: "waits", for: what });
  }

  private ids(): Readonly<Record<string, string>> {
    return {
      "x-trace-id": this.order.trace_id,
      "x-request-id": newWireId(this.ground.randomBytes),
    };
  }

  /** Until the time is over, or the task is stopped. */
  private async pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let wake: (() => void) | undefined;
    const woken = new Promise<void>((resolve) => {
      wake = resolve;
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.ground.pause(ms), woken]);
    if (wake !== undefined) signal.removeEventListener("abort", wake);
  }
}

const delayOf = (attempt: number, min_ms: number, max_ms: number, random: number): number =>
  backoffDelay(attempt, { min_ms, max_ms }, random);

/** A registration that nobody hears is tried again, as the request behind it. */
const unlessUnheard = (cause: unknown): "silent" => {
  if (cause instanceof HoldfastError && cause.code === "UNAVAILABLE") return "silent";
  throw cause;
};

const stopped = (how: string): HoldfastError => new HoldfastError("WORKER_CANCELLED", `The task ${how}.`, {});
