/** protocol-v1.txt, Available profiles: a profile is declared if every command that the document reserves for it has a handler. */

export const RESERVED: Readonly<Record<string, readonly string[]>> = {
  "core/v1": [
    "http/openapi",
    "fs/ls",
    "fs/read",
    "text/grep",
    "todo/manage",
    "jobs/submit",
    "jobs/tail",
    "jobs/info",
    "jobs/cancel",
  ],
  "agent/v1": [
    "agent/spawn",
    "agent/restart",
    "agent/kill",
    "agent/send",
    "agent/watch",
    "bb/post",
    "bb/watch",
    "bb/search",
    "bb/claim",
    "bb/release",
  ],
  "plugin/v1": ["plugin/auth", "plugin/pagination"],
};

export const profilesOf = (commands: readonly string[]): string[] =>
  Object.entries(RESERVED)
    .filter(([, reserved]) => reserved.every((command) => commands.includes(command)))
    .map(([profile]) => profile);
