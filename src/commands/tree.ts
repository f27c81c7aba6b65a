/** Commands that bring trees up and down from their files. */
import type { FlagDef } from "../base/flag.ts";
import { INIT_WORKERS_MAX } from "../base/limits.ts";
import { SPEC_FIELDS } from "../protocol/spec-fields.ts";
import { inGroup } from "./command.ts";
import { dryRun, idempotencyKey } from "./flags.ts";

const treeFile: FlagDef = {
  name: "file",
  short: "f",
  type: "string",
  value: "F",
  help: "tree file",
  default: "holdfast.yaml here",
};
const variable: FlagDef = {
  name: "var",
  type: "pair",
  value: "K=V",
  repeatable: true,
  help: "set a variable of the file",
};

export const TREE_COMMANDS = inGroup("Start and stop", [
  {
    words: ["init"],
    danger: "mutating",
    exits: [6],
    argv: true,
    summary: "Write a holdfast.yaml, by questions or by flags",
    details:
      "On a terminal it asks for everything that no flag says; elsewhere, and with --yes, that has a default, and it never waits. The kind is the first agent whose CLI is on PATH. The file passes `agent up --dry-run`. A program after -- becomes the worker.",
    flags: [
      treeFile,
      {
        name: "name",
        short: "n",
        type: "name",
        value: "NAME",
        help: "name of the tree",
        default: "the directory's",
      },
      { name: "kind", type: "string", value: "KIND", help: "kind of agent", default: "the first one found" },
      { name: "prompt", type: "string", value: "TEXT", help: "the agent's task" },
      { name: "model", short: "m", type: "string", value: "M", help: "model, as the agent names it" },
      {
        name: "workers",
        type: "int",
        value: "N",
        help: "how many",
        default: "1",
        min: 1,
        max: INIT_WORKERS_MAX,
      },
      {
        name: "permission",
        type: "enum",
        values: SPEC_FIELDS.permission.values,
        value: "P",
        help: "decides a call that no rule covers",
        default: "ask, if the agent can ask",
      },
      {
        name: "worktree",
        type: "bool",
        help: "a git worktree for each worker",
        default: "if there are several",
      },
      {
        name: "usd",
        type: "number",
        value: "5",
        help: "dollars for all workers together; 0 sets no limit",
        default: "5",
      },
      { name: "yes", short: "y", type: "bool", help: "ask nothing" },
      { name: "force", type: "bool", help: "overwrite the file" },
      dryRun,
    ],
    examples: ["agent init", "agent init --yes --workers 3", "agent init -- npm start"],
  },
  {
    words: ["up"],
    request: "tree/apply",
    danger: "mutating",
    exits: [2, 5, 6, 8, 10, 11],
    summary: "Bring a tree in line with its file: holdfast.yaml",
    details:
      "Starts workers that are new, restarts those that changed, stops those that the file no longer has, and leaves the rest alone. Returns once the tree runs, or once the first worker fails. A tree that agent down is stopping is brought up after that. Starts the daemon if none runs. See docs/reference/tree-file.md.",
    flags: [
      treeFile,
      variable,
      dryRun,
      { name: "wait", type: "bool", help: "return when the tree runs (the default)" },
      { name: "detach", short: "d", type: "bool", help: "return as soon as the changes are on record" },
      idempotencyKey,
    ],
    examples: ["agent up", "agent up -f crew/holdfast.yaml --var REGION=eu"],
  },
  {
    words: ["diff"],
    request: "tree/apply",
    danger: "safe",
    exits: [6],
    summary: "Show what agent up would change",
    details:
      "Exits with 0 whether or not there are changes. In JSON, `changes` lists each one with its action.",
    flags: [treeFile, variable],
    examples: ["agent diff", "agent diff -o json | jq '.data.changes[].path'"],
  },
  {
    words: ["down"],
    request: "tree/down",
    danger: "destructive",
    exits: [5, 6, 12],
    summary: "Stop a tree in order, and forget it",
    details:
      "Returns once no process of the tree is left. While its cluster cannot be asked it says so before it stops the tree on this machine, and fails afterwards, because workers on other nodes go on.",
    args: [{ name: "NAME", help: "name of the tree, if its file is not at hand" }],
    flags: [treeFile, dryRun, idempotencyKey],
    examples: ["agent down", "agent down shop"],
  },
]);
