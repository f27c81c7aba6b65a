/** Waits for the ends of workers, with a timeout. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { tooLong, waitOf } from "../reading/waited.ts";
import type { WaitReply } from "../replies.ts";
import type { Ends } from "./ends.ts";

export const makeWait =
  ({ roster, find, rowOf, now, monoMs, services }: Core, ends: Ends): RuntimeApi["wait"] =>
  (refs, timeoutMs, { subtree = false } = {}) =>
    Effect.gen(function* () {
      const rows = yield* Effect.forEach(refs, find);
      const waited = (id: string) => Effect.map(ends.untilEnded(id), (row) => waitOf(row, now().wall));
      const found = new Set(rows.map(({ id }) => id));
      const ended = (ids: readonly string[]) => Effect.forEach(ids, waited, { concurrency: "unbounded" });
      // A worker that has ended spawns nobody any more, so each round finds all workers below those of the last.
      const below = (ids: readonly string[]) =>
        attempt(() => ids.flatMap((id) => services.views.spawnedBy(id)).filter((id) => !found.has(id)));
      const all = Effect.gen(function* () {
        const replies: WaitReply[] = [];
        for (let next: readonly string[] = [...found]; next.length > 0; ) {
          replies.push(...(yield* ended(next)));
          next = subtree ? yield* below(next) : [];
          for (const id of next) found.add(id);
        }
        return replies;
      });
      if (timeoutMs === undefined) return yield* all;
      const going = Effect.suspend(() =>
        Effect.forEach(
          [...found].filter((id) => roster.live.has(id)),
          (id) =>
            Effect.map(rowOf(id), (standing) => {
              const due = roster.live.get(id)?.child().due_ms ?? null;
              return { row: standing, due_in_ms: due === null ? null : due - monoMs() };
            }),
        ),
      );
      return yield* Effect.timeoutOrElse(all, {
        duration: timeoutMs,
        orElse: () => Effect.flatMap(going, (left) => Effect.fail(tooLong(left))),
      });
    });
