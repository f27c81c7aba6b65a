/**
 * The store of the model: rows, locks that a transaction holds until it commits, and an end that takes open transactions with it.
 * A transaction reads at one moment and is visible at a later one, which is where a fence without a lock fails.
 */
import type { CopiedRecord } from "../../../src/cluster/store.ts";
import { MemoryRows } from "../support/memory-rows.ts";
import type { ModelWorld } from "./machine.ts";

/** The share of transactions that take long to commit, and how long at most. */
const SLOW = 0.2;
const SLOW_MAX_MS = 3_000;

interface CopiedRow extends CopiedRecord {
  readonly isLate: boolean;
}

/** Called once a transaction is durable; never where the store went away before. */
type Committed<Result> = (result: Result) => void;

export class ModelStore {
  readonly rows = new MemoryRows();
  readonly copy = new Map<string, Map<number, CopiedRow>>();
  isUp = true;
  private readonly world: Pick<ModelWorld, "clock" | "random" | "mistake" | "isCalm">;
  private readonly violated: (what: string) => void;
  /** Raised by each end: transactions of before are gone. */
  private life = 0;
  private readonly readers = new Map<string, number>();
  private readonly writers = new Map<string, (() => void)[]>();

  constructor(world: ModelStore["world"], violated: (what: string) => void) {
    this.world = world;
    this.violated = violated;
  }

  stop(): void {
    this.isUp = false;
    this.life++;
    this.readers.clear();
    this.writers.clear();
  }

  start(): void {
    this.isUp = true;
  }

  /** A change of one placement: it waits for the readers that have locked the row. */
  write<Result>(worker: string, change: () => Result, committed: Committed<Result>): void {
    const write = (): void => committed(change());
    if ((this.readers.get(worker) ?? 0) === 0) write();
    else this.writers.set(worker, [...(this.writers.get(worker) ?? []), write]);
  }

  claim(
    worker: string,
    seen: number,
    to: { node: string; node_term: number },
    committed: Committed<boolean>,
  ): void {
    const change = (): boolean => {
      const before = this.rows.placements.get(worker);
      if (
        this.world.mistake === "claim_over_tombstone" &&
        before?.desired === "killed" &&
        before.term === seen
      )
        this.rows.placements.set(worker, { ...before, desired: "running" });
      const isClaimed = this.rows.claim(worker, seen, to);
      if (isClaimed && before?.desired === "killed")
        this.violated(`a claim of ${worker} undid its tombstone`);
      return isClaimed;
    };
    this.write(worker, change, committed);
  }

  append(node: string, records: readonly CopiedRecord[], committed: Committed<number>): void {
    const read = records.map(
      (record): CopiedRow => ({
        ...record,
        isLate: record.run !== null && !this.rows.isCurrent(node, record.run),
      }),
    );
    const workers = read.flatMap(({ run, isLate }) => (run === null || isLate ? [] : [run.worker]));
    const known = this.copy.get(node) ?? new Map<number, CopiedRow>();
    this.copy.set(node, known);
    const last = records.at(-1)?.seq ?? 0;
    if (this.world.mistake === "early_acknowledgement") committed(last);
    this.reading([...new Set(workers)], () => {
      for (const row of read) {
        if (known.has(row.seq)) continue;
        known.set(row.seq, row);
        const term = this.rows.placements.get(row.run?.worker ?? "")?.term ?? 0;
        if (row.run !== null && !row.isLate && term > row.run.term)
          this.violated(
            `a record of ${row.run.worker} in term ${row.run.term} came after term ${term} was claimed`,
          );
      }
      if (this.world.mistake !== "early_acknowledgement") committed(last);
    });
  }

  /** Holds the rows locked, and is durable later. */
  private reading(workers: readonly string[], commit: () => void): void {
    const { life } = this;
    const isLocking = this.world.mistake !== "no_for_share";
    if (isLocking)
      for (const worker of workers) this.readers.set(worker, (this.readers.get(worker) ?? 0) + 1);
    const { random, isCalm } = this.world;
    const takes = !isCalm && random.chance(SLOW) ? random.below(SLOW_MAX_MS) : random.below(20);
    this.world.clock.after(takes, () => {
      if (life !== this.life) return;
      commit();
      if (isLocking) for (const worker of workers) this.unlock(worker);
    });
  }

  private unlock(worker: string): void {
    const left = (this.readers.get(worker) ?? 0) - 1;
    this.readers.set(worker, left);
    if (left > 0) return;
    const waiting = this.writers.get(worker) ?? [];
    this.writers.delete(worker);
    for (const write of waiting) write();
  }
}
