/** The talk between us and an agent, as records tell it: messages and how far each has come, requests for permission and their answers. */
import type { ClockStamp } from "./clock-stamp.ts";

/** The purpose of a line of the agent's protocol: an answer to a permission, the end of a turn, or what its adapter says to it. */
export type LinePurpose = "answer" | "interrupt" | "protocol";

export type MessageStep =
  /** It will reach the agent or be told undeliverable. `text` has its secrets masked; the prompt's is in the spec. */
  | {
      readonly state: "accepted";
      readonly bytes: number;
      readonly text?: string;
      /** The agent's own copy is in the run directory, because `text` is masked. */
      readonly masked?: true;
      /** For the incarnation that its record names, and for no other one. */
      readonly bound?: true;
      /** `text` is no message but what the agent's protocol wants said: it is written as it is. */
      readonly line?: true;
      readonly purpose?: LinePurpose;
      /** For an interrupt: the turn that it is to end. It is never written in another one. */
      readonly turn?: number;
      /** The end of the agent's input, after all that was sent before. */
      readonly closes?: true;
    }
  /** Its bytes are wholly in the agent's stdin file, which is `end` bytes long with them. */
  | {
      readonly state: "delivered";
      readonly end: number;
      /** Whether the agent's protocol will tell that it has it; if not, no more is ever known. */
      readonly acknowledges: boolean;
      readonly purpose?: LinePurpose;
      /** The end of the agent's input. */
      readonly closes?: true;
    }
  /** The agent's own protocol has shown it; `turn` is the one that was open then. The end of its input, by its own end. */
  | { readonly state: "acknowledged"; readonly turn: number | null; readonly closes?: true }
  /** Undeliverable: it never reached an agent. Unknown: the agent ended before it acknowledged it. */
  | { readonly state: "undeliverable" | "unknown"; readonly reason: string };

/** A value that JSON can say. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface ApprovalRequested {
  readonly approval_id: string;
  readonly tool: string | null;
  readonly tool_use_id: string | null;
  /** The agent's words for it, at most APPROVAL_TITLE_MAX_BYTES. */
  readonly title: string;
  /** The tool's input, secrets masked; null where it is not told or over APPROVAL_INPUT_MAX_BYTES. */
  readonly input: Json;
  /** Data that the adapter needs to answer it (`MessageProtocol.answer`). */
  readonly reply: Json;
}

export interface ApprovalAnswered {
  readonly approval_id: string;
  readonly decision: "allow" | "deny";
  /** A person, `policy` (a rule of its spec) or `deadline` (nobody has answered in time). */
  readonly by: string;
  /** For the agent, and for whoever reads this: why. */
  readonly message?: string;
  readonly clock: ClockStamp;
}
