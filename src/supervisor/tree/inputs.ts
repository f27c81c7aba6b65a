/** All inputs of the decision about a file's tree, and all commands that it can give. */
import type { RecordDraft } from "../../protocol/records.ts";
import type { StopHow, TreeSupervisorRef } from "../../protocol/tree-records.ts";
import type { ChildCommand, ChildInput } from "../child/inputs.ts";
import type { TreeState } from "./state.ts";

export type TreeInput =
  /** Input about one of its workers. */
  | { readonly type: "worker"; readonly worker_id: string; readonly input: ChildInput }
  /** The new shape of the file; `drafts` are the records of its new and changed workers. */
  | {
      readonly type: "apply";
      readonly file: string;
      readonly root: TreeSupervisorRef;
      readonly restart: Readonly<Record<string, readonly string[]>>;
      readonly drafts: readonly RecordDraft[];
      readonly by: string;
    }
  /** A new child of a dynamic supervisor. */
  | { readonly type: "add"; readonly requested: RecordDraft; readonly worker_id: string }
  /** A user asks for an action on a supervisor by name. */
  | {
      readonly type: "ask";
      readonly what: "kill" | "restart" | "down";
      readonly supervisor: string;
      readonly by: string;
      readonly reason: string;
      /** The grace and signal of a kill. */
      readonly how?: StopHow;
    }
  /** Sent at boot, periodically, and when a delay is over. */
  | { readonly type: "plan" };

export type TreeCommand =
  /** A command for the shell of a worker. */
  | { readonly type: "tell"; readonly worker_id: string; readonly command: ChildCommand }
  /** Puts a worker under supervision, which starts it. */
  | { readonly type: "start"; readonly worker_id: string }
  /** Plan again at this time of the monotonic clock, in milliseconds. */
  | { readonly type: "wake"; readonly at_ms: number };

export interface TreeDecision {
  readonly events: readonly RecordDraft[];
  readonly commands: readonly TreeCommand[];
  /** The tree once the events are in the log. */
  readonly tree: TreeState;
}
