/**
 * The state of the `codex app-server` decoder between two lines: small, immutable, JSON. Every list is
 * bounded.
 */
import type { Usage, WorkerError } from "../../../../protocol/records.ts";
import type { OutputSchema, WorkerSpec } from "../../../../protocol/worker.ts";
import type { RequestId } from "../../../decoding/dialogue.ts";
import { NO_USAGE } from "../../../decoding/usage.ts";

/** The thread that the spec requests. */
export interface ThreadWanted {
  readonly cwd: string;
  readonly model: string | null;
  /** Values of codex's AskForApproval and SandboxMode. */
  readonly policy: string;
  readonly sandbox: string;
  /** Null for a new thread; `last` is the newest of the directory. */
  readonly from: { readonly by: "id"; readonly id: string } | { readonly by: "last" } | null;
  /** Begin a branch of the thread instead of continuing it. */
  readonly fork: boolean;
}

/** An item that has started and not ended. */
export interface OpenItem {
  readonly id: string;
  /** The name in `codex exec`: `command_execution`, … */
  readonly kind: string;
  readonly name: string | null;
  /** The paths of a file change, for the approval. Null if they exceed the bound. */
  readonly paths: readonly string[] | null;
}

/** A permission request of the open turn. */
export interface CodexPermissionRequest {
  readonly id: RequestId;
  readonly item: string | null;
  /**
   * codex no longer waits for an answer: it has one, or the turn is being interrupted. The end of the turn
   * tells which.
   */
  readonly resolved?: true;
}

export interface AppServerState {
  readonly mode: "app_server";
  readonly interactive: boolean;
  /** Null once the thread is open or could not be opened; then `refused` has the error. */
  readonly handshake: {
    readonly step: "initialize" | "list" | "thread";
    readonly wanted: ThreadWanted;
  } | null;
  readonly refused: WorkerError | null;
  readonly thread: string | null;
  /** The form of the answer of each turn. Absent without one. */
  readonly output_schema?: OutputSchema;
  /** The message whose turn is open. */
  readonly given: { readonly message_id: string; readonly acknowledged: boolean } | null;
  /** The last message whose turn is over. */
  readonly answered: string | null;
  /** codex's id of the open turn. */
  readonly turn: string | null;
  readonly turns_started: number;
  readonly turns_ended: number;
  readonly items: readonly OpenItem[];
  /** Ids of the turn's completed items, to ignore repetitions. Absent in a state of an older version. */
  readonly done?: readonly string[];
  readonly asks: readonly CodexPermissionRequest[];
  /** Items whose text was recorded in pieces, so that it is not recorded again when they are complete. */
  readonly in_pieces: readonly string[];
  /** The last whole answer of the turn. */
  readonly text: string | null;
  /** The error reported since the end of the last turn, because the next end repeats it. */
  readonly reported: WorkerError | null;
  /** The error of the last ended turn; null before the first end and after a success. */
  readonly failed: WorkerError | null;
  readonly usage: Usage;
  /** The usage of the open turn so far, and the last reported usage of the whole thread. */
  readonly turn_usage: Usage;
  readonly thread_usage: Usage | null;
  /** Types of warnings that are recorded: codex repeats them with every turn. */
  readonly warned: readonly string[];
  /** A line over the limit was skipped, perhaps the end of a turn. */
  readonly skipped: boolean;
}

/** Open items that are remembered. The end of an older one is recorded together with its call again. */
export const ITEMS_MAX = 12;
/** Completed items that are remembered, to recognise a repetition. */
export const DONE_MAX = 24;
/**
 * Open permission requests that are remembered. An older one can still be answered, but we do not withdraw
 * it.
 */
export const ASKS_MAX = 8;
/** Texts in pieces at one time. */
export const IN_PIECES_MAX = 8;
/** The maximum size of one change's paths, in bytes of JSON. */
export const PATHS_MAX_BYTES = 512;

export const begin = (
  { interactive, output_schema }: Pick<WorkerSpec, "interactive" | "output_schema">,
  wanted: ThreadWanted,
): AppServerState => ({
  mode: "app_server",
  interactive,
  ...(output_schema === undefined ? {} : { output_schema }),
  handshake: { step: "initialize", wanted },
  refused: null,
  thread: null,
  given: null,
  answered: null,
  turn: null,
  turns_started: 0,
  turns_ended: 0,
  items: [],
  asks: [],
  in_pieces: [],
  text: null,
  reported: null,
  failed: null,
  usage: NO_USAGE,
  turn_usage: NO_USAGE,
  thread_usage: null,
  warned: [],
  skipped: false,
});
