/**
 * X-Request-Id, where a client sends one (weblisk notes 3.3): within the replay window it stands for one request of one agent, which
 * is done once. Tasks, events and approvals have tables of their own, which last; these ids are forgotten with their server. Pure.
 */
import { createHash } from "node:crypto";
import {
  WEBLISK_AGENT_REQUEST_IDS_MAX,
  WEBLISK_REPLAY_WINDOW_S,
  WEBLISK_REQUEST_IDS_MAX,
  WEBLISK_SEEN_RETRY_S,
} from "../../base/limits.ts";
import { WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";

export interface NamedRequest {
  /** The agent that sent it. */
  readonly sender: string;
  readonly id: string;
  readonly digest: string;
  /** Its repeat gets the first answer; without it, it is looked at again by tables that know it. */
  readonly keepsAnswer: boolean;
}

interface SeenRequest extends Pick<NamedRequest, "sender" | "digest"> {
  /** Epoch milliseconds. */
  readonly seen_ms: number;
  answer?: Promise<WireAnswer>;
}

/** SHA-256 in hex of all that a request asks for. */
export const requestDigest = (method: string, url: string, body: Uint8Array): string =>
  createHash("sha256").update(`${method} ${url}\n`).update(body).digest("hex");

export class RequestIdTable {
  private readonly max: number;
  private readonly agentMax: number;
  /** The oldest first. */
  private readonly seen = new Map<string, SeenRequest>();
  private readonly held = new Map<string, number>();

  constructor(max = WEBLISK_REQUEST_IDS_MAX, agentMax = WEBLISK_AGENT_REQUEST_IDS_MAX) {
    this.max = max;
    this.agentMax = agentMax;
  }

  /**
   * The answer of `work`, or the first one to the same request. Throws INVALID_REQUEST (409) if the id came with another request. A
   * refusal did nothing, so its id may come again. `now` in epoch milliseconds.
   */
  async once(asked: NamedRequest, now: number, work: () => Promise<WireAnswer>): Promise<WireAnswer> {
    this.forgetOld(now);
    const key = `${asked.sender} ${asked.id}`;
    const found = this.seen.get(key);
    if (found !== undefined && found.digest !== asked.digest)
      throw new WebliskRefusal(
        "INVALID_REQUEST",
        "This X-Request-Id came with another request; make a new one for each.",
        { reason: "request_id_reused", http: 409 },
      );
    if (found !== undefined) return found.answer ?? work();
    this.checkRoom(asked.sender);
    const entry: SeenRequest = { sender: asked.sender, digest: asked.digest, seen_ms: now };
    this.seen.set(key, entry);
    this.count(asked.sender, 1);
    const answer = work();
    if (asked.keepsAnswer) entry.answer = answer;
    try {
      return await answer;
    } catch (cause) {
      this.forget(key, entry);
      throw cause;
    }
  }

  private checkRoom(sender: string): void {
    if (this.seen.size < this.max && (this.held.get(sender) ?? 0) < this.agentMax) return;
    throw new WebliskRefusal("RATE_LIMITED", "Too many request ids are remembered; try again later.", {
      reason: "request_ids_full",
      retry_after: WEBLISK_SEEN_RETRY_S,
    });
  }

  private forgetOld(now: number): void {
    for (const [key, entry] of this.seen) {
      if (entry.seen_ms >= now - WEBLISK_REPLAY_WINDOW_S * 1_000) return;
      this.forget(key, entry);
    }
  }

  /** Unless it is another one by now. */
  private forget(key: string, entry: SeenRequest): void {
    if (this.seen.get(key) !== entry) return;
    this.seen.delete(key);
    this.count(entry.sender, -1);
  }

  private count(sender: string, by: 1 | -1): void {
    const held = (this.held.get(sender) ?? 0) + by;
    if (held > 0) this.held.set(sender, held);
    else this.held.delete(sender);
  }
}
