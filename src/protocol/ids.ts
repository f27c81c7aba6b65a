/** Ids are ULIDs: they sort by time and, within this process, strictly in the order in which they were made. */
import { monotonicFactory } from "ulid";

const next = monotonicFactory();

/** A new id, of this time: wall clock, whole milliseconds; without one, of now. A clock that goes back does not break the order. */
export const newId = (now?: number): string => next(now);

const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

/** The canonical form only: ids are compared as text, so a lower-case one would be another id. */
export const isUlid = (text: string): boolean => ULID.test(text);
