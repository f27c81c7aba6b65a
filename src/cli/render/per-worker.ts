/** What a command over several workers did to each, as a line each. */
import type { PerWorker } from "../../supervisor/replies.ts";
import { oneLine, type Paint } from "./terminal.ts";

type Words = Readonly<Partial<Record<PerWorker["effect"], string>>>;

const saying =
  (words: Words) =>
  ({ results }: { readonly results: readonly PerWorker[] }, { paint }: { readonly paint: Paint }): string =>
    results.length === 0
      ? "Nothing to do: no workers are running."
      : results
          .map((result) => {
            const who = result.name ?? result.id;
            return result.error
              ? `${who}  ${paint("bad", oneLine(result.error.message, 300))}`
              : `${who}  ${words[result.effect] ?? result.effect}`;
          })
          .join("\n");

export const perWorker = saying({
  created: "started",
  updated: "restarting",
  deleted: "stopped",
  noop: "had already ended",
  would_create: "would be started",
  would_update: "would be restarted",
  would_delete: "would be stopped",
});
export const pauseText = saying({
  updated: "paused",
  noop: "was paused already",
  would_update: "would be paused",
});
export const unpauseText = saying({
  updated: "goes on",
  noop: "was not paused",
  would_update: "would go on",
});
