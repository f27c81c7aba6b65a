/**
 * X-Request-Id, where a client sends one (weblisk notes 3.3): within the replay window it stands for one request of one agent, which
 * is done once. Each is a file too, so a server that starts again, or a second one on the same state directory, knows it. Tasks,
 * events and approvals have tables of their own, which last longer.
 */
import { createHash } from "node:crypto";
import {
  WEBLISK_AGENT_REQUEST_IDS_MAX,
  WEBLISK_KEPT_ANSWER_MAX_BYTES,
  WEBLISK_REPLAY_WINDOW_S,
  WEBLISK_REQUEST_IDS_MAX,
  WEBLISK_SEEN_RETRY_S,
  WEBLISK_SEEN_TIDY_MS,
} from "../../base/limits.ts";
import { WebliskRefusal, type WireAnswer } from "../wire/refusal.ts";
import type { ServerFiles } from "./files.ts";

export type RequestIdFiles = Pick<ServerFiles, "names" | "read" | "write" | "remove" | "tidy">;

const FOLDER = "requests";
const WINDOW_MS = WEBLISK_REPLAY_WINDOW_S * 1_000;
const RULE = { keep_ms: WINDOW_MS, every_ms: WEBLISK_SEEN_TIDY_MS };

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

/** A seen request as its file has it. */
interface KeptRequest extends Pick<SeenRequest, "digest" | "seen_ms"> {
  readonly answer?: WireAnswer;
}

/** No sender has a blank in its name. */
const nameOf = ({ sender, id }: NamedRequest): string =>
  createHash("sha256").update(`${sender} ${id}`).digest("hex");

/** SHA-256 in hex of all that a request asks for. */
export const requestDigest = (method: string, url: string, body: Uint8Array): string =>
  createHash("sha256").update(`${method} ${url}\n`).update(body).digest("hex");

export class RequestIdTable {
  private readonly files: RequestIdFiles;
  private readonly max: number;
  private readonly agentMax: number;
  /** The oldest first. */
  private readonly seen = new Map<string, SeenRequest>();
  /** How many each agent has, since this server began. */
  private readonly held = new Map<string, number>();
  private onDisk = 0;

  constructor(
    files: RequestIdFiles,
    max = WEBLISK_REQUEST_IDS_MAX,
    agentMax = WEBLISK_AGENT_REQUEST_IDS_MAX,
  ) {
    this.files = files;
    this.max = max;
    this.agentMax = agentMax;
  }

  /**
   * The answer of `work`, or the first one to the same request. Throws INVALID_REQUEST (409) if the id came with another request. A
   * refusal did nothing, so its id may come again. `now` in epoch milliseconds.
   */
  async once(asked: NamedRequest, now: number, work: () => Promise<WireAnswer>): Promise<WireAnswer> {
    this.forgetOld(now);
    const name = nameOf(asked);
    const found = this.seen.get(name) ?? this.kept(name, now);
    if (found !== undefined && found.digest !== asked.digest)
      throw new WebliskRefusal(
        "INVALID_REQUEST",
        "This X-Request-Id came with another request; make a new one for each.",
        { reason: "request_id_reused", http: 409 },
      );
    if (found?.answer !== undefined) return found.answer;
    // Without its answer it is done again: by tables that know it, or because its server died before there was one.
    if (found !== undefined && !asked.keepsAnswer) return work();
    if (found === undefined) this.checkRoom(asked.sender);
    const { sender, digest } = asked;
    const entry: SeenRequest = { sender, digest, seen_ms: now };
    this.files.write(FOLDER, name, { digest, seen_ms: now } satisfies KeptRequest);
    this.seen.set(name, entry);
    if (found === undefined) this.onDisk += 1;
    this.count(sender, 1);
    const answer = work();
    if (asked.keepsAnswer) entry.answer = answer;
    try {
      const done = await answer;
      if (asked.keepsAnswer) this.keepAnswer(name, { digest, seen_ms: now, answer: done });
      return done;
    } catch (cause) {
      this.forget(name, entry);
      throw cause;
    }
  }

  /** A request that an earlier server has seen, or another one on the same state directory. */
  private kept(name: string, now: number): Pick<SeenRequest, "digest" | "answer"> | undefined {
    const kept = this.files.read<KeptRequest>(FOLDER, name);
    if (kept === undefined || kept.seen_ms < now - WINDOW_MS) return undefined;
    const { digest, answer } = kept;
    return { digest, ...(answer !== undefined && { answer: Promise.resolve(answer) }) };
  }

  private keepAnswer(name: string, kept: KeptRequest): void {
    if (Buffer.byteLength(JSON.stringify(kept)) <= WEBLISK_KEPT_ANSWER_MAX_BYTES)
      this.files.write(FOLDER, name, kept);
  }

  private checkRoom(sender: string): void {
    if (this.onDisk < this.max && (this.held.get(sender) ?? 0) < this.agentMax) return;
    throw new WebliskRefusal("RATE_LIMITED", "Too many request ids are remembered; try again later.", {
      reason: "request_ids_full",
      retry_after: WEBLISK_SEEN_RETRY_S,
    });
  }

  private forgetOld(now: number): void {
    for (const [name, entry] of this.seen) {
      if (entry.seen_ms >= now - WINDOW_MS) break;
      this.forget(name, entry);
    }
    if (this.files.tidy(FOLDER, now, RULE)) this.onDisk = this.files.names(FOLDER).length;
  }

  /** Unless it is another one by now. */
  private forget(name: string, entry: SeenRequest): void {
    if (this.seen.get(name) !== entry) return;
    this.seen.delete(name);
    this.files.remove(FOLDER, name);
    this.onDisk -= 1;
    this.count(entry.sender, -1);
  }

  private count(sender: string, by: 1 | -1): void {
    const held = (this.held.get(sender) ?? 0) + by;
    if (held > 0) this.held.set(sender, held);
    else this.held.delete(sender);
  }
}
