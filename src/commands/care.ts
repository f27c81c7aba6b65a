/** Commands that rename workers, and put away or remove those that have ended. */
import { inGroup } from "./command.ts";
import { dryRun, id, idempotencyKey, ids, labelled } from "./flags.ts";

export const CARE_COMMANDS = inGroup("Start and stop", [
  {
    words: ["rename"],
    request: "agent/rename",
    danger: "mutating",
    exits: [5, 6],
    summary: "Give a worker another name",
    details:
      "The name must be free among living workers. The worker keeps its id and its records. A worker of a tree file cannot be renamed, because its place in the file names it.",
    args: [id, { name: "NAME", help: "its name from now on", required: true }],
    flags: [idempotencyKey],
    examples: ["agent rename fixer login-fixer"],
  },
  {
    words: ["archive"],
    request: "agent/archive",
    danger: "mutating",
    exits: [2, 5, 6],
    summary: "Take ended workers out of the lists",
    details:
      "Removes nothing: agent list --archived shows archived workers, and every other command accepts them. A worker that is started again is listed again.",
    args: [ids("ended workers to archive", { required: false })],
    flags: [
      { ...labelled, help: "all ended workers that have this label" },
      { name: "undo", type: "bool", help: "list them again" },
      idempotencyKey,
    ],
    examples: ["agent archive fixer", "agent archive --label run=night-1", "agent archive fixer --undo"],
  },
  {
    words: ["prune"],
    request: "agent/prune",
    danger: "destructive",
    summary: "Remove the files of ended workers: run directories, and worktrees without changes",
    details:
      "Asks first; without a terminal it needs --force. Nothing is removed of a worker whose worktree has changes, or of a worker of a tree that is up. A pruned worker is archived, and cannot be started or resumed again. Its raw output is gone. Its records, usage and artifacts stay, as retention keeps them: agent info, logs, output and search still know it.",
    flags: [
      {
        name: "until",
        type: "duration",
        value: "24h",
        help: "only workers that ended at least this long ago",
      },
      labelled,
      {
        name: "state",
        type: "list",
        value: "S,…",
        suggests: ["completed", "failed", "cancelled"],
        help: "only workers that ended in these states",
      },
      { name: "force", type: "bool", help: "do not ask" },
      dryRun,
      idempotencyKey,
    ],
    examples: ["agent prune --dry-run", "agent prune --until 7d --state completed --force"],
  },
  {
    words: ["worktree", "remove"],
    request: "worktree/remove",
    danger: "destructive",
    exits: [2, 5, 6],
    summary: "Remove the worktrees of workers that have ended, if nothing would be lost",
    details:
      "Keeps a worktree with uncommitted changes, untracked files, or commits on no branch, and prints its path. Removes ignored files with the worktree. Keeps the branch.",
    args: [ids("workers that have ended")],
    examples: ["agent worktree remove fixer"],
  },
]);
