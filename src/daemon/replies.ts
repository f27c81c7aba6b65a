/** The answer of each command: the `data` of its terminal `ok` envelope (an object, protocol-v1.txt), for handlers and clients alike. */

import type { Effect } from "effect";
import type { DefectCount } from "../actors/defects.ts";
import type { RequestName } from "../protocol/requests.ts";
import type {
  AppliedReply,
  JobResult,
  JobsReply,
  JobView,
  MailboxApi,
  PerWorker,
  RuntimeApi,
  RuntimeStatus,
  SpawnReply,
  SubmittedJob,
  WorkerView,
} from "../runtime/api.ts";
import type { ClaimReply, ItemsReply, PostReply, ReleaseReply } from "../runtime/blackboard-replies.ts";
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
export interface RepeatedReply {
  readonly effect?: "noop";
}

/** Answers that are not those of the runtime call of the same name. */
interface OwnReplies {
  "agent/fork": SpawnReply;
  "worktree/remove": { readonly results: readonly PerWorker[] };
  "tree/apply": AppliedReply & RepeatedReply;
  "tree/down": AppliedReply & RepeatedReply;
  /** `total` counts those of all pages; `cursor` is there when more follow. */
  "agent/list": {
    readonly workers: readonly WorkerView[];
    readonly total: number;
    readonly cursor?: string;
  };
  /** `next` is the seq to go on from, `cursor` the same with the log's epoch; `records` how many were sent as progress. */
  "agent/watch": { readonly next: number; readonly records: number; readonly cursor: string };
  "bb/post": PostReply;
  "bb/list": ItemsReply;
  "bb/search": ItemsReply;
  "bb/claim": ClaimReply;
  "bb/release": ReleaseReply;
  "bb/watch": { readonly next: number; readonly records: number; readonly cursor: string };
  /** `refused`: adapters of users that are left out, and why. */
  "agent/capabilities": {
    readonly kinds: Success<"capabilities">;
    readonly refused: RuntimeApi["refused"];
  };
  "jobs/submit": SubmittedJob;
  "jobs/list": JobsReply;
  "jobs/info": JobView;
  /** After its steps. */
  "jobs/tail": JobView;
  "jobs/wait": { readonly jobs: readonly JobView[] };
  "jobs/result": JobResult;
  "jobs/cancel": { readonly results: readonly PerWorker[] };
  "protocol/hello": HelloReply;
  "daemon/status": DaemonStatus;
  "daemon/stop": { readonly agents: "kill" | "keep"; readonly live: number };
}

/** A list is the `results` of an object, also as the data of a PARTIAL_FAILURE. */
type ReplyOf<Name> = Name extends `mailbox/${infer M extends keyof MailboxApi}`
  ? Effect.Success<ReturnType<MailboxApi[M]>>
  : Name extends `${string}/${infer M extends keyof RuntimeApi}`
    ? Success<M> extends readonly unknown[]
      ? { readonly results: Success<M> }
      : Success<M>
    : never;

export type Replies = {
  [Name in RequestName]: Name extends keyof OwnReplies ? OwnReplies[Name] : ReplyOf<Name>;
};

export interface HelloReply {
  readonly version: number;
  readonly profiles: readonly string[];
  readonly commands: readonly RequestName[];
  /** Bounds of requests and answers, by the names that the contract gives them. */
  readonly limits: Readonly<Record<string, number>>;
  readonly daemon: { readonly version: string; readonly store_id: string; readonly epoch: string };
}
