/** Types alone: the world that a server needs, and the agents that it serves. */

import type { JsonObject } from "../../base/json.ts";
import type { AcceptedProfile } from "../../protocol/words.ts";
import type { KeptKeys } from "../identity/kept-keys.ts";
import type { WireBody } from "../wire/body.ts";
import type { RegisteredAgent } from "./grants.ts";

/** A worker of a task, as the log knows it. */
export interface TaskWorker {
  /** A ULID. */
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A task as work for a new worker. */
export interface TaskOrder {
  /** Name of the served agent. */
  readonly agent: string;
  readonly prompt: string;
  /** Absolute, and inside a root that is served. */
  readonly cwd: string;
  readonly priority: "critical" | "high" | "normal" | "low" | "background";
  /** Epoch milliseconds. */
  readonly deadline_ms?: number;
  readonly labels: Readonly<Record<string, string>>;
  /** 32 hex digits. */
  readonly trace: string;
  /** Name of the worker; without it, it has none. */
  readonly name?: string;
  /** The idempotency key of the spawn: a repeat makes no second worker. */
  readonly key: string;
}

/** A file that an agent has changed, by its path in the repository. */
export interface TaskChange {
  readonly path: string;
  readonly action: "create" | "modify" | "delete";
}

/** The end of a worker for good. */
export interface TaskEnd {
  readonly isSuccess: boolean;
  /** Its final answer, or the printed lines of a command; cut at its bound. */
  readonly text: string;
  readonly isCut: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  readonly attempts: number;
  /** In its own worktree; empty without one. */
  readonly changes: readonly TaskChange[];
  /** Sums over its turns, by name. */
  readonly measurements: Readonly<Record<string, number>>;
  /** Epoch milliseconds. */
  readonly begun_ms: number;
  readonly ended_ms: number;
}

/** A request for permission of a task's worker. */
export interface TaskApproval {
  /** A ULID. */
  readonly id: string;
  readonly worker: TaskWorker;
  readonly state: "open" | "allowed" | "denied" | "withdrawn";
  readonly tool: string | null;
  readonly title: string;
  /** The tool's input as JSON, with its secrets masked. */
  readonly input: string;
  /** Epoch milliseconds. */
  readonly asked_ms: number;
}

/** A page of the audit trail, oldest first. */
export interface TrailPage {
  readonly entries: readonly (JsonObject & { readonly seq: number })[];
  /** The `after` of the next page. */
  readonly next: number;
  readonly is_end: boolean;
}

/** The workers of tasks. Each call may reject with a HoldfastError. */
export interface TaskWorkers {
  /** Those that have all these labels, the oldest first. */
  find(labels: Readonly<Record<string, string>>): Promise<readonly TaskWorker[]>;
  /** Those of them that have not ended, `max` at most. */
  running(labels: Readonly<Record<string, string>>, max: number): Promise<readonly TaskWorker[]>;
  /** Answers with its id, as soon as the log has it. */
  spawn(order: TaskOrder): Promise<string>;
  /** Undefined if it has not ended after `within_ms`, or with `orAsks` as soon as it waits for an approval. */
  end(id: string, within_ms: number, orAsks?: boolean): Promise<TaskEnd | undefined>;
  /** Open ones of this worker, or of the workers of all tasks; the oldest first. */
  approvals(worker?: string): Promise<readonly TaskApproval[]>;
  /** Undefined if there is none with this id whose worker has a task. */
  approval(id: string): Promise<TaskApproval | undefined>;
  decide(id: string, decision: "allow" | "deny", message: string): Promise<void>;
  /** Puts an event into the mailbox of a worker, or of the operator, once for each key. */
  post(to: string | undefined, event: JsonObject, key: string): Promise<void>;
  trail(after: number, limit: number): Promise<TrailPage>;
  kill(id: string, reason: string): Promise<void>;
  /** Whether the daemon answers now. Never rejects, and starts none. */
  isReachable(): Promise<boolean>;
}

/** An agent of this machine on the wire. */
export interface ServedAgent {
  /** In the form of AGENT_NAME. */
  readonly name: string;
  readonly description: string;
  /** Capabilities that its manifest names; a caller needs all of them. */
  readonly capabilities: readonly string[];
  /** Tasks at a time. */
  readonly max_concurrent: number;
}

/** Somebody who gives tasks: a registered agent, or another hub. */
export interface TaskSender {
  readonly agent: Pick<RegisteredAgent, "name" | "profile">;
  readonly capabilities: readonly string[];
  /** False: a result is kept elsewhere, and for another time. */
  readonly keepsResults?: false;
}

/** Somebody who asks, by name and rights alone. */
export interface NamedCaller {
  readonly agent: { readonly name: string };
  readonly capabilities: readonly string[];
}

/** Somebody who does tasks: an agent of this machine, or one that has registered from elsewhere. */
export interface TaskTarget extends Pick<ServedAgent, "name" | "capabilities" | "max_concurrent"> {
  readonly elsewhere?: RegisteredAgent;
}

/** A request to an agent elsewhere. */
export interface AgentCall {
  readonly method: "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as JSON. */
  readonly text?: string;
  readonly isPrivateAllowed: boolean;
  readonly timeout_ms: number;
}

export interface AgentReply {
  readonly status: number;
  /** Undefined for a refusal that is no JSON. */
  readonly body: WireBody | undefined;
  readonly retry_after_s: number | undefined;
}

export interface ServerConfig {
  readonly stateDir: string;
  readonly version: string;
  /** Base of the URLs that others are told, without a slash at its end. */
  readonly url: () => string;
  readonly agents: readonly ServedAgent[];
  /** The profile in which senders sign, and in which they are answered; `auto`, the default: that of each sender's own. */
  readonly signing?: AcceptedProfile;
  /** Directories in which tasks may work, as realpaths; the first one is for tasks that name none. */
  readonly roots: readonly string[];
}

export interface ServerGround extends ServerConfig {
  readonly keys: KeptKeys;
  readonly workers: TaskWorkers;
  /** Throws for an address to which nothing may connect, and for an answer of success that is not to be read. */
  readonly exchange: (call: AgentCall) => Promise<AgentReply | "silent" | "slow">;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Rejects if the signal comes first. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly randomBytes: (size: number) => Buffer;
  /** Called with what no rule of the server foresaw, whose sender is told of a failure alone. */
  readonly tell: (defect: unknown) => void;
}
