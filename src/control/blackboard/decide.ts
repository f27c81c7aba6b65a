/**
 * One item of the blackboard: who may claim, extend and release it, and what is over. A claimer wins once, and its token is
 * the only one that is taken until its lease ends. Pure; `foldItem` says what the records of a decision change.
 */

import type { BlackboardItem, ItemLease } from "../../protocol/blackboard.ts";
import { blackboardStream } from "../../protocol/blackboard-records.ts";
import type { ClockStamp } from "../../protocol/clock-stamp.ts";
import type { RecordDraft, RecordPayloads } from "../../protocol/records.ts";
import { type DecisionTime, monotonicDeadline, type TimeOfDay } from "../lease.ts";

export type ItemInput =
  | { readonly type: "claim"; readonly by: string; readonly lease_ms: number }
  | { readonly type: "extend"; readonly by: string; readonly token: number; readonly lease_ms: number }
  | { readonly type: "release"; readonly by: string; readonly token: number; readonly done: boolean }
  /** A deadline may have passed. */
  | { readonly type: "look" };

export type ItemRefusal =
  /** It is done, past its time to live, or was never there. */
  | { readonly why: "gone" }
  /** Somebody else holds it, for so long at least. */
  | { readonly why: "claimed"; readonly lease: ItemLease; readonly left_ms: number }
  /** The token is not that of the lease; null where nobody holds the item. */
  | { readonly why: "stale"; readonly lease: ItemLease | null };

export interface ItemDecision {
  /** Also a refusal may have some: what has expired by now. */
  readonly events: readonly RecordDraft[];
  readonly refused?: ItemRefusal;
}

/** Monotonic milliseconds of the next moment at which something of it is over. */
export const dueOf = (item: BlackboardItem, now: TimeOfDay): number =>
  monotonicDeadline(item.lease?.deadline ?? item.deadline, now);

export const decideItem = (
  item: BlackboardItem | undefined,
  input: ItemInput,
  now: DecisionTime,
): ItemDecision => {
  if (item === undefined) return { events: [], refused: { why: "gone" } };
  const held = item.lease !== null && dueOf(item, now) > now.mono_ms ? item.lease : null;
  const isOver = held === null && monotonicDeadline(item.deadline, now) <= now.mono_ms;
  const say = draftsOf(item, now.clock);
  const expired = [
    ...(item.lease !== null && held === null ? [say.expired("lease", item.lease.token)] : []),
    ...(isOver ? [say.expired("item", null)] : []),
  ];
  if (input.type === "look") return { events: expired };
  if (isOver) return { events: expired, refused: { why: "gone" } };
  if (input.type === "claim") {
    if (held === null) return { events: [...expired, say.claimed(input)] };
    return {
      events: expired,
      refused: { why: "claimed", lease: held, left_ms: dueOf(item, now) - now.mono_ms },
    };
  }
  if (held?.token !== input.token) return { events: expired, refused: { why: "stale", lease: held } };
  return { events: [input.type === "extend" ? say.extended(input) : say.released(input)] };
};

type OwnPayload<Type extends keyof RecordPayloads, Own extends string = "item_id" | "clock"> = Omit<
  RecordPayloads[Type],
  Own
>;

const draftsOf = ({ ns, item_id }: BlackboardItem, clock: ClockStamp) => {
  const about = { stream: blackboardStream(ns), correlation_id: item_id };
  return {
    claimed: ({ by, lease_ms }: OwnPayload<"bb_claimed">): RecordDraft => ({
      ...about,
      type: "bb_claimed",
      payload: { item_id, by, lease_ms, clock },
    }),
    extended: ({ token, lease_ms, by }: OwnPayload<"bb_extended">): RecordDraft => ({
      ...about,
      type: "bb_extended",
      payload: { item_id, token, lease_ms, by, clock },
    }),
    released: ({ token, done, by }: OwnPayload<"bb_released">): RecordDraft => ({
      ...about,
      type: "bb_released",
      payload: { item_id, token, done, by, clock },
    }),
    expired: (what: "lease" | "item", token: number | null): RecordDraft => ({
      ...about,
      type: "bb_expired",
      payload: { item_id, what, token, clock },
    }),
  };
};
