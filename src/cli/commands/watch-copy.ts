/** agent watch of a placed worker on other nodes: what the cluster's copy has, and then what comes, over its moves (decision 0093). */
import { setTimeout as sleep } from "node:timers/promises";
import { CLUSTER_ANSWER_OF_NODE_MS, CLUSTER_COPY_AWAY_MS, CLUSTER_COPY_POLL_MS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { failure, success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import { isEnded } from "../../protocol/words.ts";
import type { CommandResult, Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { oneLine } from "../render/terminal.ts";
import { duration } from "../render/units.ts";
import { copySentence } from "./elsewhere.ts";

/** A place in the copy as a cursor of `--from`. */
const COPY_CURSOR = /^copy:(\d{1,15})$/;

export const placeInCopy = (from: unknown): number | undefined => {
  const place = typeof from === "string" ? COPY_CURSOR.exec(from)?.[1] : undefined;
  return place === undefined ? undefined : Number(place);
};

/** A worker with such a record has not ended before it. */
const OPENS: ReadonlySet<LogRecord["type"]> = new Set([
  "worker_spawn_requested",
  "worker_spawned",
  "worker_heartbeat",
  "agent.event",
]);

/** `isNew`: it came after all that the copy had at first. */
export type IsWanted = (record: LogRecord, isNew: boolean) => boolean;

interface WatchOfCopy {
  readonly name: string;
  /** A place in the copy, 0 for all that it has. */
  readonly after: number;
  /** The run that was followed in the log of this machine. */
  readonly past?: string;
  /** Also the workers that its agents spawned. */
  readonly subtree: boolean;
  /** Records that were printed before. */
  readonly records: number;
  readonly isWanted: IsWanted;
}

/** Resolves when the worker shall run no more and the copy has its end; with undefined where no run came after `past`. */
export const watchCopy = async (context: Context, asked: WatchOfCopy): Promise<CommandResult | undefined> => {
  const watch = new CopyWatch(context, asked);
  try {
    return await outlasting(context, { resume: () => watch.resume() }, (client) => watch.follow(client));
  } catch (cause) {
    if (cause instanceof CopyAway) return failure(cause.error);
    throw cause;
  }
};

/** The database was away for too long. The daemon is there. */
class CopyAway extends Error {
  readonly error: HoldfastError;

  constructor(error: HoldfastError) {
    super(error.message);
    this.error = error;
  }
}

class CopyWatch {
  private readonly context: Context;
  private readonly asked: WatchOfCopy;
  private after: number;
  private records: number;
  /** All that the copy had at first was read. */
  private isLive = false;
  /** Since the database gave no answer, by the clock of this process. */
  private awaySince: number | undefined;
  /** Since it shall run no more. */
  private overSince: number | undefined;
  private told: string | undefined;
  /** Workers of the newest run that were read of, and not of their end. */
  private readonly open = new Set<string>();

  constructor(context: Context, asked: WatchOfCopy) {
    this.context = context;
    this.asked = asked;
    this.after = asked.after;
    this.records = asked.records;
  }

  resume(): string {
    const { name, subtree } = this.asked;
    const from = this.after > 0 ? ` --from copy:${this.after}` : "";
    return `agent watch ${name}${subtree ? " --subtree" : ""}${from}`;
  }

  async follow(client: Client): Promise<CommandResult | undefined> {
    for (;;) {
      const known = await this.answerOf(client, "cluster/workers", { worker: this.asked.name });
      const worker = known?.workers[0];
      const isGone = known !== undefined && worker === undefined;
      if (isGone && this.asked.past === undefined) throw notPlaced(this.asked.name);
      if (isGone) return undefined;
      if (worker !== undefined && (await this.look(client, worker))) return this.end(worker);
      await sleep(CLUSTER_COPY_POLL_MS);
    }
  }

  /** Whether it has ended. The records are read after that, so its end is among them. */
  private async look(client: Client, worker: ElsewhereWorker): Promise<boolean> {
    if (worker.id !== null) this.context.know(worker.id, worker.name);
    if (this.told === undefined && this.asked.past === undefined)
      this.context.notice(copySentence(this.whose(worker), worker));
    const { name, past, subtree, isWanted } = this.asked;
    for (let isMore = true; isMore; ) {
      const query = { worker: name, runs: "all", past, subtree, after: this.after } as const;
      const page = await this.answerOf(client, "cluster/records", query);
      if (page === undefined) return false;
      for (const record of page.records) this.count(record);
      for (const record of page.records.filter((one) => isWanted(one, this.isLive))) {
        await this.context.record(record);
        this.records++;
      }
      this.after = page.place;
      isMore = page.next !== null;
    }
    this.isLive = true;
    // Its run here has ended, and no other one has begun.
    if (worker.id === null || worker.id !== past) this.tell(worker);
    if (worker.desired === "running") return false;
    const isAway = worker.node === null || ["dead", "left"].includes(worker.node_state ?? "dead");
    if (isAway || worker.id === past) return true;
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

  private whose({ name }: ElsewhereWorker): string {
    return this.context.call.args.length > 1 ? `The records of ${oneLine(name)} are` : "These records are";
  }

  /** Says where it is, once for each change. */
  private tell(worker: ElsewhereWorker): void {
    const { name, node, node_state, beat_age_ms, desired } = worker;
    const isAway = node_state === "dead" || node_state === "left";
    const now = `${node}${isAway}`;
    const isFirst = this.told === undefined;
    if (now === this.told || desired !== "running") return;
    this.told = now;
    const where = oneLine(name);
    if (node === null) this.context.notice(`No node has ${where} now. This goes on when one runs it.`);
    else if (isAway)
      this.context.notice(
        `The node ${oneLine(node)} is ${node_state} and renewed its lease ${duration(beat_age_ms ?? 0)} ago. This goes on when another one runs ${where}.`,
      );
    else if (!isFirst || this.asked.past !== undefined)
      this.context.notice(`The node ${oneLine(node)} has ${where} now.`);
  }

  private end(worker: ElsewhereWorker): CommandResult | undefined {
    if (worker.id !== null && worker.id === this.asked.past) return undefined;
    const { source, name, id, node, node_state, beat_age_ms, through } = worker;
    const of = { source, name, id, node, node_state, beat_age_ms, through };
    return success({ ...of, records: this.records, next: this.after, cursor: `copy:${this.after}` });
  }

  /** Undefined while the database gives no answer. Throws CopyAway after a while. */
  private async answerOf<Name extends "cluster/workers" | "cluster/records">(
    client: Client,
    name: Name,
    asked: RequestInput<Name>,
  ) {
    const answer = await client.ask(name, asked);
    if (answer.ok) {
      this.awaySince = undefined;
      return answer.value;
    }
    const { error } = answer;
    // The daemon that is away says the same of itself.
    if (error.code !== "UNAVAILABLE" || !(await client.ask("daemon/status", {})).ok) throw error;
    const now = performance.now();
    if (this.awaySince === undefined)
      this.context.notice(`The cluster gives no answer: ${error.message} This goes on when it does.`);
    this.awaySince ??= now;
    if (now - this.awaySince > CLUSTER_COPY_AWAY_MS) throw new CopyAway(awayFor(this.resume(), error));
    return undefined;
  }
}

const notPlaced = (name: string): HoldfastError =>
  new HoldfastError("WORKER_NOT_FOUND", `The cluster has placed no worker ${oneLine(name)}.`, {
    suggestion: "See all of its workers with: agent list",
  });

const awayFor = (resume: string, { message }: HoldfastError): HoldfastError =>
  new HoldfastError(
    "UNAVAILABLE",
    `The cluster gave no answer for ${duration(CLUSTER_COPY_AWAY_MS)}: ${message}`,
    { suggestion: `To go on where this ended: ${resume}` },
  );
