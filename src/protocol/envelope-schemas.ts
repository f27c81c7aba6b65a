/**
 * The two envelopes as zod schemas: Protocol v1 (protocol-v1.txt) and ResponseEnvelope (response-envelope.txt, generations
 * G1 and G2). The code that makes envelopes imports only types from here, so that the client does not load zod.
 */
import * as z from "zod";
import { COMMAND_FORM, DIGEST_FORM, isUtcTime, UTC_TIME_FORM } from "./forms.ts";

/** protocol-v1.txt, Field descriptions. */
const Command = z.string().regex(COMMAND_FORM, "a command is written namespace/verb");
const Data = z.record(z.string(), z.unknown());
const Digest = z.string().regex(DIGEST_FORM);

/** Versioning and compatibility: an envelope of version 1 may gain fields, so unknown ones are accepted. */
const MetaV1 = z.looseObject({
  ts: z.string().regex(UTC_TIME_FORM, "meta.ts is an RFC 3339 time in UTC").refine(isUtcTime),
  duration_ms: z.int().min(0),
  runner: z.enum(["wasi", "exec", "oci"]).nullable().optional(),
  workspace: z.string().optional(),
  job_id: z.string().optional(),
  trace_id: z.string().optional(),
  profiles: z.array(z.string()).optional(),
  source: z.enum(["run", "cache", "memory"]).optional(),
  cas_digest: Digest.optional(),
  skill_version: z.string().optional(),
  cache_key: z.string().optional(),
  seq: z.int().min(0).optional(),
  final: z.boolean().optional(),
  /** Not in the document: matches answers to requests on one connection. */
  request_id: z.string().optional(),
});

const NoErrorV1 = z.looseObject({
  code: z.null().optional(),
  message: z.null().optional(),
  details: Data.optional(),
});
const ErrorV1 = z.looseObject({
  /** The catalogue has fifteen codes; the originals also send others (notes 2.2). */
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  message: z.string().regex(/\S/),
  details: Data.optional(),
});

const common = { version: z.literal(1), command: Command, data: Data };

/** protocol-v1.txt, Status rules. */
export const EnvelopeV1 = z.discriminatedUnion("status", [
  z.looseObject({ ...common, status: z.literal("ok"), meta: MetaV1, error: NoErrorV1 }),
  z.looseObject({ ...common, status: z.literal("error"), meta: MetaV1, error: ErrorV1 }),
  z.looseObject({
    ...common,
    status: z.literal("progress"),
    meta: MetaV1.required({ seq: true }),
    error: NoErrorV1,
  }),
]);
export type EnvelopeV1 = z.infer<typeof EnvelopeV1>;

const Redirect = z.strictObject({
  command: z.string(),
  permanent: z.boolean(),
  reason: z.enum(["renamed", "restructured", "deprecated", "typo_corrected"]).optional(),
});

const detail = {
  code: z.string().regex(/^[A-Z][A-Z0-9_]*$/),
  message: z.string(),
  detail: z.string().optional(),
  retryable: z.boolean().optional(),
  phase: z.enum(["validation", "execution", "cleanup"]).optional(),
  suggestion: z.string().optional(),
  redirect: Redirect.optional(),
};
export const ErrorDetail = z.strictObject({
  ...detail,
  /** Seconds. */
  retry_after: z.int().min(0).optional(),
});
export type ErrorDetail = z.infer<typeof ErrorDetail>;

/** Notes B.1: errors of the later generation are open objects, and say what the caller must fix. */
const ErrorDetailG2 = z.looseObject({
  ...detail,
  retry_after_ms: z.int().min(0).optional(),
  retry_strategy: z.enum(["immediate", "linear_backoff", "exponential_backoff"]).optional(),
  fix_required: z.string().optional(),
  fix_command: z.string().optional(),
});
export type ErrorDetailG2 = z.infer<typeof ErrorDetailG2>;

const ResponseMeta = z.looseObject({
  duration_ms: z.int().min(0),
  request_id: z.string().optional(),
  schema_version: z
    .string()
    .regex(/^\d+\.\d+$/)
    .optional(),
  not_modified: z.boolean().optional(),
  truncated: z.boolean().optional(),
  cursor: z.string().optional(),
});
export type ResponseMeta = z.infer<typeof ResponseMeta>;

const shape = {
  ok: z.boolean(),
  data: z.union([z.null(), Data, z.array(z.unknown())]),
  warnings: z.array(z.string()),
  meta: ResponseMeta,
};

interface EnvelopeFacts {
  readonly ok: boolean;
  readonly data: unknown;
  readonly error: unknown;
  readonly meta: { readonly not_modified?: boolean | undefined };
}

const errorOnFailure = ({ ok, error }: EnvelopeFacts): boolean => ok === (error === null);
const dataOnSuccess = ({ ok, data }: EnvelopeFacts): boolean => ok || data === null;
const oneOfBoth = ({ data, error, meta }: EnvelopeFacts): boolean =>
  data !== null || error !== null || meta.not_modified === true;

/** Always exactly these five members. `data` and `error` are both null only with `meta.not_modified`. */
export const ResponseEnvelope = z
  .strictObject({ ...shape, error: ErrorDetail.nullable() })
  .refine(errorOnFailure, "error is null exactly when ok is true")
  .refine(dataOnSuccess, "data is null on failure")
  .refine(oneOfBoth, "data and error are both null");
export const ResponseEnvelopeG2 = z
  .strictObject({ ...shape, error: ErrorDetailG2.nullable() })
  .refine(errorOnFailure, "error is null exactly when ok is true")
  .refine(dataOnSuccess, "data is null on failure")
  .refine(oneOfBoth, "data and error are both null");
export type ResponseEnvelope = z.infer<typeof ResponseEnvelope>;
