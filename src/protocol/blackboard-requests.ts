/** The requests of the blackboard, as zod schemas: their bounds hold over the socket and in the library. */
import * as z from "zod";
import { formatSize } from "../base/durations.ts";
import {
  BB_ARTIFACTS_MAX,
  BB_BODY_MAX_BYTES,
  BB_DATA_MAX_BYTES,
  BB_LEASE_DEFAULT_MS,
  BB_LEASE_MAX_MS,
  BB_LEASE_MIN_MS,
  BB_PAGE_DEFAULT,
  BB_PAGE_MAX,
  BB_SEARCH_MAX_CHARS,
  BB_TAG_MAX_CHARS,
  BB_TAGS_MAX,
  BB_TITLE_MAX_BYTES,
  BB_TTL_DEFAULT_MS,
  BB_TTL_MAX_MS,
  BB_TTL_MIN_MS,
  DURATION_MAX_MS,
  PATH_MAX_BYTES,
} from "../base/limits.ts";
import { CURSOR } from "./cursor.ts";
import { DIGEST_FORM } from "./forms.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { NAMESPACE_DEFAULT } from "./words.ts";

const sized = (max: number) =>
  z.string().refine((text) => Buffer.byteLength(text) <= max, `it is over ${formatSize(max)}`);

const Namespace = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/i,
    "a namespace has at most 64 letters, digits, '.', '_' and '-', and starts with a letter or digit",
  )
  .refine(isTellable, NOT_TELLABLE);
const Tag = z
  .string()
  .max(BB_TAG_MAX_CHARS)
  .regex(/^[^\s\p{C}]+$/u, "a tag has no spaces, and is not empty")
  .refine(isTellable, NOT_TELLABLE);
const Tags = z
  .array(Tag)
  .max(BB_TAGS_MAX)
  .default([])
  .transform((tags) => [...new Set(tags)]);

const ns = Namespace.default(NAMESPACE_DEFAULT);
const ref = z.string().min(1).max(PATH_MAX_BYTES);
const token = z.int().min(1);
const lease_ms = z.int().min(BB_LEASE_MIN_MS).max(BB_LEASE_MAX_MS).default(BB_LEASE_DEFAULT_MS);
const keyed = { idempotency_key: z.string().min(1).max(256).optional() };
const page = {
  limit: z.int().min(1).max(BB_PAGE_MAX).default(BB_PAGE_DEFAULT),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, "it is no cursor of the blackboard")
    .optional(),
};

const Data = z
  .json()
  .refine(
    (data) => Buffer.byteLength(JSON.stringify(data)) <= BB_DATA_MAX_BYTES,
    `it is over ${formatSize(BB_DATA_MAX_BYTES)} as JSON`,
  );

export const BLACKBOARD_REQUESTS = {
  /** At least one of title, body and data. Artifacts are digests of `agent cas put`. */
  "bb/post": z
    .strictObject({
      ns,
      title: sized(BB_TITLE_MAX_BYTES).optional(),
      body: sized(BB_BODY_MAX_BYTES).optional(),
      data: Data.optional(),
      tags: Tags,
      artifacts: z
        .array(z.string().regex(DIGEST_FORM, "it is no digest"))
        .max(BB_ARTIFACTS_MAX)
        .default([])
        .transform((digests) => [...new Set(digests)]),
      ttl_ms: z.int().min(BB_TTL_MIN_MS).max(BB_TTL_MAX_MS).default(BB_TTL_DEFAULT_MS),
      ...keyed,
    })
    .refine(
      ({ title, body, data }) => (title ?? "") !== "" || (body ?? "") !== "" || (data ?? null) !== null,
      "the item is empty: give a title, a body or data",
    ),
  /** Oldest first; with the cursor of an answer, those after them. */
  "bb/list": z.strictObject({
    ns,
    tags: Tags,
    state: z.enum(["free", "claimed"]).optional(),
    ...page,
  }),
  /** Each word of `text` stands in the title, the body, the data or a tag; one with a star at its end is the beginning of a word. */
  "bb/search": z.strictObject({
    ns,
    text: z.string().min(1).max(BB_SEARCH_MAX_CHARS),
    tags: Tags,
    state: z.enum(["free", "claimed"]).optional(),
    ...page,
  }),
  /** A stream: progress envelopes whose data is one record each, then a terminal `ok` with where to go on. */
  "bb/watch": z.strictObject({
    ns,
    from: z.union([z.int().min(0), z.string().regex(CURSOR)]).optional(),
    since_ms: z.int().min(0).max(DURATION_MAX_MS).optional(),
    follow: z.boolean().default(true),
  }),
  /** One item by its id; without an id the oldest free item of the namespace with these tags. With the token of a lease it is extended. */
  "bb/claim": z
    .strictObject({
      id: ref.optional(),
      ns: Namespace.optional(),
      tags: Tags,
      lease_ms,
      token: token.optional(),
      ...keyed,
    })
    .refine(
      ({ id, ns: of, tags }) => id === undefined || (of === undefined && tags.length === 0),
      "give an id, or a namespace and tags, not both",
    )
    .refine(
      ({ id, token: held }) => held === undefined || id !== undefined,
      "a token extends the lease of one item: give its id",
    ),
  /** Free again, or with `done` gone. */
  "bb/release": z.strictObject({ id: ref, token, done: z.boolean().default(false), ...keyed }),
} as const;
