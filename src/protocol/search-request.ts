/** The fields of each request that searches records. */
import * as z from "zod";
import {
  DURATION_MAX_MS,
  PATH_MAX_BYTES,
  SEARCH_NAMES_MAX,
  SEARCH_PAGE_DEFAULT,
  SEARCH_PAGE_MAX,
  SEARCH_TEXT_ASKED_MAX_CHARS,
} from "../base/limits.ts";
import { searchProblem } from "./search-text.ts";

export const AskedSearch = z.strictObject({
  /** Words; text in double quotes is a phrase, and a word with a star at its end is the beginning of one. */
  text: z
    .string()
    .max(SEARCH_TEXT_ASKED_MAX_CHARS)
    .superRefine((text, { addIssue }) => {
      const message = searchProblem(text);
      if (message !== undefined) addIssue({ code: "custom", message });
    }),
  workers: z.array(z.string().min(1).max(PATH_MAX_BYTES)).max(SEARCH_NAMES_MAX).default([]),
  /** Record types, or kinds of AgentEvents. */
  types: z
    .array(z.string().regex(/^\w[\w.]{0,63}$/, "it is no type of a record"))
    .max(SEARCH_NAMES_MAX)
    .default([]),
  since_ms: z.int().min(0).max(DURATION_MAX_MS).optional(),
  limit: z.int().min(1).max(SEARCH_PAGE_MAX).default(SEARCH_PAGE_DEFAULT),
});
