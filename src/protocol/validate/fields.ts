/** The members of an envelope: those of protocol-v1.txt, and those that the originals also send (notes 2.1). */
import type { V1Code } from "../error-row.ts";

/** Types that the originals decode into; null or a missing member is valid for each of them. */
export type WireType = "string" | "integer" | "boolean" | "strings" | "object";

/** protocol-v1.txt, Field descriptions. */
export const TOP_MEMBERS = ["version", "status", "command", "data", "meta", "error"] as const;
export const ERROR_MEMBERS: readonly string[] = ["code", "message", "details"];
const META_OF_DOCUMENT: readonly string[] = [
  "ts",
  "duration_ms",
  "runner",
  "workspace",
  "job_id",
  "trace_id",
  "profiles",
  "source",
  "cas_digest",
  "skill_version",
  "cache_key",
  "seq",
  "final",
];
/** Ours: `request_id` matches answers to requests on one connection (docs/reference/conformance.md). */
const META_OF_OURS: readonly string[] = ["request_id"];

/** notes 2.1, Meta fields. The document has `trace_id` and the originals' strict mode refuses it; here it is accepted. */
export const META_WIRE_TYPES: Readonly<Record<string, WireType>> = {
  ts: "string",
  duration_ms: "integer",
  source: "string",
  runner: "string",
  seq: "integer",
  final: "boolean",
  cas_digest: "string",
  memory: "object",
  job_id: "string",
  skill_version: "string",
  workspace: "string",
  cache_key: "string",
  partial: "boolean",
  profiles: "strings",
  agent_id: "string",
  mailbox_id: "string",
  correlation_id: "string",
  parent_job_id: "string",
  quota_remaining: "object",
  trace_id: "string",
};

/** Members of `meta` that --strict accepts. */
export const META_MEMBERS = {
  wire: [...Object.keys(META_WIRE_TYPES), ...META_OF_OURS],
  spec: [...META_OF_DOCUMENT, ...META_OF_OURS],
} as const;

/** protocol-v1.txt, Field descriptions: members that are text if present. Only `runner` may be null. */
export const META_TEXTS: readonly string[] = ["job_id", "trace_id", "skill_version", "cache_key"];
export const RUNNERS: readonly unknown[] = ["wasi", "exec", "oci", null];
export const SOURCES: readonly unknown[] = ["run", "cache", "memory"];
export const STATUSES: readonly unknown[] = ["ok", "error", "progress"];

/** protocol-v1.txt, Error catalog. */
const CATALOGUE: Readonly<Record<V1Code, true>> = {
  EARG: true,
  EAUTH: true,
  ERATELIMIT: true,
  EPAGINATION: true,
  ERUNTIME: true,
  ENOTFOUND: true,
  ETIMEOUT: true,
  EPOLICY: true,
  ESKILLDOWN: true,
  EPARSE: true,
  EOUTPUT_TOO_LARGE: true,
  EENVELOPE: true,
  EIO: true,
  ECANCELED: true,
  EOPENAPI: true,
};
export const isCatalogued = (code: string): boolean => Object.hasOwn(CATALOGUE, code);
