/** The workers of Weblisk tasks, by the daemon's socket. */
import { WEBLISK_HEALTH_WAIT_MS, WEBLISK_RESULT_TEXT_MAX_BYTES } from "../../base/limits.ts";
import { type Client, valueOrThrow } from "../../daemon/client.ts";
import { asHoldfastError } from "../../protocol/errors.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import type { TaskEnd, TaskOrder, TaskWorker, TaskWorkers } from "../../weblisk/server/opened.ts";
import type { LastingLink } from "../lasting-link.ts";

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

  constructor(ground: TaskWorkersGround) {
    this.ground = ground;
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

  async living(labels: Readonly<Record<string, string>>, max: number): Promise<number> {
    return (await this.ground.link.ask("agent/list", { labels, limit: max })).workers.length;
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
    return (await this.ground.link.ask("agent/spawn", { spec, idempotency_key: key })).id;
  }

  async end(id: string, within_ms: number): Promise<TaskEnd | undefined> {
    const { link } = this.ground;
    const until = performance.now() + within_ms;
    const left = () => Math.max(1, Math.round(until - performance.now()));
    try {
      await link.outlasting(async (client) =>
        valueOrThrow(await client.ask("agent/wait", { ids: [id], timeout_ms: left() })),
      );
    } catch (cause) {
      if (asHoldfastError(cause).code === "TIMEOUT") return undefined;
      throw cause;
    }
    const worker = await link.ask("agent/info", { id });
    const { text, isCut } = await this.outputOf(id);
    return {
      isSuccess: worker.status === "completed",
      text,
      isCut,
      ...(worker.error !== null && { error: { code: worker.error.code, message: worker.error.message } }),
      attempts: worker.incarnation,
      begun_ms: Date.parse(worker.started_at ?? worker.created_at),
      ended_ms: Date.parse(worker.ended_at ?? worker.created_at),
    };
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
