/** Commands of the defaults of spawn. */
import type { FlagDef } from "../base/flag.ts";
import { DEFAULT_NAMES } from "../protocol/defaults.ts";
import { type ArgDef, inGroup } from "./command.ts";

const NAMES = DEFAULT_NAMES.join(", ");
const DETAILS = `A KEY is defaults.NAME, for every kind, or kinds.KIND.NAME; NAME is one of ${NAMES}. A flag of agent spawn wins over HOLDFAST_NAME in the environment, that over the repository (.holdfast/config.yaml), that over you (config.yaml of the state directory). A repository came with somebody's code: it may write no other key, and its value counts only where it gives an agent no more than yours would.`;

const key: ArgDef = { name: "KEY", help: "defaults.NAME or kinds.KIND.NAME", required: true };
const repository: FlagDef = {
  name: "repository",
  short: "r",
  type: "bool",
  help: "in the .holdfast/config.yaml of the repository here, for everybody who works in it",
};

export const CONFIG_COMMANDS = inGroup("This machine", [
  {
    words: ["config", "list"],
    danger: "safe",
    summary: "List the defaults of agent spawn that are written, strongest first",
    details: DETAILS,
    examples: ["agent config list"],
  },
  {
    words: ["config", "get"],
    danger: "safe",
    summary: "Show the value of a default that counts here, and its source",
    details: DETAILS,
    args: [key],
    examples: ["agent config get defaults.permission"],
  },
  {
    words: ["config", "set"],
    danger: "mutating",
    exits: [7],
    summary: "Write a default of agent spawn into your config.yaml, or the repository's",
    details: DETAILS,
    args: [
      key,
      { name: "VALUE", help: "as the flag of spawn has it; a worktree is on or off", required: true },
    ],
    flags: [repository],
    examples: ["agent config set defaults.timeout 2h", "agent config set --repository defaults.worktree on"],
  },
  {
    words: ["config", "unset"],
    danger: "mutating",
    exits: [7],
    summary: "Remove a default of agent spawn",
    details: DETAILS,
    args: [key],
    flags: [repository],
    examples: ["agent config unset defaults.timeout"],
  },
]);
