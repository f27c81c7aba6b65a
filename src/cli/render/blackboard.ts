/** Items of the blackboard as text for people. */
import type { ClaimReply, ItemView, PostReply, ReleaseReply } from "../../protocol/replies/blackboard.ts";
import { age } from "./pairs.ts";
import { neutralise, oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { duration } from "./units.ts";

/** It is the last column: a terminal cuts it at its edge, and a pipe gets it whole. */
const TITLE_MAX_CHARS = 1_024;

const titleOf = ({ title, body, data }: ItemView): string =>
  oneLine(title ?? body ?? JSON.stringify(data), TITLE_MAX_CHARS);

const tagsOf = ({ tags }: ItemView): string => tags.map((tag) => `#${tag}`).join(" ");

const left = (at: string, now: number): string => duration(Math.max(0, Date.parse(at) - now));

/** The id alone: what a script goes on with. */
const postedText: TextOf<PostReply> = ({ item_id }) => item_id;

const itemsText: TextOf<{ readonly items: readonly ItemView[] }> = ({ items }, { paint, now, columns }) => {
  if (items.length === 0) return "";
  const head = ["ITEM", "STATE", "AGE", "HELD BY", "TAGS", "TITLE"].map((cell) => paint("dim", cell));
  const rows = items.map((item) => [
    item.item_id,
    paint(item.state === "free" ? "good" : "warn", item.state),
    age(item.posted_at, now),
    item.lease === null ? "" : `${oneLine(item.lease.by, 60)} (${left(item.lease.expires_at, now)} left)`,
    oneLine(tagsOf(item), 60),
    titleOf(item),
  ]);
  return table([head, ...rows], { fit: columns });
};

const claimedText: TextOf<ClaimReply> = ({ item, token, lease_expires_at }, { paint, now }) => {
  const { title, body, data, artifacts } = item;
  const words = [
    ...(title === null ? [] : [oneLine(title, TITLE_MAX_CHARS)]),
    ...(body === null ? [] : [neutralise(body.trimEnd())]),
    ...(data === null ? [] : [neutralise(JSON.stringify(data, null, 2))]),
    ...artifacts.map((digest) => `agent cas get ${digest}`),
  ];
  return [
    `${item.item_id} ${paint("warn", `token ${token}`)} ${paint("dim", `for ${left(lease_expires_at, now)}`)} ${tagsOf(item)}`.trimEnd(),
    ...words,
  ].join("\n");
};

const releasedText: TextOf<ReleaseReply> = ({ done, effect }, { paint }) => {
  const what = done ? "done: it is gone" : "released: it is free again";
  return paint("dim", effect === "noop" ? `${what} (asked before)` : what);
};

export const BLACKBOARD_TEXTS = {
  "bb/post": postedText,
  "bb/list": itemsText,
  "bb/search": itemsText,
  "bb/claim": claimedText,
  "bb/release": releasedText,
  "bb/watch": () => "",
};
