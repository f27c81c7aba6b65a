/** agent watch of a placed worker on other nodes: what the cluster's copy has, and then what comes, over its moves (decision 0093). */
import { CLUSTER_COPY_AWAY_MS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { CopyFollow, type FollowedCopy, type IsWanted } from "../../daemon/copy-follow.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { failure, success } from "../../protocol/outcome.ts";
import type { ElsewhereWorker } from "../../protocol/replies/cluster.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import type { CommandResult, Context } from "../context.ts";
import { outlasting } from "../outlast.ts";
import { oneLine } from "../render/terminal.ts";
import { duration } from "../render/units.ts";
import { copySentence } from "./elsewhere.ts";

interface WatchOfCopy extends FollowedCopy {
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
  private readonly copy: CopyFollow;
  private records: number;
  /** Since the database gave no answer, by the clock of this process. */
  private awaySince: number | undefined;
  private told: string | undefined;

  constructor(context: Context, asked: WatchOfCopy) {
    this.context = context;
    this.asked = asked;
    this.copy = new CopyFollow(asked);
    this.records = asked.records;
  }

  resume(): string {
    const { name, subtree } = this.asked;
    const { after } = this.copy;
    const from = after > 0 ? ` --from copy:${after}` : "";
    return `agent watch ${name}${subtree ? " --subtree" : ""}${from}`;
  }

  async follow(client: Client): Promise<CommandResult | undefined> {
    const { name, past, isWanted } = this.asked;
    for await (const step of this.copy.steps((request, asked) => this.answerOf(client, request, asked))) {
      switch (step.type) {
        case "looked":
          this.looked(step.worker);
          break;
        case "record":
          if (!isWanted(step.record, step.isNew)) break;
          await this.context.record(step.record);
          this.records++;
          break;
        case "read":
          // Its run here has ended, and no other one has begun.
          if (step.worker.id === null || step.worker.id !== past) this.tell(step.worker);
          break;
        case "end":
          if (step.worker !== undefined) return this.end(step.worker);
          if (past === undefined) throw notPlaced(name);
          return undefined;
      }
    }
    return undefined;
  }

  private looked(worker: ElsewhereWorker): void {
    if (worker.id !== null) this.context.know(worker.id, worker.name);
    if (this.told === undefined && this.asked.past === undefined)
      this.context.notice(copySentence(this.whose(worker), worker));
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
    const { after } = this.copy;
    const { source, name, id, node, node_state, beat_age_ms, through } = worker;
    const of = { source, name, id, node, node_state, beat_age_ms, through };
    return success({ ...of, records: this.records, next: after, cursor: `copy:${after}` });
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
