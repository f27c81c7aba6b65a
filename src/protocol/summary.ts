/**
 * Summarises an artifact for its envelope (protocol-v1.txt, Summary requirements; Preview bounds): its size, its kind, and
 * its beginning. The same content always has the same summary. Secrets are masked before the content comes here, so that a
 * cut leaves no part of one.
 */

import { asObject } from "../base/json.ts";
import {
  INLINE_MAX_BYTES,
  PREVIEW_KEYS_MAX,
  PREVIEW_MAX_BYTES,
  PREVIEW_TEXT_MAX_BYTES,
} from "../base/limits.ts";
import { cutUtf8 } from "./bounds.ts";
import { redactText } from "./redact.ts";

type Scalar = string | number | boolean | null;

export interface Preview {
  /** The first keys of the first record, or of the object itself. */
  readonly first_keys?: readonly string[];
  /** The members under these keys that do not nest. */
  readonly sample_record?: Readonly<Record<string, Scalar>> | Scalar;
  readonly first_text?: string;
}

export interface Summary {
  readonly size_bytes: number;
  /** MIME type. */
  readonly kind: string;
  /** The length of a list, or of the only list in an object. */
  readonly record_count?: number;
  readonly preview: Preview;
  /** For a page of a list: how to request the next page without reading the artifact. */
  readonly pagination?: Pagination;
  /** For an answer of an HTTP server. */
  readonly status_code?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Pagination {
  readonly has_more: boolean;
  /** Items on all pages together. */
  readonly total_items?: number;
  /** The cursor of the next page. */
  readonly cursor?: string;
}

export const summaryOfJson = (value: unknown, size_bytes: number): Summary => {
  const told = summaryInside(value);
  if (told !== undefined) return { ...told, size_bytes, kind: "application/json" };
  const records = recordsOf(value);
  return {
    size_bytes,
    kind: "application/json",
    ...(records === undefined ? {} : { record_count: records.length }),
    preview: previewOf(records === undefined ? value : records[0]),
    ...(records === undefined ? {} : paginationOf(value as object)),
  };
};

/**
 * The summary that an answer of an HTTP server has already (protocol-v1.txt, Summary requirements: status_code, headers and
 * pagination). Undefined for any other value, and for a summary that is too large for an envelope.
 */
const summaryInside = (value: unknown): Summary | undefined => {
  const summary = asObject(asObject(value)?.summary);
  if (typeof summary?.status_code !== "number" || asObject(summary.preview) === undefined) return undefined;
  if (!fits(summary.preview as Preview)) return undefined;
  const { status_code, headers, record_count, preview, pagination } = summary as unknown as Summary;
  const told = {
    status_code,
    ...(headers !== undefined && { headers }),
    ...(record_count !== undefined && { record_count }),
    preview,
    ...(pagination !== undefined && { pagination }),
  };
  const isSmall = Buffer.byteLength(JSON.stringify(told)) <= INLINE_MAX_BYTES / 2;
  return isSmall ? (told as unknown as Summary) : undefined;
};

/** The preview of bytes of unknown kind: their text if they are UTF-8 without NUL, otherwise nothing. */
export const summaryOfBytes = (bytes: Uint8Array): Summary => {
  const text = textOf(bytes);
  return text === undefined
    ? { size_bytes: bytes.byteLength, kind: "application/octet-stream", preview: {} }
    : { ...summaryOfText(text), size_bytes: bytes.byteLength };
};

/** Summarises a text that is not JSON. */
export const summaryOfText = (text: string): Summary => ({
  size_bytes: Buffer.byteLength(text),
  kind: TEXT_KIND,
  preview: { first_text: cutUtf8(redactText(text), PREVIEW_MAX_BYTES / 2) },
});

const TEXT_KIND = "text/plain; charset=utf-8";

/** Undefined if the bytes are not text. */
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

/**
 * Our pages have `total`, and `cursor` if another page follows. A cursor longer than any of ours is left out, because a cut
 * one would be useless.
 */
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
