/** Forms of single values in protocol-v1.txt and agent-event.txt. The zod schemas, the socket and the validator all use these. */
import type { JsonObject } from "../base/json.ts";

/** Field descriptions, command. */
export const COMMAND_FORM = /^[a-z0-9][a-z0-9-]*\/[a-z0-9][a-z0-9-]*$/;

/** The name of an MCP server in `config.yaml`. */
export const MCP_NAME_FORM = /^[a-z0-9][a-z0-9-]{0,31}$/;

/** Artifactization; the originals write 64 lower-case hex digits (notes 2.1). */
export const DIGEST_FORM = /^sha256:[0-9a-f]{64}$/;
export const isDigest = (value: unknown): value is string =>
  typeof value === "string" && DIGEST_FORM.test(value);

const ULID_FORM = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
/** Accepts only the canonical form: ids are compared as text, so a lower-case id would be another id. */
export const isUlid = (text: string): boolean => ULID_FORM.test(text);

/** RFC 3339, 5.6, in UTC only; `t` and `z` may be lower-case. */
export const UTC_TIME_FORM = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:[Zz]|[+-]00:00)$/;
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** An RFC 3339 time in UTC on a day that exists. A leap second occurs only at the end of a month. */
export const isUtcTime = (text: string): boolean => {
  const parts = UTC_TIME_FORM.exec(text)?.slice(1).map(Number);
  if (parts === undefined) return false;
  const [year, month, day, hour, minute, second] = parts as [number, number, number, number, number, number];
  const isLeap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = month === 2 && !isLeap ? 28 : (DAYS[month - 1] ?? 0);
  if (second === 60) return day === days && hour === 23 && minute === 59;
  return day >= 1 && day <= days && hour < 24 && minute < 60 && second < 60;
};

/** The UTC times that the originals accept: with a capital `T` and `Z`, and no leap second (notes 2.1). */
export const isWireTime = (text: string): boolean =>
  isUtcTime(text) && text[10] === "T" && text.endsWith("Z") && text.slice(17, 19) !== "60";

/** agent-event.txt, Fields; notes A.1: an open, string-backed set. */
export const AGENT_KIND_FORM = /^[a-z][a-z0-9_]*$/;
export const EVENT_KINDS = ["TextOutput", "ToolCall", "ToolResult", "Status", "Error", "Unknown"] as const;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A whole number that every JSON reader holds exactly: from 0 to 2^53 - 1. */
export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Bytes of the compact JSON in UTF-8, the unit of the document's kilobytes. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value) ?? "");
