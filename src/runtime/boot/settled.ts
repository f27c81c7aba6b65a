/** The end of a boot: runs that ended while nobody supervised them have their ends on record. */
import { Effect } from "effect";
import type { WorkerState } from "../../protocol/worker.ts";
import type { Core } from "../core.ts";
import { newRecords } from "../following/watch.ts";

/** While a run that is over is told as one of these, its end is not read yet. */
const STILL: readonly WorkerState[] = ["starting", "ready", "running", "stopping", "lost"];

/** Those whose runs were found to be over, with the incarnation of each. Asked as soon as the boot has taken all over. */
export const makeSettled = ({ roster, services: { log } }: Core): Effect.Effect<void> => {
  const found = [...roster.live.values()]
    .filter(({ beginning }) => beginning.action.type === "settle")
    .map((worker) => ({ id: worker.id, incarnation: worker.child().incarnation }));
  const isSettled = ({ id, incarnation }: (typeof found)[number]): boolean => {
    const row = log.worker(id);
    return row === undefined || row.incarnation > incarnation || !STILL.includes(row.state);
  };
  return Effect.gen(function* () {
    for (const one of found)
      for (let head = log.head(); !isSettled(one); head = log.head()) yield* newRecords(log, head);
  });
};
