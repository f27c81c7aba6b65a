/** The statements of a copy alone, by one client: records of 2,000 placed workers, each of which a fence must find, beside those of none. */
import { PostgresStore } from "../src/cluster/postgres/store.ts";
import type { CopiedRecord } from "../src/cluster/store.ts";
import type { TestPostgres } from "../test/support/postgres.ts";
import type { Result } from "./support.ts";

const QUICK = process.env.HOLDFAST_QUICK === "1";
const WORKERS = 2_000;
/** Each has a record of each worker. */
const STATEMENTS = QUICK ? 3 : 40;
const TEXT = JSON.stringify({ type: "agent.event", text: "a line as agents print them ".repeat(16) });
const ASKED = 0.25;

const placed = async (store: PostgresStore): Promise<void> => {
  const node = { id: "a", store_id: "s", labels: {}, capacity: WORKERS, endpoint: "" };
  const node_term = (await store.join(node, "bench"))!;
  for (let n = 0; n < WORKERS; n += 1) {
    await store.place({ worker: `w${n}`, spec_digest: "", on_partition: "stop", needs: {} });
    await store.claim(`w${n}`, 0, { node: "a", node_term });
  }
};

/** Records a second. */
const copied = async (store: PostgresStore, epoch: string, runOf: (n: number) => CopiedRecord["run"]) => {
  const began = performance.now();
  for (let at = 0; at < STATEMENTS; at += 1) {
    const records = Array.from({ length: WORKERS }, (_, n) => ({
      seq: at * WORKERS + n + 1,
      run: runOf(n),
      text: TEXT,
    }));
    await store.append("a", { store_id: "s", epoch }, records);
  }
  return (STATEMENTS * WORKERS * 1_000) / (performance.now() - began);
};

const rate = (value: number): string => Math.round(value).toLocaleString("en");

export const statementsAlone = async (postgres: TestPostgres): Promise<Result> => {
  const store = await PostgresStore.open(await postgres.database("alone"));
  try {
    await placed(store);
    const bare = await copied(store, "bare", () => null);
    const ours = await copied(store, "placed", (n) => ({ worker: `w${n}`, term: 1 }));
    return {
      name: `records/s that one client copies, each of another of ${rate(WORKERS)} placed workers`,
      floor: `of no placed worker: ${rate(bare)} records/s`,
      measured: `${rate(ours)} records/s`,
      value: `${(ours / bare).toFixed(2)} of the floor`,
      threshold: `≥ ${ASKED}`,
      ok: ours / bare >= ASKED,
    };
  } finally {
    await store.close();
  }
};
