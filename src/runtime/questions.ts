/** The arguments of calls of the runtime that are not requests as the socket has them. */
import type { Caller } from "../protocol/caller.ts";
import type { StartCursor } from "../protocol/cursor.ts";
import type { RecordFilter } from "../store/event-log.ts";

export interface UsageAsked {
  /** These workers, and all below these supervisors. Empty: every worker there ever was. */
  readonly ids: readonly string[];
  /** `day`, `kind`, `model`, `worker` or `label:KEY`. */
  readonly by: string;
  /** Only turns completed within the last `since_ms` milliseconds. */
  readonly since_ms?: number | undefined;
  /** Also count everything that their agents spawned, at any depth. */
  readonly subtree: boolean;
}

export interface ResumeRequest {
  /** An interactive worker needs none: it can wait for its first message. */
  readonly prompt?: string | undefined;
  /** Branch the session. The old one stays unchanged. */
  readonly fork?: boolean | undefined;
  /** A new name. Default: the worker's own, but none for a fork. */
  readonly name?: string | undefined;
  readonly interactive?: boolean | undefined;
  /** The worker whose agent makes the request. */
  readonly parent?: string | undefined;
  readonly dry_run?: boolean | undefined;
  readonly idempotency_key?: string | undefined;
  readonly caller?: Caller | undefined;
}

export interface WatchQuery {
  /** Start after this seq or cursor. Undefined: start at the end of the log. */
  readonly from?: StartCursor;
  readonly since_ms?: number;
  /** Among the records already in the log, only the newest `tail` ones that pass the filter. */
  readonly tail?: number;
  /** End after this seq, even if the workers have not ended. */
  readonly until?: number;
  readonly ids?: readonly string[];
  /** Also records of everything that the agents of these workers spawn, at any depth. */
  readonly subtree?: boolean;
  /** Only records of these streams and of the workers in `ids`. */
  readonly streams?: readonly string[];
  readonly filter?: RecordFilter;
  /** False: end once the named workers have ended and everything is read. True: never end. */
  readonly follow: boolean;
}
