/**
 * TaskTable of served agents. A task is a worker: its labels hold the id of the task, a digest of the request and its sender, so the
 * daemon's log is the table of tasks, and a server that starts again knows all of them. Only the signed result is a file. A task of an
 * agent elsewhere has a file in the place of a worker (forwarding.ts); an id means one task, wherever that is.
 */
import { realpathSync } from "node:fs";
import { isAbsolute, relative } from "node:path";
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import {
  WEBLISK_AGENT_LOOKS_MAX,
  WEBLISK_AGENT_TASKS_MAX,
  WEBLISK_BUSY_RETRY_S,
  WEBLISK_CANCEL_WAIT_MS,
  WEBLISK_DEADLINE_MAX_MS,
  WEBLISK_FORWARD_SOON_MS,
  WEBLISK_TASK_WAIT_MAX_MS,
  WEBLISK_TASKS_MAX,
} from "../../base/limits.ts";
import { canonicalJson } from "../../protocol/canonical-json.ts";
import { readAs } from "../types/read.ts";
import { TaskRequest } from "../types/tasks.ts";
import type { WireBody } from "../wire/body.ts";
import { newWireId, wireId } from "../wire/ids.ts";
import { WebliskRefusal } from "../wire/refusal.ts";
import type { ServerFiles } from "./files.ts";
import type { ForwardAttempt, KeptForward, TaskForwarder } from "./forwarding.ts";
import type { RegisteredAgent } from "./grants.ts";
import { AGENT, DIGEST, SENDER, TASK } from "./labels.ts";
import type { ServerGround, TaskSender, TaskTarget, TaskWorker } from "./ports.ts";
import { type RateTeller, RequestRate } from "./rates.ts";
import { pendingResult, RESULT_TIDY, requestDigest, resultOf } from "./results.ts";

interface KeptResult {
  readonly agent: string;
  readonly from: string;
  readonly request_digest: string;
  readonly result: JsonObject;
  /** As an agent elsewhere has written it. */
  readonly text?: string;
}

/** A task that is not over. `pending`: its signed result for now, since it waits for an approval. */
export interface UnfinishedTask {
  readonly task_id: string;
  readonly pending?: JsonObject;
  readonly text?: string;
}

/** Its signed result, or that it goes on. */
export type TaskAnswer = Pick<KeptResult, "result" | "text"> | UnfinishedTask;

interface TaskManner {
  readonly trace: string;
  /** Not to wait for the end. */
  readonly isAsync: boolean;
  /** Name of the worker. */
  readonly name?: string;
  readonly told?: RateTeller;
  /** Also answers as soon as the task waits for an approval. */
  readonly orAsks?: boolean;
}

interface TaskFacts {
  readonly agent: string;
  readonly from: string;
  readonly request_digest: string;
  readonly worker?: TaskWorker;
  /** That of an agent elsewhere. */
  readonly forward?: { readonly kept: KeptForward; readonly attempt: ForwardAttempt | undefined };
  readonly result?: JsonObject;
  readonly text?: string;
}

export class TaskTable {
  private readonly ground: ServerGround;
  private readonly files: ServerFiles;
  private readonly forwarder: TaskForwarder;
  private readonly perSender = new RequestRate(WEBLISK_AGENT_TASKS_MAX);
  private readonly looks = new RequestRate(WEBLISK_AGENT_LOOKS_MAX);
  private readonly perServer = new RequestRate(WEBLISK_TASKS_MAX);
  /** One task is looked up and begun at a time, so that none begins twice and no place is taken twice. */
  private beginning: Promise<unknown> = Promise.resolve();

  constructor(ground: ServerGround, files: ServerFiles, forwarder: TaskForwarder) {
    this.ground = ground;
    this.files = files;
    this.forwarder = forwarder;
  }

  /** Begins the task, or finds it, and waits for its end, unless it is not to. Throws AGENT_TIMEOUT if that takes too long. */
  async execute(
    target: TaskTarget,
    body: WireBody,
    caller: TaskSender,
    { trace, isAsync, name, told, orAsks = false }: TaskManner,
  ): Promise<TaskAnswer> {
    const request = readAs(TaskRequest, body.value);
    const task_id = wireId(request.id);
    if (task_id === undefined) throw invalid("id_malformed", "The id is not 32 hex digits; make a new one.");
    const now = this.ground.now();
    this.perSender.take(caller.agent.name, now, told);
    this.perServer.take("all", now, told);
    const missing = target.capabilities.filter((name) => !caller.capabilities.includes(name));
    if (missing.length > 0)
      throw new WebliskRefusal(
        "FORBIDDEN",
        `The token lacks ${missing.join(", ")}; a person grants it: agent weblisk grant ${caller.agent.name} ${target.capabilities.join(" ")}. Then register again, with a nonce.`,
        { reason: "capability_missing", detail: { missing } },
      );
    const asked = { target, task_id, request, body, caller, trace, name };
    const known = await this.inTurn(() => this.foundOrBegun(asked));
    if (isDone(known)) return known;
    if (isAsync) {
      // A sender that does not wait learns of an agent that is away.
      if (known.forward !== undefined)
        await this.forwarder.ended(known.forward.attempt, WEBLISK_FORWARD_SOON_MS);
      return { task_id };
    }
    const until = request.deadline === undefined ? Number.POSITIVE_INFINITY : request.deadline * 1_000 - now;
    const within_ms = Math.min(WEBLISK_TASK_WAIT_MAX_MS, Math.max(0, until));
    const answer = await this.ended(task_id, known, caller, { within_ms, orAsks });
    if ("result" in answer || answer.pending !== undefined) return answer;
    throw new WebliskRefusal(
      "AGENT_TIMEOUT",
      `The task goes on; send the same request again, or ask GET /v1/task/${task_id}.`,
      { reason: "task_goes_on", detail: { task_id } },
    );
  }

  /** The result of a caller's own task, or that it goes on. */
  async look(id: string, caller: TaskSender, told?: RateTeller): Promise<TaskAnswer> {
    this.looks.take(caller.agent.name, this.ground.now(), told);
    return this.seen(id, caller, { within_ms: 0, orAsks: true });
  }

  /** Waits for the end of a caller's own task; this counts for no limit, because its begin did. */
  outcome(id: string, caller: TaskSender): Promise<TaskAnswer> {
    return this.seen(id, caller, { within_ms: WEBLISK_TASK_WAIT_MAX_MS, orAsks: false });
  }

  private async seen(id: string, caller: TaskSender, wait: EndWait): Promise<TaskAnswer> {
    const { task_id, known } = await this.owned(id, caller);
    return isDone(known) ? known : this.ended(task_id, known, caller, wait);
  }

  /** Ends the caller's own task, also at an agent elsewhere. */
  async cancel(id: string, caller: TaskSender, told?: RateTeller): Promise<TaskAnswer> {
    this.looks.take(caller.agent.name, this.ground.now(), told);
    const { task_id, known } = await this.owned(id, caller);
    if (isDone(known)) return known;
    if (known.forward !== undefined) {
      const end = await this.forwarder.cancel({ task_id, caller }, known.forward.kept);
      return { task_id, ...end };
    }
    const answer = await this.ended(task_id, known, caller, { within_ms: 0, orAsks: true });
    if ("result" in answer) return answer;
    if (known.worker !== undefined)
      await this.ground.workers.kill(known.worker.id, `${caller.agent.name} cancelled its task`);
    return this.seen(id, caller, { within_ms: WEBLISK_CANCEL_WAIT_MS, orAsks: false });
  }

  private async owned(
    id: string,
    caller: TaskSender,
  ): Promise<{ readonly task_id: string; readonly known: TaskFacts }> {
    const task_id = wireId(id);
    const known = task_id === undefined ? undefined : await this.known(task_id);
    if (task_id === undefined || known === undefined || known.from !== caller.agent.name) throw unknownTask();
    return { task_id, known };
  }

  private inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.beginning.then(work);
    this.beginning = turn.catch(() => undefined);
    return turn;
  }

  private async known(task_id: string): Promise<TaskFacts | undefined> {
    this.files.tidy("results", this.ground.now(), RESULT_TIDY);
    const kept = this.files.read<KeptResult>("results", task_id);
    if (kept !== undefined) return kept;
    const forward = this.forwarder.known(task_id);
    if (forward !== undefined)
      return { ...forward, forward: { kept: forward, attempt: this.forwarder.attempt(task_id) } };
    const [worker] = await this.ground.workers.find({ [TASK]: task_id });
    if (worker === undefined) return undefined;
    const label = (name: string): string => worker.labels[name] ?? "";
    return { agent: label(AGENT), from: label(SENDER), request_digest: label(DIGEST), worker };
  }

  private async foundOrBegun(asked: TaskCall): Promise<TaskFacts> {
    const { target, task_id, body, caller } = asked;
    const request_digest = requestDigest(target.name, body.value);
    const from = caller.agent.name;
    const known = await this.known(task_id);
    if (known !== undefined && (known.request_digest !== request_digest || known.from !== from))
      throw new WebliskRefusal("INVALID_REQUEST", "Another request has this id; make a new one.", {
        reason: "task_id_reused",
        http: 409,
      });
    if (known?.result !== undefined || known?.worker !== undefined) return known;
    if (target.elsewhere === undefined) return this.begun(asked, request_digest);
    return this.forwarded(asked, target.elsewhere, request_digest, known?.forward?.kept);
  }

  /** Gives it to its agent elsewhere, or once more, if nobody has answered for it yet. */
  private forwarded(
    { task_id, request, body, caller, trace }: TaskCall,
    agent: RegisteredAgent,
    request_digest: string,
    earlier: KeptForward | undefined,
  ): TaskFacts {
    const now = this.ground.now();
    // Its result may have been kept, and removed since.
    if (earlier !== undefined && earlier.given_ms < now - RESULT_TIDY.keep_ms) throw forgotten();
    const deadline_ms = earlier === undefined ? this.deadlineOf(request) : undefined;
    const forward = earlier ?? {
      ...{ agent: agent.name, agent_id: agent.agent_id, from: caller.agent.name, request_digest },
      ...{ given_ms: now, ...(deadline_ms !== undefined && { deadline_ms }) },
    };
    return {
      ...forward,
      forward: {
        kept: forward,
        attempt: this.forwarder.give({ task_id, body, caller, trace }, agent, forward),
      },
    };
  }

  /** Epoch milliseconds; undefined without one. */
  private deadlineOf({ deadline }: TaskCall["request"]): number | undefined {
    if (deadline === undefined) return undefined;
    const [deadline_ms, now] = [deadline * 1_000, this.ground.now()];
    if (deadline_ms <= now) throw invalid("deadline_passed", "The deadline has passed; set a later one.");
    if (deadline_ms > now + WEBLISK_DEADLINE_MAX_MS)
      throw invalid(
        "deadline_too_late",
        `The deadline is over ${WEBLISK_DEADLINE_MAX_MS / 86_400_000} days away.`,
      );
    return deadline_ms;
  }

  private async begun(
    { target, task_id, request, body, caller, trace, name }: TaskCall,
    digest: string,
  ): Promise<TaskFacts> {
    const { workers } = this.ground;
    const deadline_ms = this.deadlineOf(request);
    const prompt = promptIn(request);
    const cwd = this.placeOf(request.context.workspace_root);
    const running = await workers.running({ [AGENT]: target.name }, target.max_concurrent);
    if (running.length >= target.max_concurrent)
      throw new WebliskRefusal(
        "RATE_LIMITED",
        `${target.name} works on ${running.length} tasks; try again later.`,
        {
          reason: "max_concurrent",
          retry_after: WEBLISK_BUSY_RETRY_S,
        },
      );
    const facts = { agent: target.name, from: caller.agent.name, request_digest: digest };
    const labels = {
      [TASK]: task_id,
      [AGENT]: target.name,
      [DIGEST]: digest,
      [SENDER]: facts.from,
    };
    const id = await workers.spawn({
      agent: target.name,
      prompt,
      cwd,
      priority: request.priority,
      ...(deadline_ms !== undefined && { deadline_ms }),
      labels,
      trace: wireId(asObject(body.value.context)?.trace_id) ?? trace,
      ...(name !== undefined && { name }),
      key: `weblisk:${task_id}`,
    });
    return { ...facts, worker: { id, labels } };
  }

  private async ended(
    task_id: string,
    known: TaskFacts,
    caller: TaskSender,
    { within_ms, orAsks }: EndWait,
  ): Promise<TaskAnswer> {
    const { agent, from, request_digest, worker, forward } = known;
    if (forward !== undefined) {
      const end = await this.forwarder.ended(forward.attempt, within_ms);
      return end === undefined ? { task_id } : { task_id, ...end };
    }
    if (worker === undefined) return { task_id };
    const end = await this.ground.workers.end(worker.id, within_ms, orAsks);
    if (end === undefined) return orAsks ? this.unfinished(task_id, known, worker, caller) : { task_id };
    // It may have been signed, and removed since: two signatures of one result could differ.
    if (end.ended_ms < this.ground.now() - RESULT_TIDY.keep_ms) throw forgotten();
    const key = this.ground.keys.of(agent);
    const { profile } = caller.agent;
    const result = resultOf({ task_id, agent, worker: worker.id, request_digest, end, key, profile });
    if (caller.keepsResults === false) return { result };
    const kept: KeptResult = { agent, from, request_digest, result };
    return this.files.writeOnce("results", task_id, kept, newWireId(this.ground.randomBytes));
  }

  private async unfinished(
    task_id: string,
    { agent, request_digest }: TaskFacts,
    { id: worker }: TaskWorker,
    caller: TaskSender,
  ): Promise<UnfinishedTask> {
    const approvals = await this.ground.workers.approvals(worker);
    if (approvals.length === 0) return { task_id };
    const key = this.ground.keys.of(agent);
    const { profile } = caller.agent;
    const now = this.ground.now();
    return {
      task_id,
      pending: pendingResult({ task_id, agent, worker, request_digest, approvals, now, key, profile }),
    };
  }

  /** The directory in which the task works. */
  private placeOf(asked: string | undefined): string {
    const { roots } = this.ground;
    if (asked === undefined) return roots[0] as string;
    const place = isAbsolute(asked) ? realOf(asked) : undefined;
    if (place !== undefined && roots.some((root) => isInside(root, place))) return place;
    throw new WebliskRefusal("FORBIDDEN", "The workspace_root is in no directory that is served.", {
      reason: "workspace_outside",
    });
  }
}

const isDone = (known: TaskFacts): known is TaskFacts & KeptResult => known.result !== undefined;

interface EndWait {
  readonly within_ms: number;
  readonly orAsks: boolean;
}

interface TaskCall {
  readonly target: TaskTarget;
  readonly task_id: string;
  readonly request: ReturnType<typeof readAs<typeof TaskRequest>>;
  readonly body: WireBody;
  readonly caller: TaskSender;
  readonly trace: string;
  readonly name: string | undefined;
}

const invalid = (reason: string, message: string): WebliskRefusal =>
  new WebliskRefusal("INVALID_REQUEST", message, { reason });

const forgotten = (): WebliskRefusal =>
  new WebliskRefusal(
    "RETENTION_EXPIRED",
    `A result is kept for ${RESULT_TIDY.keep_ms / 86_400_000} days; give the task again, with a new id.`,
    { reason: "result_expired" },
  );

const unknownTask = (): WebliskRefusal =>
  new WebliskRefusal("NOT_FOUND", "There is no such task of yours.", { reason: "task_unknown" });

const realOf = (path: string): string | undefined => {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
};

const isInside = (root: string, place: string): boolean => {
  const way = relative(root, place);
  return way === "" || (way !== ".." && !way.startsWith("../") && !isAbsolute(way));
};

/** The member `prompt` of the inputs by their names in all vintages; inputs without one are told as JSON. */
const promptIn = ({ inputs, payload, input, action }: TaskCall["request"]): string => {
  const given = [inputs, payload, input].find((map) => map !== undefined && Object.keys(map).length > 0);
  const prompt = asString(given?.prompt);
  if (prompt !== undefined && prompt.trim() !== "") return prompt;
  if (given === undefined || prompt !== undefined)
    throw invalid("prompt_missing", "The task says nothing; give inputs.prompt.");
  return canonicalJson({ ...(action !== undefined && { action }), inputs: given });
};
