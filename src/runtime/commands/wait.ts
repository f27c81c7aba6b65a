/** Waits for the ends of workers, with a timeout. */
import { Effect } from "effect";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { tooLong, waitOf } from "../reading/waited.ts";
import type { Ends } from "./ends.ts";

export const makeWait =
  ({ roster, find, rowOf, now, monoMs }: Core, ends: Ends): RuntimeApi["wait"] =>
  (refs, timeoutMs) =>
    Effect.gen(function* () {
      const rows = yield* Effect.forEach(refs, find);
      const waited = (id: string) => Effect.map(ends.untilEnded(id), (row) => waitOf(row, now().wall));
      const all = Effect.forEach(rows, (row) => waited(row.id), { concurrency: "unbounded" });
      if (timeoutMs === undefined) return yield* all;
      const going = Effect.forEach(
        rows.filter((row) => roster.live.has(row.id)),
        (row) =>
          Effect.map(rowOf(row.id), (standing) => {
            const due = roster.live.get(row.id)?.child().due_ms ?? null;
            return { row: standing, due_in_ms: due === null ? null : due - monoMs() };
          }),
      );
      return yield* Effect.timeoutOrElse(all, {
        duration: timeoutMs,
        orElse: () => Effect.flatMap(going, (left) => Effect.fail(tooLong(left))),
      });
    });
