/** The answer of each command: the `data` of its terminal `ok` envelope (an object, protocol-v1.txt), for handlers and clients alike. */

import type { Effect } from "effect";
import type { DefectCount } from "../actors/defects.ts";
import type { RequestName } from "../protocol/requests.ts";
import type {
  AppliedReply,
  ChangesReply,
  MessagesReply,
  PerWorker,
  RuntimeApi,
  RuntimeStatus,
  SpawnReply,
  TreeNode,
  UsageReply,
  WaitReply,
  WhyReply,
  WorkerInfo,
  WorkerView,
} from "../runtime/api.ts";
import type { ApprovalsReply, ApprovedReply } from "../runtime/replies.ts";
import type { LoopLag } from "./health.ts";
import type { CallerEvidence } from "./peer.ts";
import type { HealthFacts } from "./watchdog.ts";

type Success<M extends keyof RuntimeApi> = RuntimeApi[M] extends (
  ...args: never[]
) => Effect.Effect<infer A, unknown>
  ? A
  : never;

export interface DaemonStatus extends RuntimeStatus {
  readonly socket: string;
  readonly connections: number;
  readonly requests_in_flight: number;
  readonly loop_lag_ms: LoopLag;
  /** Errors that were thrown where none may be, since the daemon started. */
  readonly defects: DefectCount;
  readonly health: HealthFacts;
  /** How callers are told apart. */
  readonly callers: CallerEvidence;
  /** config.yaml is not what the daemon has read. */
  readonly configuration_changed: boolean;
}

/** It was done before, under the same idempotency key. */
export interface Repeated {
  readonly effect?: "noop";
}

export interface Replies extends Record<RequestName, object> {
  "agent/spawn": SpawnReply;
  "agent/resume": SpawnReply;
  "agent/fork": SpawnReply;
  /** Also the data of a PARTIAL_FAILURE. */
  "agent/kill": { readonly results: readonly PerWorker[] };
  "agent/restart": { readonly results: readonly PerWorker[] };
  "worktree/remove": { readonly results: readonly PerWorker[] };
  "agent/changes": ChangesReply;
  "agent/pause": { readonly results: readonly PerWorker[] };
  "agent/unpause": { readonly results: readonly PerWorker[] };
  "tree/apply": AppliedReply & Repeated;
  "tree/down": AppliedReply & Repeated;
  "agent/answer": Success<"answer"> & Repeated;
  "agent/approvals": ApprovalsReply;
  "agent/approve": ApprovedReply;
  "agent/cancel": Success<"cancel">;
  "agent/send": Success<"send">;
  "agent/ask": Success<"ask">;
  "agent/messages": MessagesReply;
  /** `total` counts those of all pages; `cursor` is there when more follow. */
  "agent/list": {
    readonly workers: readonly WorkerView[];
    readonly total: number;
    readonly cursor?: string;
  };
  "agent/info": WorkerInfo;
  "agent/tree": TreeNode;
  "agent/usage": UsageReply;
  "agent/why": WhyReply;
  /** `next` is the seq to go on from, `cursor` the same with the log's epoch; `records` how many were sent as progress. */
  "agent/watch": { readonly next: number; readonly records: number; readonly cursor: string };
  "agent/wait": { readonly results: readonly WaitReply[] };
  "agent/output": Success<"output">;
  "agent/raw": Success<"raw">;
  /** `refused`: adapters of users that are left out, and why. */
  "agent/capabilities": {
    readonly kinds: Success<"capabilities">;
    readonly refused: RuntimeApi["refused"];
  };
  "protocol/hello": HelloReply;
  "daemon/status": DaemonStatus;
  "daemon/stop": { readonly agents: "kill" | "keep"; readonly live: number };
  "db/check": Success<"check">;
  "db/rebuild": Success<"rebuild">;
  "db/gc": Success<"gc">;
}

export interface HelloReply {
  readonly version: number;
  readonly profiles: readonly string[];
  readonly commands: readonly RequestName[];
  /** Bounds of requests and answers, by the names that the contract gives them. */
  readonly limits: Readonly<Record<string, number>>;
  readonly daemon: { readonly version: string; readonly store_id: string; readonly epoch: string };
}
