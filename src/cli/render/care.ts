/** Answers about pruned and renamed workers, as text for people. */
import type { PruneReply, RenameReply } from "../../protocol/replies/care.ts";
import { oneLine } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { bytes, count } from "./units.ts";

const renamedText: TextOf<RenameReply> = ({ name, before, effect }, { paint }) =>
  effect === "noop"
    ? `It is called ${oneLine(name)} already.`
    : `${before === null ? "It" : oneLine(before)} is called ${paint("name", oneLine(name))} now.`;

const prunedText: TextOf<PruneReply> = ({ effect, workers, kept, freed_bytes }, { paint }) => {
  const verb = effect === "would_delete" ? "Would remove" : "Removed";
  const lines = workers.map(
    (worker) =>
      `${oneLine(worker.name ?? worker.id)}  ${worker.status}  ${bytes(worker.freed_bytes)}${worker.worktree === null ? "" : `  ${oneLine(worker.worktree, 200)}`}`,
  );
  const stays = kept.map(
    ({ id, name, reason }) => `${oneLine(name ?? id)}  ${paint("warn", "stays")}: ${oneLine(reason, 300)}`,
  );
  const sum =
    workers.length === 0
      ? "Nothing to remove."
      : `${verb} what was left of ${count(workers.length, "worker")}: ${bytes(freed_bytes)}. Records stay, as retention keeps them.`;
  return [...lines, ...stays, sum].join("\n");
};

export const CARE_TEXTS = { "agent/rename": renamedText, "agent/prune": prunedText };
