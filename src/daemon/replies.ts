/**
 * The answer of each command: the `data` of its terminal `ok` envelope (an object, protocol-v1.txt), for
 * handlers and clients.
 */

import type { Effect } from "effect";
import type { DefectCount } from "../actors/defects.ts";
import type { ClaimReply, ItemsReply, PostReply, ReleaseReply } from "../protocol/replies/blackboard.ts";
import type {
  ClusterChange,
  ClusterMade,
  ClusterStatus,
  CopiedPage,
  ElsewhereHits,
  ElsewherePage,
  NodeChange,
  NodeDrained,
} from "../protocol/replies/cluster.ts";
import type { NotifyListReply, NotifyResendReply, NotifyTestReply } from "../protocol/replies/notify.ts";
import type { AuditPage } from "../protocol/replies/peers.ts";
import type { SkillAnswer, SkillsReply, SkillToolsReply, SkillView } from "../protocol/replies/skills.ts";
import type { SpawnManyReply } from "../protocol/replies/spawn-many.ts";
import type { RequestName } from "../protocol/requests.ts";
import type { BuiltinCommand } from "../protocol/words.ts";
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
import type { BoardApi } from "../runtime/board-api.ts";
import type { PeersApi } from "../runtime/peers-api.ts";
import type { SchedulesApi } from "../runtime/schedules-api.ts";
import type { TokensApi } from "../runtime/tokens-api.ts";
import type { LoopLag } from "./health.ts";
import type { CallerEvidence } from "./peer.ts";
import type { TelemetryStanding } from "./telemetry-api.ts";
import type { HealthFacts } from "./watchdog.ts";

/** The answer of a skill; how it was made is in `meta`. */
type SkillData = SkillAnswer["data"];

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
  /** Errors since the daemon started that were thrown where none should be. */
  readonly defects: DefectCount;
  readonly health: HealthFacts;
  /** How callers are identified. */
  readonly callers: CallerEvidence;
  /** config.yaml has changed since the daemon read it. */
  readonly configuration_changed: boolean;
  /** A daemon, or a program that embeds the runtime. */
  readonly served_by: "daemon" | "program";
  /** The URL of HTTP; null if nobody asked for it. `trouble`: why it is not served now. */
  readonly http: { readonly url: string | null; readonly trouble: string | null } | null;
  /** Null if nobody asked for it. */
  readonly telemetry: TelemetryStanding | null;
}

/** `next` is the seq to go on from, `cursor` the same with the log's epoch; `records` how many were sent as progress. */
export interface StreamReply {
  readonly next: number;
  readonly records: number;
  readonly cursor: string;
}

/** `noop`: it was done before, with the same idempotency key. */
export interface RepeatedReply {
  readonly effect?: "noop";
}

/** Answers that differ from the runtime call of the same name. */
interface OwnReplies {
  "agent/fork": SpawnReply;
  "agent/spawn-many": SpawnManyReply;
  "worktree/remove": { readonly results: readonly PerWorker[] };
  "tree/apply": AppliedReply & RepeatedReply;
  "tree/down": AppliedReply & RepeatedReply;
  /** `total` counts the workers of all pages; `cursor` is present if more follow. */
  "agent/list": {
    readonly workers: readonly WorkerView[];
    readonly total: number;
    readonly cursor?: string;
  };
  "agent/watch": StreamReply;
  "bb/post": PostReply;
  "bb/list": ItemsReply;
  "bb/search": ItemsReply;
  "bb/claim": ClaimReply;
  "bb/release": ReleaseReply;
  "bb/watch": StreamReply;
  "board/watch": StreamReply;
  /** `refused`: adapters of users that are left out, with the reasons. */
  "agent/capabilities": {
    readonly kinds: Success<"capabilities">;
    readonly refused: RuntimeApi["refused"];
  };
  "jobs/submit": SubmittedJob;
  "jobs/list": JobsReply;
  "jobs/info": JobView;
  /** Sent after the job's steps. */
  "jobs/tail": JobView;
  "jobs/wait": { readonly jobs: readonly JobView[] };
  "jobs/result": JobResult;
  "jobs/cancel": { readonly results: readonly PerWorker[] };
  "skill/run": SkillData;
  "skill/list": SkillsReply;
  "skill/tools": SkillToolsReply;
  "skill/info": SkillView;
  "skill/check": SkillView;
  "audit/list": AuditPage;
  "notify/list": NotifyListReply;
  "notify/resend": NotifyResendReply;
  "notify/test": NotifyTestReply;
  "cluster/init": ClusterMade;
  "cluster/join": ClusterChange;
  "cluster/leave": NodeChange;
  "cluster/drain": NodeDrained;
  "cluster/status": ClusterStatus;
  "cluster/records": CopiedPage;
  "cluster/workers": ElsewherePage;
  "cluster/search": ElsewhereHits;
  "protocol/hello": HelloReply;
  "daemon/status": DaemonStatus;
  "daemon/stop": { readonly agents: "kill" | "keep"; readonly live: number };
}

/** A list is the `results` of an object, also in the data of a PARTIAL_FAILURE. */
type ReplyOf<Name> = Name extends `mailbox/${infer M extends keyof MailboxApi}`
  ? Effect.Success<ReturnType<MailboxApi[M]>>
  : Name extends `schedule/${infer M extends keyof SchedulesApi}`
    ? Effect.Success<ReturnType<SchedulesApi[M]>>
    : Name extends `token/${infer M extends keyof TokensApi}`
      ? Effect.Success<ReturnType<TokensApi[M]>>
      : Name extends `peer/${infer M extends keyof PeersApi}`
        ? Effect.Success<ReturnType<PeersApi[M]>>
        : Name extends `board/${infer M extends Exclude<keyof BoardApi, "watch">}`
          ? Effect.Success<ReturnType<BoardApi[M]>>
          : Name extends `${string}/${infer M extends keyof RuntimeApi}`
            ? Success<M> extends readonly unknown[]
              ? { readonly results: Success<M> }
              : Success<M>
            : never;

export type Replies = {
  [Name in RequestName]: Name extends BuiltinCommand
    ? SkillData
    : Name extends keyof OwnReplies
      ? OwnReplies[Name]
      : ReplyOf<Name>;
};

export interface HelloReply {
  readonly version: number;
  readonly profiles: readonly string[];
  readonly commands: readonly RequestName[];
  /** Bounds of requests and answers, with the contract's names. */
  readonly limits: Readonly<Record<string, number>>;
  readonly daemon: { readonly version: string; readonly store_id: string; readonly epoch: string };
  /** The caller of this connection, as records spell it: `user`, `user:NAME`, `worker:ID` or `unknown`. */
  readonly caller: string;
}
