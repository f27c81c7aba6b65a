/**
 * The words of an envelope about an artifact, instead of its content (protocol-v1.txt, Summary requirements; Preview bounds): how large it
 * is, what it is, and its beginning, which is the same each time. The content has its secrets masked before it comes here, so
 * that nothing that is cut here was a part of one.
 */

import { PREVIEW_KEYS_MAX, PREVIEW_MAX_BYTES, PREVIEW_TEXT_MAX_BYTES } from "../base/limits.ts";
import { cutUtf8 } from "./bounds.ts";
import { redactText } from "./redact.ts";

type Scalar = string | number | boolean | null;

export interface Preview {
  /** The first keys of the first record, or of the object itself. */
  readonly first_keys?: readonly string[];
  /** Among these, the members that do not nest. */
  readonly sample_record?: Readonly<Record<string, Scalar>> | Scalar;
  readonly first_text?: string;
}

export interface Summary {
  readonly size_bytes: number;
  /** MIME type. */
  readonly kind: string;
  /** The length of a list, or of an object that has exactly one. */
  readonly record_count?: number;
  readonly preview: Preview;
  /** For a page of a list: what it takes to ask for the next one without reading the artifact. */
  readonly pagination?: Pagination;
}

interface Pagination {
  readonly has_more: boolean;
  /** On all pages together. */
  readonly total_items?: number;
  /** The cursor of the next page. */
  readonly cursor?: string;
}

export const summaryOfJson = (value: unknown, size_bytes: number): Summary => {
  const records = recordsOf(value);
  return {
    size_bytes,
    kind: "application/json",
    ...(records === undefined ? {} : { record_count: records.length }),
    preview: previewOf(records === undefined ? value : records[0]),
    ...(records === undefined ? {} : paginationOf(value as object)),
  };
};

/** The preview of bytes that are not known to be anything: text where they are UTF-8 without NUL, otherwise nothing is shown of them. */
export const summaryOfBytes = (bytes: Uint8Array): Summary => {
  const text = textOf(bytes);
  return {
    size_bytes: bytes.byteLength,
    kind: text === undefined ? "application/octet-stream" : "text/plain; charset=utf-8",
    preview: text === undefined ? {} : { first_text: cutUtf8(redactText(text), PREVIEW_MAX_BYTES / 2) },
  };
};

/** Undefined where it is no text. */
const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
};

const recordsOf = (value: unknown): readonly unknown[] | undefined => {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) return undefined;
  const lists = Object.values(value).filter((member) => Array.isArray(member));
  return lists.length === 1 ? lists[0] : undefined;
};

/** Our pages say `total`, and `cursor` where there is another one. A cursor longer than any of ours is left out: cut it would be of no use. */
const paginationOf = ({
  total,
  cursor,
}: {
  readonly total?: unknown;
  readonly cursor?: unknown;
}): { readonly pagination?: Pagination } => {
  const hasTotal = typeof total === "number";
  const hasMore = typeof cursor === "string";
  if (!hasTotal && !hasMore) return {};
  return {
    pagination: {
      has_more: hasMore,
      ...(hasTotal && { total_items: total }),
      ...(hasMore && Buffer.byteLength(cursor) <= PREVIEW_TEXT_MAX_BYTES && { cursor }),
    },
  };
};

const fits = (preview: Preview): boolean => Buffer.byteLength(JSON.stringify(preview)) <= PREVIEW_MAX_BYTES;

const previewOf = (record: unknown): Preview => {
  if (typeof record !== "object" || record === null)
    return record === undefined ? {} : { sample_record: shown(record as Scalar) };
  const first_keys: string[] = [];
  const sample_record: Record<string, Scalar> = {};
  for (const [name, member] of Object.entries(record).slice(0, PREVIEW_KEYS_MAX)) {
    const key = cutUtf8(redactText(name.toWellFormed()), PREVIEW_TEXT_MAX_BYTES);
    if (!fits({ first_keys: [...first_keys, key], sample_record })) break;
    first_keys.push(key);
    if (typeof member === "object" && member !== null) continue;
    const sampled = { ...sample_record, [key]: shown(member as Scalar) };
    if (fits({ first_keys, sample_record: sampled })) sample_record[key] = sampled[key] as Scalar;
  }
  return { first_keys, sample_record };
};

const shown = (value: Scalar): Scalar =>
  typeof value === "string" ? cutUtf8(value.toWellFormed(), PREVIEW_TEXT_MAX_BYTES) : value;
