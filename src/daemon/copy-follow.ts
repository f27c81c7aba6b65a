/** One placed worker, followed in the cluster's copy over its moves (decision 0093): for the command and the library. */
import { setTimeout as sleep } from "node:timers/promises";
import { CLUSTER_ANSWER_OF_NODE_MS, CLUSTER_COPY_POLL_MS } from "../base/limits.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { ElsewhereWorker } from "../protocol/replies/cluster.ts";
import type { RequestInput } from "../protocol/requests.ts";
import { isEnded } from "../protocol/words.ts";
import type { Replies } from "./replies.ts";

/** A place in the copy as a cursor of `--from`. */
const COPY_CURSOR = /^copy:(\d{1,15})$/;

export const placeInCopy = (from: unknown): number | undefined => {
  const place = typeof from === "string" ? COPY_CURSOR.exec(from)?.[1] : undefined;
  return place === undefined ? undefined : Number(place);
};

export interface FollowedCopy {
  readonly name: string;
  /** A place in the copy, 0 for all that it has. */
  readonly after: number;
  /** The run that was followed in the log of this machine. */
  readonly past?: string | undefined;
  /** Also the workers that its agents spawned. */
  readonly subtree: boolean;
}

/** Undefined while the database gives no answer; it is asked again. */
export type AskCopy = <Name extends "cluster/workers" | "cluster/records">(
  name: Name,
  asked: RequestInput<Name>,
) => Promise<Replies[Name] | undefined>;

export type CopyStep =
  /** A look at where it is; the records that the copy has by then follow. */
  | { readonly type: "looked"; readonly worker: ElsewhereWorker }
  /** `isNew`: it came after all that the copy had at first. */
  | { readonly type: "record"; readonly record: LogRecord; readonly isNew: boolean }
  | { readonly type: "read"; readonly worker: ElsewhereWorker }
  /** The last step: it shall run no more and the copy has its end, or the cluster knows no such worker. */
  | { readonly type: "end"; readonly worker: ElsewhereWorker | undefined };

/** A worker with such a record has not ended before it. */
const OPENS: ReadonlySet<LogRecord["type"]> = new Set([
  "worker_spawn_requested",
  "worker_spawned",
  "worker_heartbeat",
  "agent.event",
]);

/** `isNew`: it came after all that the copy had at first. */
export type IsWanted = (record: LogRecord, isNew: boolean) => boolean;

/** As a daemon chooses records; empty lists are all. All that came after the watch began is new, by whatever clock. */
export const wantedInCopy = ({
  types = [],
  kinds = [],
  since_ms,
}: {
  readonly types?: readonly string[];
  readonly kinds?: readonly string[];
  readonly since_ms?: number | undefined;
}): IsWanted => {
  const oldest = since_ms === undefined ? 0 : Date.now() - since_ms;
  const isOfKind = (record: LogRecord): boolean =>
    (types.length === 0 && kinds.length === 0) ||
    types.includes(record.type) ||
    (record.type === "agent.event" && kinds.includes(record.payload.kind));
  return (record, isNew) => (isNew || Date.parse(record.recorded_at) >= oldest) && isOfKind(record);
};

export class CopyFollow {
  private readonly asked: FollowedCopy;
  /** Behind all records that were given. */
  after: number;
  /** All that the copy had at first was read. */
  private isLive = false;
  /** Since it shall run no more. */
  private overSince: number | undefined;
  /** Workers of the newest run that were read of, and not of their end. */
  private readonly open = new Set<string>();

  constructor(asked: FollowedCopy) {
    this.asked = asked;
    this.after = asked.after;
  }

  /** Another call goes on where the one before it was left. */
  async *steps(ask: AskCopy, signal?: AbortSignal): AsyncGenerator<CopyStep, void> {
    for (;;) {
      const known = await ask("cluster/workers", { worker: this.asked.name });
      const worker = known?.workers[0];
      if (known !== undefined && worker === undefined) return void (yield { type: "end", worker });
      if (worker !== undefined) {
        yield { type: "looked", worker };
        // They are read after the look, so the end of a worker that was seen to be over is among them.
        if (yield* this.records(ask)) {
          this.isLive = true;
          yield { type: "read", worker };
          if (this.isOver(worker)) return void (yield { type: "end", worker });
        }
      }
      await sleep(CLUSTER_COPY_POLL_MS, undefined, { signal });
    }
  }

  /** Whether all pages were read. */
  private async *records(ask: AskCopy): AsyncGenerator<CopyStep, boolean> {
    const { name: worker, past, subtree } = this.asked;
    for (let isMore = true; isMore; ) {
      const page = await ask("cluster/records", { worker, runs: "all", past, subtree, after: this.after });
      if (page === undefined) return false;
      for (const record of page.records) {
        this.count(record);
        yield { type: "record", record, isNew: this.isLive };
      }
      this.after = page.place;
      isMore = page.next !== null;
    }
    return true;
  }

  private isOver(worker: ElsewhereWorker): boolean {
    if (worker.desired === "running") return false;
    const isAway = worker.node === null || ["dead", "left"].includes(worker.node_state ?? "dead");
    if (isAway || worker.id === this.asked.past) return true;
    if (worker.last !== null && isEnded(worker.last.state)) return !this.hasOpenBelow(worker);
    // Its node copies its end a moment later.
    this.overSince ??= performance.now();
    return performance.now() - this.overSince > CLUSTER_ANSWER_OF_NODE_MS;
  }

  private count(record: LogRecord): void {
    const { worker_id, type } = record;
    if (worker_id === undefined) return;
    // All that its earlier runs left is over, also where their machine is lost and has not told so.
    if (type === "worker_spawn_requested" && record.payload.spec.name === this.asked.name) this.open.clear();
    if (type === "worker_ended") this.open.delete(worker_id);
    else if (OPENS.has(type)) this.open.add(worker_id);
  }

  private hasOpenBelow({ id }: ElsewhereWorker): boolean {
    return [...this.open].some((one) => one !== id);
  }
}
