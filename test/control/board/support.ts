/** A board whose decisions become records, as a log would number them, and a card after them. */
import { type CardEvent, decideCard } from "../../../src/control/board/decide.ts";
import { type Card, foldCard } from "../../../src/protocol/board.ts";
import type { RecordDraft } from "../../../src/protocol/records.ts";
import { at, recorded } from "../blackboard/support.ts";

const KEY = { board: "default", issue_id: "GH-1" };
export const WORDS = { title: "Fix it", body: null, labels: ["bug"], priority: "normal" } as const;
export const ADD: CardEvent = { type: "add", words: WORDS, by: "user" };

export const timeAt = (ms: number, random = 0, boot?: string) => ({ ...at(ms, boot), random });

/** One card that inputs move, each at a time. */
export class Subject {
  card: Card | undefined;
  readonly drafts: RecordDraft[] = [];

  /** The types of the records, or why it was refused. */
  take(input: CardEvent, ms = 0): readonly string[] {
    const { events, refused } = decideCard(KEY, this.card, input, timeAt(ms));
    if (refused !== undefined) return [refused.why];
    for (const draft of events) {
      this.drafts.push(draft);
      this.card = foldCard(this.card, recorded(draft, this.drafts.length, ms));
    }
    return events.map(({ type }) => type);
  }

  takeAll(...inputs: readonly CardEvent[]): this {
    for (const input of inputs) this.take(input);
    return this;
  }
}

export const move = (
  type: "claim" | "release" | "retry" | "block" | "handoff" | "done",
  by = "user",
): CardEvent => ({
  type,
  by,
});
export const DISPATCH: CardEvent = { type: "dispatch" };
export const DISPATCHED: CardEvent = { type: "dispatched", agent_id: "W1" };
export const failedWith = (
  code: "TIMEOUT" | "INVALID_REQUEST" | "AGENT_FAILED" | "POLICY_VIOLATION",
  message = "it failed",
): CardEvent => ({
  type: "ended",
  end: { type: "failed", error: { code, message } },
  completed_lane: "Done",
});

/** How a card comes into each lane. */
export const WAY_TO: Readonly<Record<Card["lane"], readonly CardEvent[]>> = {
  Todo: [ADD],
  Claimed: [ADD, move("claim")],
  Running: [ADD, DISPATCH, DISPATCHED],
  RetryQueued: [ADD, DISPATCH, DISPATCHED, failedWith("TIMEOUT")],
  Blocked: [ADD, move("block")],
  Review: [ADD, move("claim"), move("handoff")],
  Done: [ADD, move("done")],
};
