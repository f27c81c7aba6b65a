/** A daemon's log, as it is copied to a cluster. */
import { Effect } from "effect";
import type { ShippedLog } from "../../cluster/node/shipper.ts";
import type { CopiedRecord } from "../../cluster/store.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { RuntimeApi } from "../../runtime/api.ts";

/** Stands for a record that retention has removed before it was copied: the copy is dense all the same. */
const REMOVED = "null";

interface Page {
  readonly lines: readonly string[];
  readonly seqs: readonly number[];
  /** Up to here nothing else was there. */
  readonly head: number;
}

/** The records from `after` + 1 on, at most `max`, each with its place. */
export const denseRecords = (after: number, max: number, page: Page): readonly CopiedRecord[] => {
  const texts = new Map(page.seqs.map((seq, at) => [seq, page.lines[at] as string]));
  const count = Math.min(max, page.head - after);
  return Array.from({ length: Math.max(0, count) }, (_, at) => {
    const seq = after + 1 + at;
    return { seq, run: null, text: texts.get(seq) ?? REMOVED };
  });
};

export const shippedLog = (
  { follow, epoch }: Pick<RuntimeApi, "follow" | "epoch">,
  store_id: string,
): ShippedLog => ({
  store_id,
  epoch,
  read: (after, max): Effect.Effect<readonly CopiedRecord[], HoldfastError> =>
    Effect.suspend(() => {
      let page: Page | undefined;
      const take = (taken: Page): "enough" => {
        page = taken;
        return "enough";
      };
      return Effect.map(follow({ from: after, follow: true }, take), () =>
        page === undefined ? [] : denseRecords(after, max, page),
      );
    }),
});
