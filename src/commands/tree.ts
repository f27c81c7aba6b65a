/** Commands that bring trees up and down from their files. */
import type { FlagDef } from "../base/flag.ts";
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
    words: ["up"],
    request: "tree/apply",
    danger: "mutating",
    exits: [2, 5, 6, 8, 10, 11],
    summary: "Bring a tree in line with its file: holdfast.yaml",
    details:
      "Starts workers that are new, restarts those that changed, stops those that the file no longer has, and leaves the rest alone. Returns once the tree runs, or once the first worker fails. Starts the daemon if none runs. See docs/reference/tree-file.md.",
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
    exits: [5, 6],
    summary: "Stop a tree in order, and forget it",
    details: "Returns once no process of the tree is left.",
    args: [{ name: "NAME", help: "name of the tree, if its file is not at hand" }],
    flags: [treeFile, dryRun, idempotencyKey],
    examples: ["agent down", "agent down shop"],
  },
]);
