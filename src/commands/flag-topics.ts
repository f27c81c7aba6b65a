/** The topics of the many flags of spawn, in the order in which help shows them. A flag that is not here stands under the last topic. */
export const FLAG_TOPICS: readonly (readonly [topic: string, flags: readonly string[]])[] = [
  [
    "The agent",
    ["name", "label", "prompt-file", "model", "session", "fork", "interactive", "env", "inherit-env", "ext"],
  ],
  ["Place", ["cwd", "add-dir", "worktree", "sandbox", "sandbox-net", "sandbox-writable"]],
  [
    "Permissions",
    ["permission", "allow-tool", "ask-tool", "deny-tool", "approval-within", "approval-default"],
  ],
  [
    "Restarts",
    [
      "restart",
      "max-restarts",
      "backoff",
      "on-unfixable",
      "on-interrupted",
      "on-supervisor-death",
      "supervisor",
    ],
  ],
  [
    "Limits",
    [
      "timeout",
      "stall",
      "tool-timeout",
      "heartbeat",
      "grace",
      "passivate",
      "budget",
      "on-breach",
      "output-quota",
      "on-output-quota",
      "memory",
      "pids",
      "cpu",
      "priority",
      "max-depth",
      "max-concurrency",
    ],
  ],
  ["This command", ["watch", "wait", "detach", "dry-run", "idempotency-key", "verbose"]],
];
