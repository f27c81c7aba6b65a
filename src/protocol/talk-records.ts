/** Records of the dialogue with an agent: messages and their progress, permission requests and their answers. */
import type { ClockStamp } from "./clock-stamp.ts";

/** The purpose of a line of the agent's protocol: an answer to a permission request, the interruption of a turn, or another line of its adapter. */
export type LinePurpose = "answer" | "interrupt" | "protocol";

export type MessageStep =
  /** The message will be delivered or recorded as undeliverable. `text` has its secrets masked; the text of a prompt is in the spec. */
  | {
      readonly state: "accepted";
      readonly bytes: number;
      /** The caller that sent it; absent for a line of the runtime's own, and in early records. */
      readonly by?: string | undefined;
      readonly text?: string;
      /** The agent's own copy is in the run directory, because `text` is masked. */
      readonly masked?: true;
      /** For the incarnation of this record only. */
      readonly bound?: true;
      /** `text` is a line of the agent's protocol instead of a message, so it is written unchanged. */
      readonly line?: true;
      readonly purpose?: LinePurpose;
      /** For an interrupt: the turn to end. It is not written in another turn. */
      readonly turn?: number;
      /** Closes the agent's input after everything sent before. */
      readonly closes?: true;
    }
  /** All its bytes are in the agent's stdin file, which is then `end` bytes long. */
  | {
      readonly state: "delivered";
      readonly end: number;
      /** Whether the agent's protocol will acknowledge the message; if not, its fate stays unknown. */
      readonly acknowledges: boolean;
      readonly purpose?: LinePurpose;
      /** This closes the agent's input. */
      readonly closes?: true;
    }
  /** The agent's own protocol has shown the message; `turn` was open at the time. The closing of its input is acknowledged by the agent's end. */
  | { readonly state: "acknowledged"; readonly turn: number | null; readonly closes?: true }
  /** Undeliverable: it never reached an agent. Unknown: the agent ended without acknowledging it. */
  | { readonly state: "undeliverable" | "unknown"; readonly reason: string };

/** A value that JSON can express. */
export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

export interface ApprovalRequested {
  readonly approval_id: string;
  readonly tool: string | null;
  readonly tool_use_id: string | null;
  /** The agent's description of the call, at most APPROVAL_TITLE_MAX_BYTES. */
  readonly title: string;
  /** The tool's input with its secrets masked; null if unknown or over APPROVAL_INPUT_MAX_BYTES. */
  readonly input: JsonValue;
  /** Data that the adapter needs to answer it (`MessageProtocol.answer`). */
  readonly reply: JsonValue;
}

export interface ApprovalAnswered {
  readonly approval_id: string;
  readonly decision: "allow" | "deny";
  /** A person, `policy` (a rule of the spec) or `deadline` (no answer came in time). */
  readonly by: string;
  /** The reason, for the agent and for people. */
  readonly message?: string;
  readonly clock: ClockStamp;
}
