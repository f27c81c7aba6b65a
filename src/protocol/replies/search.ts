/** The answers of `search`. */
import * as z from "zod";
import type { RecordType } from "../records.ts";
import { id, type Reply, time } from "./reply.ts";

/** A record that has all words. */
export const SearchHit = z.object({
  seq: z.int(),
  recorded_at: time,
  type: z.string() as unknown as z.ZodType<RecordType>,
  kind: z.string().nullable().describe("the kind of an agent event"),
  stream: z.string(),
  worker_id: id.nullable(),
  worker_name: z.string().nullable(),
  incarnation: z.int().nullable(),
  text: z.string().describe("the part of its text around the first match, in one line"),
  marks: z
    .array(z.tuple([z.int(), z.int()]))
    .describe("beginnings and ends of the words in text, in UTF-16 units"),
});
export type SearchHit = Reply<typeof SearchHit>;

export interface SearchReply {
  /** Newest first. */
  readonly hits: readonly SearchHit[];
  /** The cursor of the next page; absent on the last one. */
  readonly cursor?: string;
}
