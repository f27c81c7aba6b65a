/** The errors of the blackboard: what a claimer that is refused is told. */
import { formatDuration } from "../../base/durations.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ItemRefusal } from "./decide.ts";

const MS_PER_S = 1_000;

export const noItem = (ref: string, suggestion?: string): HoldfastError =>
  new HoldfastError("ITEM_NOT_FOUND", `The blackboard has no item "${ref}".`, {
    ...(suggestion === undefined ? {} : { suggestion }),
  });

export const noneFree = (ns: string, tags: readonly string[]): HoldfastError =>
  new HoldfastError(
    "ITEM_NOT_FOUND",
    `Namespace ${ns} of the blackboard has no free item${tags.length === 0 ? "" : ` with ${tags.map((tag) => `#${tag}`).join(" ")}`}.`,
    { suggestion: `Wait for one with: agent bb watch --ns ${ns}` },
  );

export const refusalError = (item_id: string, refused: ItemRefusal): HoldfastError => {
  switch (refused.why) {
    case "gone":
      return noItem(item_id);
    case "claimed": {
      const { lease, left_ms } = refused;
      const left = Math.max(MS_PER_S, Math.ceil(left_ms));
      return new HoldfastError(
        "ITEM_CLAIMED",
        `Item ${item_id} is claimed by ${lease.by} for another ${formatDuration(left)}.`,
        {
          details: { item_id, by: lease.by, left_ms: left },
          retry_after_s: Math.ceil(left / MS_PER_S),
        },
      );
    }
    case "stale":
      return new HoldfastError(
        "LEASE_LOST",
        `The token is not that of the lease of item ${item_id}: ${refused.lease === null ? "nobody holds it now" : `${refused.lease.by} holds it now`}.`,
        {
          suggestion: `Stop working on it, and claim it again if it is free: agent bb claim ${item_id}`,
          details: { item_id },
        },
      );
  }
};
