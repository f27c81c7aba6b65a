/**
 * An item of the blackboard, and the one fold that says which record posts it, gives it a holder and takes it away: for the
 * decisions, for the projection, and so for a daemon that starts. Pure.
 */
import { type ItemPosted, namespaceOf } from "./blackboard-records.ts";
import type { Deadline } from "./clock-stamp.ts";
import type { LogRecord } from "./records.ts";

/** One claimer holds the item until its deadline. */
export interface ItemLease {
  /** The fencing token: the seq of the record of the claim. */
  readonly token: number;
  readonly by: string;
  /** RFC 3339. */
  readonly claimed_at: string;
  /** Counts from the claim, or from its last extension. */
  readonly deadline: Deadline;
}

export interface BlackboardItem extends Omit<ItemPosted, "ttl_ms" | "clock"> {
  readonly ns: string;
  /** The seq of the record that posted it: older items come first. */
  readonly seq: number;
  readonly posted_at: string;
  /** The end of its time to live. A holder keeps it beyond that, until its lease is over. */
  readonly deadline: Deadline;
  /** How often it was claimed. */
  readonly claims: number;
  readonly lease: ItemLease | null;
}

/** The item after a record about it; undefined where it is gone. A record about a lease that is over changes nothing. */
export const foldItem = (item: BlackboardItem | undefined, record: LogRecord): BlackboardItem | undefined => {
  if (record.type === "bb_posted") return item ?? postedBy(record);
  if (item === undefined) return undefined;
  switch (record.type) {
    case "bb_claimed": {
      const { seq: token, recorded_at: at, payload } = record;
      const deadline = { clock: payload.clock, at, after_ms: payload.lease_ms };
      return {
        ...item,
        claims: item.claims + 1,
        lease: { token, by: payload.by, claimed_at: at, deadline },
      };
    }
    case "bb_extended": {
      const { token, clock, lease_ms } = record.payload;
      if (item.lease?.token !== token) return item;
      return {
        ...item,
        lease: { ...item.lease, deadline: { clock, at: record.recorded_at, after_ms: lease_ms } },
      };
    }
    case "bb_released":
      if (item.lease?.token !== record.payload.token) return item;
      return record.payload.done ? undefined : { ...item, lease: null };
    case "bb_expired":
      if (record.payload.what === "item") return undefined;
      return item.lease?.token === record.payload.token ? { ...item, lease: null } : item;
    default:
      return item;
  }
};

const postedBy = ({
  stream,
  seq,
  recorded_at: at,
  payload,
}: Extract<LogRecord, { readonly type: "bb_posted" }>): BlackboardItem => {
  const { ttl_ms, clock, ...said } = payload;
  return {
    ...said,
    ns: namespaceOf(stream) ?? "",
    seq,
    posted_at: at,
    deadline: { clock, at, after_ms: ttl_ms },
    claims: 0,
    lease: null,
  };
};
