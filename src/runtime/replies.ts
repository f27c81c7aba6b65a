/**
 * The answers of the runtime: the shapes that the daemon sends, the client renders and the library returns. They do not use
 * Effect, so that users of the library need none of its types. Most are declared in `protocol/replies`.
 */
import type { RuntimeTrouble } from "../adapters/spawner.ts";
import type { DeniedCalls } from "../protocol/denied.ts";
import type { LogRecord, WorkerError } from "../protocol/records.ts";
import type { SupervisorPhase } from "../protocol/tree.ts";
import type { RestartPolicy, WorkerState } from "../protocol/worker.ts";
import type { DiskView } from "../supervisor/admission/disk.ts";

export type { MessageRow } from "../protocol/message-row.ts";
export type { RawAnswer } from "../protocol/raw.ts";
export type {
  Answered,
  AnswerReply,
  ApprovalsReply,
  ApprovalView,
  ApprovedReply,
  HoldView,
  InboxReply,
  MessageReply,
  MessagesReply,
  OutputReply,
} from "../protocol/replies/talk.ts";
export type {
  AppliedReply,
  TreeChange,
  TreeNode,
  TreeSupervisor,
  TreeWorker,
} from "../protocol/replies/trees.ts";
export type { SubtreeSum, UsageReply, UsageReport, UsageRow, UsageSum } from "../protocol/replies/usage.ts";
export type {
  BudgetView,
  ChangesReply,
  EffectWord,
  PauseView,
  PerWorker,
  QuestionView,
  SpawnReply,
  WaitReply,
  WorkerInfo,
  WorkerView,
} from "../protocol/replies/workers.ts";
export type { GcReport } from "../store/gc-report.ts";
export type { CheckReport } from "../store/upkeep.ts";
export type { DiskView };

/** The decisions about a worker or a supervisor, oldest first. */
export interface WhyReply {
  readonly id: string;
  readonly name: string | null;
  readonly type: "worker" | "supervisor";
  /** The state of a worker, or the phase of a supervisor. */
  readonly state: WorkerState | SupervisorPhase;
  readonly reason: string;
  /** The step that continues it if it is paused; null if nothing is to be done. */
  readonly suggestion: string | null;
  /** For a worker: as in `WorkerView`. */
  readonly denied?: readonly DeniedCalls[];
  readonly records: readonly LogRecord[];
  /** The number of older records that are not shown. */
  readonly omitted: number;
  /** Names of the workers in the records, by id. */
  readonly names: Readonly<Record<string, string>>;
}

export type { RuntimeTrouble };

/** A runtime of the daemon. */
export interface RuntimeView {
  readonly name: string;
  readonly backend_kind: string;
  /** Why it cannot be used now; null while it can. */
  readonly trouble: RuntimeTrouble | null;
}

export interface RuntimeStatus {
  readonly version: string;
  readonly pid: number;
  readonly node: string;
  readonly store_id: string;
  /** The epoch of the log's history. With a seq it makes a cursor, `EPOCH:SEQ`. */
  readonly epoch: string;
  /** When and why the last epoch ended: an older copy of the log was put back. Null in the first epoch. */
  readonly restored: { readonly at: string; readonly sentence: string } | null;
  readonly state_dir: string;
  readonly started_at: string;
  readonly head: number;
  /** Why the event log takes no records now; null if it does. */
  readonly store_error: (WorkerError & { readonly suggestion: string }) | null;
  /**
   * All but `total` count living workers. `polled`: their output is checked on a timer because file events (inotify) are
   * missing. `tampered`: this daemon found something in their run directory (`agent why`). `heartbeats.late`: not checked
   * for three of their heartbeats and at least 10 s; `oldest_ms`: the age of the oldest of the newest checks.
   */
  readonly workers: {
    readonly live: number;
    readonly total: number;
    readonly polled: number;
    readonly tampered: number;
    readonly heartbeats: { readonly late: number; readonly oldest_ms: number | null };
  };
  /** Its runtimes, the built-in one first. */
  readonly runtimes: readonly RuntimeView[];
  readonly disk: DiskView;
  readonly rss_bytes: number;
  readonly heap_bytes: number;
}

export type RawStream = "stdout" | "stderr";

/** A kind that a runtime knows. */
export interface KindView {
  readonly kind: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly capabilities: readonly string[];
  /** The program of the kind, and the variable that replaces it; null if argv names the program. */
  readonly binary: string | null;
  readonly variable: string | null;
  readonly origin: "built_in" | "user";
  /** The file of a user's adapter; null for a built-in one. */
  readonly module: string | null;
  /** Variables of the client's environment that the kind may need. */
  readonly variables: readonly string[];
  readonly default_restart: RestartPolicy;
}
