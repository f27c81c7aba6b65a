/** Resolves once each run that ended without a daemon has its end on record. */
import { Effect } from "effect";
import type { WorkerState } from "../../protocol/worker.ts";
import type { Core } from "../core.ts";
import { followed } from "../following/follower.ts";

/** States that a run shows until its end has been read. */
const STILL: readonly WorkerState[] = ["starting", "ready", "running", "stopping", "lost"];

/**
 * The workers whose runs had ended, with the incarnation of each. Call this right after the boot has taken over all
 * workers.
 */
export const makeSettled = ({ roster, tail, services: { views } }: Core): Effect.Effect<void> => {
  const found = [...roster.live.values()]
    .filter(({ beginning }) => beginning.action.type === "settle")
    .map((worker) => ({ id: worker.id, incarnation: worker.child().incarnation }));
  const isSettled = ({ id, incarnation }: (typeof found)[number]): boolean => {
    const row = views.worker(id);
    return row === undefined || row.incarnation > incarnation || !STILL.includes(row.state);
  };
  let settled = 0;
  const isOver = (): boolean => {
    for (let one = found[settled]; one !== undefined && isSettled(one); one = found[settled]) settled += 1;
    return settled === found.length;
  };
  return Effect.suspend(() => {
    const ends = {
      from: tail.log.head(),
      filter: { types: ["worker_ended"] as const },
      isOver,
      isCut: () => false,
    };
    return Effect.asVoid(Effect.orDie(followed(tail, ends, () => undefined)));
  });
};
