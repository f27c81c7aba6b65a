/** The workers of Weblisk tasks, by the daemon's socket. */

import { crashPoint } from "../../base/crash-point.ts";
import type { JsonObject } from "../../base/json.ts";
import {
  WEBLISK_APPROVALS_MAX,
  WEBLISK_HEALTH_WAIT_MS,
  WEBLISK_RESULT_TEXT_MAX_BYTES,
} from "../../base/limits.ts";
import { type Client, valueOrThrow } from "../../daemon/client.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import { USER_BOX } from "../../protocol/mail-records.ts";
import type { ApprovalView } from "../../protocol/replies/talk.ts";
import type { ChangesReply, WorkerInfo } from "../../protocol/replies/workers.ts";
import type { JsonValue } from "../../protocol/talk-records.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import type {
  TaskApproval,
  TaskChange,
  TaskEnd,
  TaskOrder,
  TaskWorker,
  TaskWorkers,
  TrailPage,
} from "../../weblisk/server/opened.ts";
import type { LastingLink } from "../lasting-link.ts";
import { ApprovalNews } from "./approval-news.ts";

/** As src/weblisk/server writes it; that is loaded on demand alone. */
const TASK_LABEL = "weblisk_task";

const ACTIONS = { added: "create", modified: "modify", type_changed: "modify", deleted: "delete" } as const;

const taskChanges = ({ path, from, change }: ChangesReply["files"][number]): readonly TaskChange[] => {
  if (change !== "renamed") return [{ path, action: ACTIONS[change] }];
  const gone = from === undefined ? [] : [{ path: from, action: "delete" } as const];
  return [...gone, { path, action: "create" }];
};

/** Counts that nobody knows are left out. */
const measuredIn = (
  { usage, turns, tool_calls }: WorkerInfo,
  changed: ChangesReply["totals"] | undefined,
): Readonly<Record<string, number>> => {
  const { input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, estimated_usd } = usage;
  const known = Object.entries({
    ...{ turns, tool_calls, input_tokens, output_tokens, cached_tokens, reasoning_tokens },
    cost_usd: cost_usd ?? estimated_usd,
    changed_files: changed?.files,
    inserted_lines: changed?.insertions,
    deleted_lines: changed?.deletions,
  });
  return Object.fromEntries(known.filter((each): each is [string, number] => typeof each[1] === "number"));
};

/** A task has one worker; more are looked for only to take the first of them. */
const SAME_TASK_MAX = 8;

export interface TaskWorkersGround {
  readonly link: LastingLink;
  /** A connection to the daemon that runs; rejects if there is none. */
  readonly connect: () => Promise<Client>;
  /** The spec of a served agent's workers, before a task is known. */
  readonly specOf: (agent: string) => Promise<WorkerSpecInput>;
  readonly randomBytes: (size: number) => Buffer;
}

export class DaemonTaskWorkers implements TaskWorkers {
  private readonly ground: TaskWorkersGround;
  private readonly news: ApprovalNews;

  constructor(ground: TaskWorkersGround) {
    this.ground = ground;
    this.news = new ApprovalNews(ground.link);
  }

  async find(labels: Readonly<Record<string, string>>): Promise<readonly TaskWorker[]> {
    const asked = { all: true, labels, limit: SAME_TASK_MAX };
    const { workers: listed } = await this.ground.link.ask("agent/list", asked);
    const { workers } =
      listed.length > 0
        ? { workers: listed }
        : await this.ground.link.ask("agent/list", { ...asked, archived: true });
    return workers
      .map((worker) => ({ id: worker.id, labels: worker.labels }))
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  async running(labels: Readonly<Record<string, string>>, max: number): Promise<readonly TaskWorker[]> {
    const { workers } = await this.ground.link.ask("agent/list", { labels, limit: max });
    return workers.map(({ id, labels: all }) => ({ id, labels: all }));
  }

  async approvals(worker?: string): Promise<readonly TaskApproval[]> {
    const asked = { ...(worker !== undefined && { id: worker }), limit: WEBLISK_APPROVALS_MAX };
    const { approvals } = await this.ground.link.ask("agent/approvals", asked);
    return (await Promise.all(approvals.map((approval) => this.ofTask(approval)))).flat();
  }

  async approval(id: string): Promise<TaskApproval | undefined> {
    try {
      const { approvals } = await this.ground.link.ask("agent/approvals", { id, all: true });
      // The id of a worker would be answered with all of its approvals.
      const found = approvals.find(({ approval_id }) => approval_id === id);
      return found && (await this.ofTask(found))[0];
    } catch (cause) {
      if (asHoldfastError(cause).code === "WORKER_NOT_FOUND") return undefined;
      throw cause;
    }
  }

  async decide(id: string, decision: "allow" | "deny", message: string): Promise<void> {
    await this.ground.link.ask("agent/approve", {
      id,
      decision,
      message,
      idempotency_key: crypto.randomUUID(),
    });
  }

  async post(to: string | undefined, event: JsonObject, key: string): Promise<void> {
    const payload = event as JsonValue;
    await this.ground.link.ask("mailbox/send", {
      to: to ?? USER_BOX,
      type: "event",
      payload,
      idempotency_key: key,
    });
  }

  async trail(after: number, limit: number): Promise<TrailPage> {
    return this.ground.link.ask("audit/list", { after, limit });
  }

  /** None for an approval of a worker that has no task. */
  private async ofTask(approval: ApprovalView): Promise<readonly TaskApproval[]> {
    const { approval_id, worker_id, state, tool, title, input, requested_at } = approval;
    const { labels } = await this.ground.link.ask("agent/info", { id: worker_id });
    if (labels[TASK_LABEL] === undefined) return [];
    const worker = { id: worker_id, labels };
    const asked_ms = Date.parse(requested_at);
    return [{ id: approval_id, worker, state, tool, title, input: JSON.stringify(input), asked_ms }];
  }

  async spawn({
    agent,
    prompt,
    cwd,
    priority,
    deadline_ms,
    labels,
    trace,
    name,
    key,
  }: TaskOrder): Promise<string> {
    const base = await this.ground.specOf(agent);
    const span = this.ground.randomBytes(8).toString("hex");
    const spec: WorkerSpecInput = {
      ...base,
      prompt,
      cwd,
      priority,
      labels: { ...base.labels, ...labels },
      ...(name !== undefined && { name }),
      ...(deadline_ms !== undefined && { deadline_at: new Date(deadline_ms).toISOString() }),
      // W3C knows no trace and no span of zeros alone.
      ...(/[1-9a-f]/.test(trace) &&
        /[1-9a-f]/.test(span) && { trace: { traceparent: `00-${trace}-${span}-01` } }),
    };
    const { id } = await this.ground.link.ask("agent/spawn", { spec, idempotency_key: key });
    crashPoint("weblisk-step");
    return id;
  }

  async end(id: string, within_ms: number, orAsks = false): Promise<TaskEnd | undefined> {
    const { link } = this.ground;
    const isWaiting = orAsks && within_ms > 0;
    const hasEnded = await (isWaiting ? this.endedOrAsks(id, within_ms) : this.hasEnded(id, within_ms));
    if (!hasEnded) return undefined;
    crashPoint("weblisk-step");
    const worker = await link.ask("agent/info", { id });
    const { text, isCut } = await this.outputOf(id);
    const changed = worker.workspace === null ? undefined : await this.changesOf(id);
    return {
      isSuccess: worker.status === "completed",
      text,
      isCut,
      changes: (changed?.files ?? []).flatMap(taskChanges),
      measurements: measuredIn(worker, changed?.totals),
      ...(worker.error !== null && { error: { code: worker.error.code, message: worker.error.message } }),
      attempts: worker.incarnation,
      begun_ms: Date.parse(worker.started_at ?? worker.created_at),
      ended_ms: Date.parse(worker.ended_at ?? worker.created_at),
    };
  }

  /** Undefined where neither the worktree nor its branch is there any more. */
  private async changesOf(id: string): Promise<ChangesReply | undefined> {
    try {
      return await this.ground.link.ask("agent/changes", { id });
    } catch (cause) {
      if (asHoldfastError(cause).code === "UNAVAILABLE") throw cause;
      return undefined;
    }
  }

  /** Whether it has ended: false after that time, and as soon as it waits for an approval. */
  private async endedOrAsks(id: string, within_ms: number): Promise<boolean> {
    const over = new AbortController();
    try {
      return await Promise.race([
        this.hasEnded(id, within_ms, over.signal),
        this.asks(id, over.signal).then(() => false),
      ]);
    } finally {
      over.abort();
    }
  }

  /** Resolves once it waits for an approval. */
  private asks(id: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const look = async (): Promise<void> => {
        if (!signal.aborted && (await this.approvals(id)).length > 0) resolve();
      };
      // Without its daemon the end of the worker is not heard of either, and that fails.
      const stop = this.news.listen(id, () => void look().catch(() => undefined));
      signal.addEventListener("abort", stop, { once: true });
    });
  }

  private async hasEnded(id: string, within_ms: number, signal?: AbortSignal): Promise<boolean> {
    const until = performance.now() + within_ms;
    const left = () => Math.max(1, Math.round(until - performance.now()));
    try {
      await this.ground.link.outlasting(async (client) =>
        valueOrThrow(await client.ask("agent/wait", { ids: [id], timeout_ms: left() }, signal)),
      );
      return true;
    } catch (cause) {
      if (asHoldfastError(cause).code === "TIMEOUT") return false;
      throw cause;
    }
  }

  async kill(id: string, reason: string): Promise<void> {
    await this.ground.link.ask("agent/kill", { ids: [id], reason, idempotency_key: crypto.randomUUID() });
  }

  async isReachable(): Promise<boolean> {
    try {
      const client = await this.ground.connect();
      return (await client.ask("daemon/status", {}, AbortSignal.timeout(WEBLISK_HEALTH_WAIT_MS))).ok;
    } catch {
      return false;
    }
  }

  /** A worker that never ran has said nothing. */
  private async outputOf(id: string): Promise<{ readonly text: string; readonly isCut: boolean }> {
    try {
      const asked = { id, max_bytes: WEBLISK_RESULT_TEXT_MAX_BYTES };
      const { text, truncated } = await this.ground.link.ask("agent/output", asked);
      return { text, isCut: truncated };
    } catch (cause) {
      if (asHoldfastError(cause).code === "UNAVAILABLE") throw cause;
      return { text: "", isCut: false };
    }
  }
}
