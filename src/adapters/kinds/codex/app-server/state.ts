/** The memory of the decoder of `codex app-server` between two lines: small, immutable, JSON. Every list has a bound. */
import type { Usage, WorkerError } from "../../../../protocol/records.ts";
import type { RequestId } from "../../../decoding/dialogue.ts";
import { NO_USAGE } from "../../../decoding/usage.ts";

/** The thread that the spec asks for. */
export interface ThreadWanted {
  readonly cwd: string;
  readonly model: string | null;
  /** AskForApproval and SandboxMode of codex. */
  readonly policy: string;
  readonly sandbox: string;
  /** Null for a new one; `last` is the newest of the directory. */
  readonly from: { readonly by: "id"; readonly id: string } | { readonly by: "last" } | null;
  /** A branch of it, and not the thread itself. */
  readonly fork: boolean;
}

/** An item that was started and has not ended. */
export interface OpenItem {
  readonly id: string;
  /** As `codex exec` names it: `command_execution`, … */
  readonly kind: string;
  readonly name: string | null;
  /** For a change of files: their paths, for whoever is asked about it. Null where they are more, or longer, than is kept. */
  readonly paths: readonly string[] | null;
}

/** A request for permission of the turn that is open. */
export interface CodexPermissionRequest {
  readonly id: RequestId;
  readonly item: string | null;
  /** codex waits for no answer to it any more: it has one, or its turn is being interrupted. The end of the turn tells which. */
  readonly resolved?: true;
}

export interface AppServerState {
  readonly mode: "app_server";
  readonly interactive: boolean;
  /** Null once the thread is open, or could not be opened: then `refused` says why. */
  readonly handshake: {
    readonly step: "initialize" | "list" | "thread";
    readonly wanted: ThreadWanted;
  } | null;
  readonly refused: WorkerError | null;
  readonly thread: string | null;
  /** The message whose turn is open. */
  readonly given: { readonly message_id: string; readonly acknowledged: boolean } | null;
  /** The last one whose turn is over. */
  readonly answered: string | null;
  /** codex's id of the turn that is open. */
  readonly turn: string | null;
  readonly turns_started: number;
  readonly turns_ended: number;
  readonly items: readonly OpenItem[];
  /** Ids of the turn's items that are complete: what is said of one again is nothing new. A state of an older version has none. */
  readonly done?: readonly string[];
  readonly asks: readonly CodexPermissionRequest[];
  /** Items whose text was told in pieces: it is not told again when they are complete. */
  readonly in_pieces: readonly string[];
  /** The last whole answer of the turn. */
  readonly text: string | null;
  /** The error that was told since the last turn's end: the end repeats it. */
  readonly reported: WorkerError | null;
  /** How the last turn that ended did so; null before the first and after a good one. */
  readonly failed: WorkerError | null;
  readonly usage: Usage;
  /** The usage of the open turn so far, and of the whole thread as it was told last. */
  readonly turn_usage: Usage;
  readonly thread_usage: Usage | null;
  /** Warnings that were told: codex repeats them with every turn. */
  readonly warned: readonly string[];
  /** A line over the limit was skipped: perhaps the end of a turn. */
  readonly skipped: boolean;
}

/** Items at one time. An older one's end is told with its call once more. */
export const ITEMS_MAX = 12;
/** Complete items whose repetition is known. */
export const DONE_MAX = 24;
/** Requests for permission at one time. An older one is answered all the same; it is only not withdrawn by us. */
export const ASKS_MAX = 8;
/** Texts at one time. */
export const IN_PIECES_MAX = 8;
/** Size of the paths of one change, in bytes of JSON. */
export const PATHS_MAX_BYTES = 512;

export const begin = (interactive: boolean, wanted: ThreadWanted): AppServerState => ({
  mode: "app_server",
  interactive,
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
