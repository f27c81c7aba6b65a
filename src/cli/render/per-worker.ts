/** The effect of a command on several workers, one line each. */
import type { PerWorker } from "../../runtime/replies.ts";
import { oneLine, type Paint } from "./terminal.ts";

type Words = Readonly<Partial<Record<PerWorker["effect"], string>>>;

const saying =
  (words: Words) =>
  ({ results }: { readonly results: readonly PerWorker[] }, { paint }: { readonly paint: Paint }): string =>
    results.length === 0
      ? "Nothing to do."
      : results
          .map((result) => {
            const who = result.name ?? result.id;
            return result.error
              ? `${who}  ${paint("bad", oneLine(result.error.message, 300))}`
              : `${who}  ${words[result.effect] ?? result.effect}${checked(result)}`;
          })
          .join("\n");

const checked = ({ checked_by }: PerWorker): string =>
  checked_by === undefined || checked_by.length === 0 ? "" : ` (checked by: ${checked_by.join(", ")})`;

export const killText = saying({
  deleted: "stopped",
  noop: "had already ended",
  would_delete: "would be stopped",
});
export const restartText = saying({
  created: "started",
  updated: "restarting",
  noop: "was restarted already",
  would_update: "would be restarted",
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
export const archivedText = saying({
  updated: "done: agent list --archived shows what is archived",
  noop: "was so already",
});
export const removedText = saying({
  deleted: "its worktree is removed; its branch stays",
  noop: "its worktree was gone already",
});
