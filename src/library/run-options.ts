/** The arguments of `run`, of the calls of a handle, and of those that follow a worker. */
import type { AbortOptions, OnApproval } from "./answers.ts";
import type { EventKind, RecordType } from "./events.ts";
import type { PageOptions, SpawnOptions } from "./options.ts";
import type { OutputForm } from "./structured.ts";

export type { AbortOptions, ApprovalAnswer, OnApproval } from "./answers.ts";

export interface WaitOptions extends AbortOptions {
  /** Rejects with TIMEOUT after this time. Default: never. */
  readonly timeout_ms?: number;
}

export interface SendOptions {
  /** A repeat with the same key has no effect. */
  readonly idempotency_key?: string;
  /** Closes the agent's input after the message. */
  readonly close?: boolean;
}

/** An abort also ends the agent's turn, as `cancel` does. */
export interface AskOptions extends AbortOptions {
  readonly idempotency_key?: string;
  /** Rejects with TIMEOUT after this time. Default: 10 minutes. */
  readonly timeout_ms?: number;
}

/** Names of types narrow the records. An abort of the signal ends the loop without an error. */
export interface WatchOptions<T extends RecordType = RecordType> extends AbortOptions {
  /** Only records of these workers. Default: of all. */
  readonly ids?: readonly string[];
  /** Also records of everything that their agents spawn, at any depth; it ends with the last of them. Default: false. */
  readonly subtree?: boolean;
  /** Only records of these types. */
  readonly types?: readonly T[];
  /** Only AgentEvents of these kinds. */
  readonly kinds?: readonly EventKind[];
  /** Yields records after this seq, or after a cursor (`Runtime.cursor`). Default: the first record for named workers, the live tail for all. */
  readonly from?: number | string;
  /** In the place of `from`: begins with the records that are at most so old. */
  readonly since_ms?: number;
  /** Begins with only the newest of the records on file. */
  readonly tail?: number;
  /** Continues after the workers have ended. Default: false for named workers, true for all. */
  readonly follow?: boolean;
}

/** Kinds narrow the events. An abort of the signal ends the loop without an error. */
export interface EventsOptions<K extends EventKind = EventKind> extends AbortOptions {
  /** Only events of these kinds. */
  readonly kinds?: readonly K[];
  /** Yields events after this seq or cursor. Default: the first event. */
  readonly from?: number | string;
  /** Continues after the worker has ended. Default: false. */
  readonly follow?: boolean;
}

/** The arguments of `run`: those of `spawn`, and what the program does with the worker. */
export type RunOptions<
  F extends OutputForm | undefined = undefined,
  K extends string = never,
> = SpawnOptions<K> &
  AbortOptions & {
    /**
     * The form of the answer: a schema of zod or of another library with Standard JSON Schema, or a JSON Schema of an object.
     * `result` then has the answer as `object`.
     */
    readonly output?: F;
    /** Answers its requests for permission; needs `permission: "ask"` or a rule that asks. */
    readonly onApproval?: OnApproval;
  };

export interface ApprovalsOptions extends PageOptions {
  /** Those of one worker, or one request. */
  readonly id?: string;
  /** Also answered ones. */
  readonly all?: boolean;
}

export interface ApprovalsWatchOptions extends AbortOptions {
  /** Only those of this worker. */
  readonly id?: string;
}
