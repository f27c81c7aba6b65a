/** A daemon's log, as it is copied to a cluster. */
import { Effect } from "effect";
import { READ_PAGE_RECORDS } from "../../base/limits.ts";
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
  const last = Math.min(after + max, page.head);
  const records: CopiedRecord[] = [];
  let at = 0;
  for (let seq = after + 1; seq <= last; seq += 1) {
    const isThere = page.seqs[at] === seq;
    records.push({ seq, run: null, text: isThere ? (page.lines[at] as string) : REMOVED });
    if (isThere) at += 1;
  }
  return records;
};

/** Waits for a first page, and takes more after a full one: a statement with many records costs the database less for each. */
export const shippedLog = (
  { follow, epoch }: Pick<RuntimeApi, "follow" | "epoch">,
  store_id: string,
): ShippedLog => ({
  store_id,
  epoch,
  read: (after, max): Effect.Effect<readonly CopiedRecord[], HoldfastError> =>
    Effect.suspend(() => {
      const lines: string[] = [];
      const seqs: number[] = [];
      const isEnough = (page: Page): boolean => {
        lines.push(...page.lines);
        seqs.push(...page.seqs);
        return seqs.length >= max;
      };
      const first = follow({ from: after, follow: true }, (page) => {
        isEnough(page);
        return "enough";
      });
      const more = (from: number) =>
        follow({ from, follow: false }, (page) => (isEnough(page) ? "enough" : undefined));
      const isFull = (): boolean => seqs.length >= READ_PAGE_RECORDS;
      return first.pipe(
        Effect.flatMap((head) => (isFull() ? more(head) : Effect.succeed(head))),
        Effect.map((head) => denseRecords(after, max, { lines, seqs, head })),
      );
    }),
});
