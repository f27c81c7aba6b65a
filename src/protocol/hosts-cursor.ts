/**
 * The place of a reader of several logs: one cursor a log, in one text that clients keep and give back as it is. The key is the
 * id of the log's store, so a host may get another name in between.
 */
import { HOSTS_MAX } from "../base/limits.ts";
import { CURSOR } from "./cursor.ts";

const STORE = /^[\w-]{1,64}$/;

/** `STORE=EPOCH:SEQ`, separated by commas. */
export const hostsCursorOf = (places: ReadonlyMap<string, string>): string =>
  [...places].map(([store, cursor]) => `${store}=${cursor}`).join(",");

/** The cursor of each store by its id; undefined if the text is none of these, or has more than HOSTS_MAX. */
export const readHostsCursor = (text: string): ReadonlyMap<string, string> | undefined => {
  const parts = text.split(",", HOSTS_MAX + 1).map((part) => part.split("=", 3));
  const isWhole = parts.every(
    ([store = "", cursor = "", more]) => STORE.test(store) && CURSOR.test(cursor) && more === undefined,
  );
  if (!isWhole || parts.length > HOSTS_MAX) return undefined;
  const places = new Map(parts as [string, string][]);
  return places.size === parts.length ? places : undefined;
};

export const isHostsCursor = (from: number | string | undefined): from is string =>
  typeof from === "string" && readHostsCursor(from) !== undefined;
