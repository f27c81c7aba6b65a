/** Names that other tools have for our commands and flags. */

/** Other tools' names for our commands. Each becomes a redirect (decision 0025). */
export const RENAMED: readonly {
  readonly from: string;
  readonly to: readonly string[];
  /** The command if a further word follows, which names a worker. */
  readonly of?: readonly string[];
}[] = [
  { from: "apply", to: ["up"] },
  { from: "approve", to: ["approvals", "approve"] },
  { from: "attach", to: ["watch"] },
  { from: "cost", to: ["usage"] },
  { from: "deny", to: ["approvals", "deny"] },
  { from: "describe", to: ["info"] },
  { from: "inspect", to: ["info"] },
  { from: "ls", to: ["list"] },
  { from: "run", to: ["spawn"] },
  { from: "stats", to: ["usage"] },
  { from: "status", to: ["daemon", "status"], of: ["info"] },
  { from: "stop", to: ["kill"] },
  { from: "daemon reload", to: ["daemon", "upgrade", "--force"] },
  { from: "daemon restart", to: ["daemon", "upgrade", "--force"] },
  { from: "db vacuum", to: ["db", "gc"] },
  { from: "db verify", to: ["db", "check"] },
];

/** Other tools' words for what Holdfast does differently, with the way to do it here. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  delete: "An ended worker goes with agent prune; stop a running one with: agent kill ID",
  exec: "Start a program of its own with: agent spawn -- PROGRAM",
  init: "Copy the example of docs/reference/tree-file.md to holdfast.yaml, then: agent up",
  login: "Log in with the agent's own CLI; see what is missing with: agent doctor",
  rm: "An ended worker goes with agent prune; stop a running one with: agent kill ID",
};

const PLACING = "only agent spawn places a worker on a cluster";
const PLACES = { where: PLACING, "on-partition": PLACING };

/** Flags of other tools or other commands, by command, with the way to do it here. */
export const FLAGS_ELSEWHERE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "agent list": { status: "it is --state", filter: "choose by --label, --state, --kind or --since" },
  "agent spawn": {
    replicas: "spawn each worker by itself, or list each as a child in holdfast.yaml",
  },
  "agent jobs submit": PLACES,
  "agent schedule add": PLACES,
  "agent board dispatch": PLACES,
};
