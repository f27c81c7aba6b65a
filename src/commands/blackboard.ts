/** Commands of the blackboard. */
import type { FlagDef } from "../base/flag.ts";
import {
  BB_LEASE_MAX_MS,
  BB_LEASE_MIN_MS,
  BB_PAGE_DEFAULT,
  BB_PAGE_MAX,
  BB_TTL_MAX_MS,
  BB_TTL_MIN_MS,
} from "../base/limits.ts";
import { NAMESPACE_DEFAULT } from "../protocol/words.ts";
import { inGroup } from "./command.ts";
import { idempotencyKey, noFollow, pageFlags, since, watchFrom } from "./flags.ts";

const namespace: FlagDef = {
  name: "ns",
  type: "name",
  value: "NS",
  help: "namespace of the blackboard",
  default: NAMESPACE_DEFAULT,
};
const tag = (help: string): FlagDef => ({ name: "tag", type: "string", value: "T", repeatable: true, help });
const itemState: FlagDef = {
  name: "state",
  type: "enum",
  values: ["free", "claimed"],
  value: "STATE",
  help: "only items that are free, or claimed",
};
const EXAMPLE_ITEM = "01JZ8Q4D7E";

export const BLACKBOARD_COMMANDS = inGroup("Share work", [
  {
    words: ["bb", "post"],
    request: "bb/post",
    danger: "mutating",
    exits: [5, 6, 11],
    summary: "Post an item to the blackboard, for others to claim",
    details:
      "Prints the id of the item. Starts the daemon if none runs. Every client of the daemon can read the item, so put no secret into it; text that looks like one is masked. Its artifacts are kept until the item is gone.",
    args: [{ name: "TITLE", help: "the title of the item in lists" }],
    flags: [
      namespace,
      { name: "body", type: "string", value: "TEXT", help: "its text, up to 32 KB" },
      { name: "body-file", type: "string", value: "F", help: "its text from a file; - is stdin" },
      { name: "data", type: "string", value: "JSON", help: "its data for programs, up to 32 KB" },
      tag("tag for claims, lists and searches to select by"),
      {
        name: "artifact",
        type: "string",
        value: "DIGEST",
        repeatable: true,
        help: "artifact that belongs to it, as agent cas put prints it",
      },
      {
        name: "ttl",
        type: "duration",
        value: "1d",
        help: "how long the item stays if nobody finishes it",
        default: "1d",
        min: BB_TTL_MIN_MS,
        max: BB_TTL_MAX_MS,
      },
      idempotencyKey,
    ],
    examples: [
      "agent bb post 'Fix the login test' --tag rust",
      "git log -1 | agent bb post 'Review this' --body-file -",
    ],
  },
  {
    words: ["bb", "list"],
    request: "bb/list",
    danger: "safe",
    summary: "List the items of the blackboard, oldest first",
    flags: [
      namespace,
      tag("only items with this tag"),
      itemState,
      ...pageFlags(BB_PAGE_MAX, BB_PAGE_DEFAULT),
    ],
    examples: ["agent bb list", "agent bb list --ns builds --state free"],
  },
  {
    words: ["bb", "search"],
    request: "bb/search",
    danger: "safe",
    summary: "Find items that have all these words",
    details:
      "Searches titles, bodies, data and tags, and ignores case. A word with a star at its end is the beginning of a word: log*.",
    args: [{ name: "WORD", help: "a word, or the beginning of one", required: true, variadic: true }],
    flags: [
      namespace,
      tag("only items with this tag"),
      itemState,
      ...pageFlags(BB_PAGE_MAX, BB_PAGE_DEFAULT),
    ],
    examples: ["agent bb search login", "agent bb search 'flaky log*' --tag ci"],
  },
  {
    words: ["bb", "watch"],
    request: "bb/watch",
    danger: "safe",
    stream: true,
    summary: "Follow the changes of the blackboard",
    details:
      "Prints a record for each item that is posted, claimed, extended, released or expired. Ctrl-C ends it. A cursor is the seq of the last record that you have seen, or EPOCH:SEQ.",
    flags: [namespace, watchFrom, since, noFollow],
    examples: ["agent bb watch", "agent bb watch --ns builds --from 0 --no-follow -o ndjson"],
  },
  {
    words: ["bb", "claim"],
    request: "bb/claim",
    danger: "mutating",
    exits: [5, 6],
    summary: "Claim an item, so that nobody else can",
    details:
      "Without ITEM: the oldest free item. Prints a token, which extends the lease or releases the item. After the lease the item is free again, and its token is refused. Tokens only rise, so a program that remembers the highest one can refuse a late holder.",
    args: [{ name: "ITEM", help: "id of an item, or a unique prefix of it" }],
    flags: [
      namespace,
      tag("the oldest free item with this tag"),
      {
        name: "lease",
        type: "duration",
        value: "5m",
        help: "how long the item is yours, unless you extend the lease",
        default: "5m",
        min: BB_LEASE_MIN_MS,
        max: BB_LEASE_MAX_MS,
      },
      { name: "token", type: "int", value: "N", help: "extend the lease that has this token", min: 1 },
      idempotencyKey,
    ],
    examples: ["agent bb claim --tag rust --lease 30m", `agent bb claim ${EXAMPLE_ITEM} --token 812`],
  },
  {
    words: ["bb", "release"],
    request: "bb/release",
    danger: "mutating",
    exits: [5, 6],
    summary: "Give an item back, or finish it",
    details: "Without --done the item is free for others. The token of an expired lease is refused.",
    args: [{ name: "ITEM", help: "id of the item, or a unique prefix of it", required: true }],
    flags: [
      { name: "token", type: "int", value: "N", help: "as agent bb claim printed it", min: 1 },
      { name: "done", type: "bool", help: "the work is done: remove the item" },
      idempotencyKey,
    ],
    examples: [`agent bb release ${EXAMPLE_ITEM} --token 812 --done`],
  },
]);
