/** Commands about tokens, which name callers. */
import { formatDuration } from "../base/durations.ts";
import { DASHBOARD_TOKEN_MS, NAME_MAX_BYTES, TOKEN_EXPIRES_MIN_MS } from "../base/limits.ts";
import { type ArgDef, inGroup } from "./command.ts";

const tokenName: ArgDef = {
  name: "NAME",
  help: "name of the token",
  required: true,
  nameMaxBytes: NAME_MAX_BYTES,
};

export const TOKEN_COMMANDS = inGroup("This machine", [
  {
    words: ["token", "create"],
    request: "token/create",
    danger: "mutating",
    exits: [6, 7, 8, 10, 11],
    summary: "Make a token with a name: records say user:NAME of a client that presents it",
    details:
      "Prints the secret alone, once, in text; with --to it is written to a new file that only you may read. The daemon keeps its SHA-256. A client presents it in HOLDFAST_TOKEN or HOLDFAST_TOKEN_FILE. A token names a caller and gives it no rights: an agent that presents one has the rights of its worker. Starts the daemon if none runs.",
    args: [{ ...tokenName, help: "name that no other living token has" }],
    flags: [
      {
        name: "expires",
        type: "duration",
        value: "30d",
        help: "the token holds this long",
        default: "until it is revoked",
        min: TOKEN_EXPIRES_MIN_MS,
      },
      {
        name: "to",
        type: "string",
        value: "FILE",
        help: "new file for the secret; needed in json and ndjson",
      },
    ],
    examples: [
      "agent token create ci --expires 30d --to ci.token",
      "HOLDFAST_TOKEN_FILE=ci.token agent kill fixer",
    ],
  },
  {
    words: ["dashboard"],
    danger: "mutating",
    exits: [6, 7, 8, 10, 11],
    summary: "Print an address that opens the dashboard in a browser",
    details:
      "Makes a token whose name begins with dashboard-, and prints the address with its secret, once, in text; with --to it is written to a new file that only you may read. A browser that opens the address may do all that you may do, until the token is revoked or expires. The daemon must serve HTTP: agent daemon start --http. With --host the command itself serves the dashboard of one or more hosts, until it ends.",
    flags: [
      {
        name: "expires",
        type: "duration",
        value: "12h",
        help: "the address opens the dashboard this long",
        default: formatDuration(DASHBOARD_TOKEN_MS),
        min: TOKEN_EXPIRES_MIN_MS,
      },
      {
        name: "to",
        type: "string",
        value: "FILE",
        help: "new file for the address; needed in json and ndjson",
      },
    ],
    examples: ["agent dashboard", "agent dashboard --expires 30d", "agent --host all dashboard"],
  },
  {
    words: ["token", "list"],
    request: "token/list",
    danger: "safe",
    summary: "List the tokens with names, who made each, and when it expires",
    examples: ["agent token list"],
  },
  {
    words: ["token", "revoke"],
    request: "token/revoke",
    danger: "destructive",
    exits: [5, 6, 7],
    summary: "Revoke a token: whoever presents it is refused from the next request on",
    args: [tokenName],
    examples: ["agent token revoke ci"],
  },
]);
