/** A daemon's log, as it is copied to a cluster. */
import { Effect } from "effect";
import {
  CLUSTER_SHIP_MAX_CHARS,
  CLUSTER_SHIP_PAGES_AT_ONCE,
  READ_PAGE_MAX_CHARS,
  READ_PAGE_RECORDS,
} from "../../base/limits.ts";
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

type RunOf = (line: string) => CopiedRecord["run"];

/** The records from `after` + 1 on, at most `max`, each with its place. */
export const denseRecords = (
  after: number,
  max: number,
  page: Page,
  runOf: RunOf = () => null,
): readonly CopiedRecord[] => {
  const last = Math.min(after + max, page.head);
  const records: CopiedRecord[] = [];
  let at = 0;
  for (let seq = after + 1; seq <= last; seq += 1) {
    const isThere = page.seqs[at] === seq;
    const text = isThere ? (page.lines[at] as string) : REMOVED;
    records.push({ seq, run: isThere ? runOf(text) : null, text });
    if (isThere) at += 1;
  }
  return records;
};

/** The stream stands near the beginning of a record. */
const STREAM = /"stream":"worker:([0-9A-Z]{26})"/;
const STREAM_WITHIN_CHARS = 120;
const KNOWN_MAX = 10_000;

/** By which right the worker of a record ran. */
const runsBy = (placeOf: RuntimeApi["placeOf"]): RunOf => {
  const known = new Map<string, CopiedRecord["run"]>();
  return (line) => {
    const [, id] = STREAM.exec(line.slice(0, STREAM_WITHIN_CHARS)) ?? [];
    if (id === undefined) return null;
    const before = known.get(id);
    if (before !== undefined) return before;
    if (known.size >= KNOWN_MAX) known.clear();
    const placed = placeOf(id);
    const run = placed === undefined ? null : { worker: placed.worker, term: placed.term };
    known.set(id, run);
    return run;
  };
};

/** Waits for a first page, and takes more after a full one: a statement with many records costs the database less for each. */
export const shippedLog = (
  { follow, epoch, placeOf }: Pick<RuntimeApi, "follow" | "epoch" | "placeOf">,
  store_id: string,
): ShippedLog => {
  const runOf = runsBy(placeOf);
  const read: ShippedLog["read"] = (after, max): Effect.Effect<readonly CopiedRecord[], HoldfastError> =>
    Effect.suspend(() => {
      const lines: string[] = [];
      const seqs: number[] = [];
      let chars = 0;
      const isEnough = (page: Page): boolean => {
        lines.push(...page.lines);
        seqs.push(...page.seqs);
        for (const line of page.lines) chars += line.length;
        return seqs.length >= max || chars >= CLUSTER_SHIP_MAX_CHARS;
      };
      const first = follow({ from: after, follow: true }, (page) => {
        isEnough(page);
        return "enough";
      });
      let pages = 0;
      const more = (from: number) =>
        follow({ from, follow: false }, (page) => {
          if (isEnough(page)) return "enough";
          // A turn of a busy loop is long, and a statement would have to wait for one with each page.
          pages += 1;
          return pages % CLUSTER_SHIP_PAGES_AT_ONCE === 0 ? undefined : "at_once";
        });
      const isFull = (): boolean => seqs.length >= READ_PAGE_RECORDS || chars >= READ_PAGE_MAX_CHARS;
      return first.pipe(
        Effect.flatMap((head) => (isFull() ? more(head) : Effect.succeed(head))),
        Effect.map((head) => denseRecords(after, max, { lines, seqs, head }, runOf)),
      );
    });
  return { store_id, epoch, read };
};
