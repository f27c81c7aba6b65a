/** agent cluster …: several daemons that share a Postgres. */
import {
  CLUSTER_CAPACITY_DEFAULT,
  CLUSTER_CAPACITY_MAX,
  CLUSTER_COPY_KEEP_DAYS_DEFAULT,
  CLUSTER_COPY_KEEP_MAX_DAYS,
} from "../base/limits.ts";
import { type ArgDef, inGroup } from "./command.ts";
import { dryRun } from "./flags.ts";

const database: ArgDef = {
  name: "URL",
  help: "postgres://USER@HOST/DATABASE; with a password only as @env:NAME or @file:PATH",
  required: true,
};

export const CLUSTER_COMMANDS = inGroup("This machine", [
  {
    words: ["cluster", "init"],
    request: "cluster/init",
    danger: "mutating",
    exits: [6, 7],
    summary: "Make the tables of a cluster in a Postgres, or bring them up to date",
    args: [database],
    flags: [
      {
        name: "keep-days",
        type: "int",
        value: "N",
        help: "days of the copy that are kept, 0 for all of them",
        default: `${CLUSTER_COPY_KEEP_DAYS_DEFAULT} in a new cluster, else as before`,
        min: 0,
        max: CLUSTER_COPY_KEEP_MAX_DAYS,
      },
    ],
    examples: ["agent cluster init @env:CLUSTER_URL", "agent cluster init @env:CLUSTER_URL --keep-days 90"],
  },
  {
    words: ["cluster", "join"],
    request: "cluster/join",
    danger: "mutating",
    exits: [6, 7],
    summary: "Make this daemon a node: it renews a lease, and copies its log to the Postgres",
    details: "It stays a node over restarts until it leaves. The copy has all that the log has, prompts too.",
    args: [database],
    flags: [
      { name: "name", type: "string", value: "NAME", help: "name of the node", default: "the machine's" },
      {
        name: "label",
        short: "l",
        type: "pair",
        value: "KEY=VALUE",
        repeatable: true,
        help: "a property of the node",
      },
      {
        name: "capacity",
        type: "int",
        value: "N",
        help: "workers that it takes",
        default: String(CLUSTER_CAPACITY_DEFAULT),
        min: 1,
        max: CLUSTER_CAPACITY_MAX,
      },
      {
        name: "endpoint",
        type: "string",
        value: "ADDRESS",
        help: "how other machines reach this one with --host: ssh://… or exec:…",
        default: "none",
      },
    ],
    examples: ["agent cluster join @file:/etc/holdfast/cluster --name build --label gpu=1"],
  },
  {
    words: ["cluster", "leave"],
    request: "cluster/leave",
    danger: "destructive",
    exits: [6, 7],
    summary: "Take this daemon out of its cluster; its agents go on, and the copy stays",
    flags: [
      {
        name: "gone",
        type: "string",
        value: "NODE",
        help: "the machine of this dead node is gone for ever: its workers may all start elsewhere",
      },
    ],
    examples: ["agent cluster leave", "agent cluster leave --gone build"],
  },
  {
    words: ["drain"],
    request: "cluster/drain",
    danger: "mutating",
    exits: [6, 7],
    summary: "Let a node of the cluster take no further workers, and move its own to others",
    details:
      "It tells how many of its workers no other node takes. No other node has the labels of one: it ends with its grace, and agent inbox asks where it should run. These nodes are full: it ends, and starts when one has room. Its restart policy is temporary: it ends for good.",
    args: [{ name: "NODE", help: "its name, as agent cluster status shows it", required: true }],
    flags: [{ name: "undo", type: "bool", help: "it takes workers again" }, dryRun],
    examples: ["agent drain build", "agent drain build --dry-run"],
  },
  {
    words: ["cluster", "status"],
    request: "cluster/status",
    danger: "safe",
    summary: "Show the nodes of the cluster, and how far the copy of this daemon's log is behind",
    examples: ["agent cluster status"],
  },
]);
