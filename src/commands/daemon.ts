/** Commands of the daemon. */
import type { FlagDef } from "../base/flag.ts";
import { inGroup } from "./command.ts";
import { dryRun } from "./flags.ts";

const http: FlagDef = {
  name: "http",
  type: "string",
  value: "[HOST:]PORT",
  optional: true,
  help: "serve the API over HTTP, on 127.0.0.1:7433 if no address is given",
};

export const DAEMON_COMMANDS = inGroup("This machine", [
  {
    words: ["daemon", "run"],
    danger: "mutating",
    exits: [6],
    summary: "Run the daemon in the foreground",
    flags: [http],
    examples: ["agent daemon run"],
  },
  {
    words: ["daemon", "start"],
    danger: "mutating",
    exits: [6],
    summary: "Start the daemon in the background",
    flags: [http],
    examples: ["agent daemon start", "agent daemon start --http"],
  },
  {
    words: ["daemon", "stop"],
    request: "daemon/stop",
    danger: "destructive",
    summary: "Stop the daemon; refuses while agents run",
    flags: [
      { name: "keep-agents", type: "bool", help: "leave agents running for the next daemon to adopt" },
      { name: "kill-agents", type: "bool", help: "stop agents first, in reverse order of their start" },
      dryRun,
    ],
    examples: ["agent daemon stop --keep-agents"],
  },
  {
    words: ["daemon", "status"],
    request: "daemon/status",
    danger: "safe",
    summary: "Show whether the daemon runs, and what it uses",
    examples: ["agent daemon status"],
  },
  {
    words: ["daemon", "upgrade"],
    danger: "mutating",
    exits: [1, 6, 12],
    summary: "Replace the daemon with one of this version; agents keep running",
    flags: [{ name: "force", type: "bool", help: "even if the daemon is already this build" }],
    examples: ["agent daemon upgrade"],
  },
  {
    words: ["daemon", "install"],
    danger: "mutating",
    exits: [6],
    summary: "Install the daemon as a user service (systemd, launchd)",
    flags: [
      { name: "now", type: "bool", help: "enable and start it, if the user's service manager answers" },
      { name: "force", type: "bool", help: "overwrite a file that was edited by hand" },
      { name: "dry-run", type: "bool", help: "print what would be written" },
    ],
    examples: ["agent daemon install --now"],
  },
  {
    words: ["daemon", "uninstall"],
    danger: "mutating",
    exits: [6],
    summary: "Remove the service that daemon install wrote; agents keep running",
    flags: [
      { name: "now", type: "bool", help: "disable and stop it first" },
      { name: "force", type: "bool", help: "remove a file that was edited by hand" },
      { name: "dry-run", type: "bool", help: "say what would be removed" },
    ],
    examples: ["agent daemon uninstall --now"],
  },
]);
