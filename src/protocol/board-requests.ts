/** The requests of boards, as zod schemas: their bounds hold over the socket and in the library. */
import * as z from "zod";
import { formatSize } from "../base/durations.ts";
import {
  BOARD_SLOTS_MAX,
  CARD_BODY_MAX_BYTES,
  CARD_ID_MAX_BYTES,
  CARD_LABEL_MAX_CHARS,
  CARD_LABELS_MAX,
  CARD_REASON_MAX_CHARS,
  CARD_TITLE_MAX_BYTES,
  CARDS_AT_ONCE_MAX,
  CARDS_PAGE_DEFAULT,
  CARDS_PAGE_MAX,
  DURATION_MAX_MS,
} from "../base/limits.ts";
import { CURSOR } from "./cursor.ts";
import { isTellable, NOT_TELLABLE } from "./redact.ts";
import { BOARD_DEFAULT, CARD_LANES, COMPLETED_LANES } from "./words.ts";
import { Priority, WorkerSpec } from "./worker.ts";

const sized = (max: number) =>
  z.string().refine((text) => Buffer.byteLength(text) <= max, `it is over ${formatSize(max)}`);

const board = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,63}$/i,
    "a board has at most 64 letters, digits, '.', '_' and '-', and starts with a letter or digit",
  )
  .refine(isTellable, NOT_TELLABLE)
  .default(BOARD_DEFAULT);

/** A tracker's own id: `GH-12`, `org/repo#12`. */
const issue_id = sized(CARD_ID_MAX_BYTES)
  .regex(/^[^\s\p{C}]+$/u, "the id of a card has no spaces, and is not empty")
  .refine(isTellable, NOT_TELLABLE);

/** One line of a file of cards. */
export const CardInput = z.strictObject({
  id: z.union([issue_id, z.int().min(0).transform(String)]),
  title: sized(CARD_TITLE_MAX_BYTES).refine((title) => title.trim() !== "", "the title is empty"),
  body: sized(CARD_BODY_MAX_BYTES).nullable().optional(),
  labels: z
    .array(z.string().min(1).max(CARD_LABEL_MAX_CHARS))
    .max(CARD_LABELS_MAX)
    .default([])
    .transform((labels) => [...new Set(labels)]),
  priority: Priority.default("normal"),
});
export type CardInput = z.output<typeof CardInput>;

const reason = z.string().min(1).max(CARD_REASON_MAX_CHARS).optional();
const one = z.strictObject({ board, id: issue_id });
const withReason = one.extend({ reason });

export const BOARD_REQUESTS = {
  /** A card whose id the board has takes the new words, and stays where it is. */
  "board/add": z.strictObject({ board, cards: z.array(CardInput).min(1).max(CARDS_AT_ONCE_MAX) }),
  /** In the order of their discovery; with the cursor of an answer, those after them. */
  "board/list": z.strictObject({
    board,
    lanes: z.array(z.enum(CARD_LANES)).max(CARD_LANES.length).default([]),
    limit: z.int().min(1).max(CARDS_PAGE_MAX).default(CARDS_PAGE_DEFAULT),
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, "it is no cursor of agent board list")
      .optional(),
  }),
  "board/show": one,
  "board/claim": one,
  "board/release": withReason,
  /** Another try, now. */
  "board/retry": withReason,
  "board/block": withReason,
  "board/handoff": withReason,
  "board/done": withReason,
  /** `slots` 0: no more cards are taken. A field that is not given stays as it is; a board that has no dispatcher yet needs a spec. */
  "board/dispatch": z.strictObject({
    board,
    slots: z.int().min(0).max(BOARD_SLOTS_MAX).optional(),
    completed_lane: z.enum(COMPLETED_LANES).optional(),
    spec: WorkerSpec.optional(),
  }),
  /** A stream: progress envelopes whose data is one record each, then a terminal `ok` with where to go on. */
  "board/watch": z.strictObject({
    board,
    from: z.union([z.int().min(0), z.string().regex(CURSOR)]).optional(),
    since_ms: z.int().min(0).max(DURATION_MAX_MS).optional(),
    follow: z.boolean().default(true),
  }),
} as const;
