/** Forms of single values in protocol-v1.txt and agent-event.txt. The zod schemas, the socket and the validator all take them from here: one truth. */

/** Field descriptions, command. */
export const COMMAND_FORM = /^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/;

/** Artifactization; the originals write 64 lower-case hex digits (notes 2.1). */
export const DIGEST_FORM = /^sha256:[0-9a-f]{64}$/;
export const isDigest = (value: unknown): value is string =>
  typeof value === "string" && DIGEST_FORM.test(value);

/** RFC 3339, 5.6, of no other offset than that of UTC; `t` and `z` may be lower-case. */
export const UTC_TIME_FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]00:00)$/;
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** RFC 3339 in UTC, of a day that there is. A leap second is the last one of a month. */
export const isUtcTime = (text: string): boolean => {
  const parts = UTC_TIME_FORM.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return false;
  const [year, month, day, hour, minute, second] = parts as [number, number, number, number, number, number];
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && !isLeap ? 28 : (DAYS[month - 1] ?? 0);
  if (second === 60) return day === days && hour === 23 && minute === 59;
  return day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60;
};

/** The times in UTC that the originals take: written with a capital `T` and `Z`, and no leap second (notes 2.1). */
export const isWireTime = (text: string): boolean =>
  isUtcTime(text) && text[10] === "T" && text.endsWith("Z") && text.slice(17, 19) !== "60";

/** agent-event.txt, Fields; notes A.1: an open, string-backed set. */
export const AGENT_KIND_FORM = /^[a-z][a-z0-9_]*$/;
export const EVENT_KINDS = ["TextOutput", "ToolCall", "ToolResult", "Status", "Error", "Unknown"] as const;

export type JsonObject = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A whole number from 0 that every reader holds exactly: at most 2^53 - 1. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Bytes of the compact JSON in UTF-8: what the document's kilobytes are counted in. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
