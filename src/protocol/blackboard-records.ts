/** The blackboard as records tell it. An item is posted, claimed and released by its id; its namespace is that of the stream. */
import type { ClockStamp } from "./clock-stamp.ts";
import type { JsonValue } from "./talk-records.ts";

export interface ItemPosted {
  /** ULID. */
  readonly item_id: string;
  /** Title, body and data have their secrets masked; at least one of them is there. */
  readonly title: string | null;
  readonly body: string | null;
  readonly data: JsonValue;
  readonly tags: readonly string[];
  /** Digests of artifacts: they are kept as long as the item is there. */
  readonly artifacts: readonly string[];
  readonly ttl_ms: number;
  readonly by: string;
  readonly clock: ClockStamp;
}

export interface ItemClaimed {
  readonly item_id: string;
  readonly by: string;
  readonly lease_ms: number;
  readonly clock: ClockStamp;
}

export interface ItemExtended {
  readonly item_id: string;
  /** The seq of the claim. */
  readonly token: number;
  /** From this record on. */
  readonly lease_ms: number;
  readonly by: string;
  readonly clock: ClockStamp;
}

export interface ItemReleased {
  readonly item_id: string;
  readonly token: number;
  /** True: the item is gone. False: it is free again. */
  readonly done: boolean;
  readonly by: string;
  readonly clock: ClockStamp;
}

export interface ItemExpired {
  readonly item_id: string;
  readonly what: "lease" | "item";
  /** The token of the lease that is over. */
  readonly token: number | null;
  readonly clock: ClockStamp;
}

const BLACKBOARD_STREAM = "bb:";
export const blackboardStream = (ns: string): string => `${BLACKBOARD_STREAM}${ns}`;
/** The inverse of `blackboardStream`; undefined for a stream of something else. */
export const namespaceOf = (stream: string): string | undefined =>
  stream.startsWith(BLACKBOARD_STREAM) ? stream.slice(BLACKBOARD_STREAM.length) : undefined;
