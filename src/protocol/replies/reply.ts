/**
 * Parts that answers of commands share. An answer is declared once: its schema is published (`agent manifest`, `--schema`), and its
 * type follows from the schema. Only the manifest loads the schemas; everybody else imports types.
 */
import * as z from "zod";
import { ERROR_CATALOGUE, type ErrorCode } from "../errors.ts";
import type { Summary } from "../summary.ts";
import type { JsonValue } from "../talk-records.ts";
import type { WorkerSpec } from "../worker.ts";

/** The type of an answer: what its schema describes, read-only. */
export type Reply<S extends z.ZodType> = ReadOnly<z.output<S>>;
/** The type of JSON has no end; a spec may be given back as it is. */
type ReadOnly<T> = z.core.util.JSONType extends T
  ? T
  : T extends WorkerSpec
    ? T
    : T extends string | number | boolean | null | undefined
      ? T
      : { readonly [Key in keyof T]: ReadOnly<T[Key]> };

export const id = z.string().describe("ULID");
export const time = z.string().describe("RFC 3339, UTC");
export const digest = z.string().describe("sha256: and 64 hexadecimal digits");
export const json: z.ZodType<JsonValue> = z.json();
/** protocol-v1.txt, Summary requirements. */
export const summary: z.ZodType<Summary> = z.looseObject({
  size_bytes: z.int(),
  kind: z.string(),
  preview: z.looseObject({}),
});
export const code = z.enum(Object.keys(ERROR_CATALOGUE) as [ErrorCode, ...ErrorCode[]]);
export const effect = z.enum([
  "created",
  "updated",
  "deleted",
  "noop",
  "would_create",
  "would_update",
  "would_delete",
]);
