/** agent notify …: who is told that an agent waits. */
import { inGroup } from "./command.ts";

export const NOTIFY_COMMANDS = inGroup("This machine", [
  {
    words: ["notify", "list"],
    request: "notify/list",
    danger: "safe",
    summary: "List the targets of notifications, what waits to be sent, and what could not be",
    details:
      "Targets are in notifications: of config.yaml, which a daemon reads when it starts. A notification is given up after its last attempt; the newest of those are listed.",
    examples: ["agent notify list"],
  },
  {
    words: ["notify", "resend"],
    request: "notify/resend",
    danger: "mutating",
    exits: [6, 7, 8],
    summary: "Send notifications again that were given up",
    details:
      "They have their old ids and begin with all their attempts; a question that is answered by now is not sent. agent notify list has the ids.",
    args: [{ name: "ID", help: "id of a notification", variadic: true }],
    flags: [{ name: "all", short: "a", type: "bool", help: "all that were given up" }],
    examples: ["agent notify resend --all"],
  },
  {
    words: ["notify", "test"],
    request: "notify/test",
    danger: "mutating",
    exits: [6, 7, 8],
    summary: "Send a test notification to one target, or to all of them, and tell how it went",
    args: [{ name: "TARGET", help: "name of a target of config.yaml; default: all" }],
    examples: ["agent notify test", "agent notify test phone"],
  },
]);
