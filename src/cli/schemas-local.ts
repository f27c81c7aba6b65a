/** The `data` of commands that need no daemon: artifacts and validators. A part of schemas.ts, loaded only with it. */
import * as z from "zod";
import { DEFAULT_NAMES, type ResolvedDefault } from "../protocol/defaults.ts";
import { digest, effect, time } from "../protocol/replies/reply.ts";
import { SIGNING_ALGORITHMS } from "../protocol/words.ts";
import type { ArtifactRow } from "../store/cas/store.ts";

const artifact: z.ZodType<ArtifactRow> = z.object({
  digest,
  size_bytes: z.int(),
  put_at: time.describe("the newest time"),
  pinned: z.boolean(),
});
/** The result for valid input; for invalid input, the error's detail has the findings. */
const validShape = { valid: z.literal(true), input: z.string(), strict: z.boolean() };

const mcp = z.object({
  kind: z.string(),
  exit_code: z.int().nullable().describe("exit code of the agent's CLI"),
  signal: z.string().nullable(),
  stdout: z.string(),
  stdout_truncated: z.boolean(),
  stderr: z.string(),
  stderr_truncated: z.boolean(),
});

const identity = z.object({
  name: z.string(),
  algorithm: z.enum(SIGNING_ALGORITHMS),
  public_key: z.string().describe("hex of Ed25519, base64url of ML-DSA-65"),
  fingerprint: z.string().describe("SHA-256 of the public key, as hex"),
});

const defaultValue = z.union([z.string(), z.number(), z.boolean()]);
export const ResolvedDefaultView: z.ZodType<ResolvedDefault> = z.object({
  name: z.enum(DEFAULT_NAMES),
  value: defaultValue.nullable().describe("a timeout is in milliseconds, 0 for none; null: the agent's own"),
  source: z.enum(["flag", "environment", "repository", "user", "built_in"]),
  from: z.string().nullable().describe("the flag, the variable or the file"),
  refused: defaultValue
    .optional()
    .describe("value of the repository that gives the agent more than yours, and so does not count"),
});
const place = { key: z.string(), path: z.string() };

export const LOCAL_OUTPUTS: Readonly<Record<string, z.ZodType>> = {
  "mcp/list": mcp,
  "mcp/get": mcp,
  "mcp/add": mcp.extend({ effect: z.enum(["created", "noop"]) }),
  "mcp/remove": mcp.extend({ effect: z.enum(["deleted", "noop"]) }),
  "agent/init": z.object({
    path: z.string(),
    text: z.string(),
    kind: z.string(),
    found: z.array(z.string()).describe("kinds whose CLI is on this machine"),
    effect,
  }),
  "config/get": ResolvedDefaultView,
  "config/list": z.object({
    user: z.string().describe("your file"),
    repository: z.string().nullable().describe("the file of the repository here; null without one"),
    defaults: z.array(
      z.object({
        key: z.string(),
        value: defaultValue,
        source: z.enum(["environment", "repository", "user"]),
        from: z.string(),
      }),
    ),
  }),
  "config/set": z.object({ ...place, value: defaultValue, effect: z.enum(["created", "updated", "noop"]) }),
  "config/unset": z.object({ ...place, effect: z.enum(["deleted", "noop"]) }),
  "identity/show": identity.extend({ directory: z.string(), effect: z.enum(["created", "noop"]) }),
  "identity/rotate": identity.extend({
    rotation: z.object({
      op: z.literal("rotate-key"),
      agent_id: z.string().describe("the name of the identity"),
      old_algorithm: z.enum(SIGNING_ALGORITHMS),
      old_public_key: z.string(),
      new_algorithm: z.enum(SIGNING_ALGORITHMS),
      new_public_key: z.string(),
      timestamp: z.int().describe("epoch seconds"),
      nonce: z.string().describe("32 hex digits"),
      current_signature: z.string().describe("by the old key, over the canonical JSON of all other members"),
      new_signature: z.string().describe("by the new key, over the same"),
    }),
    registrations: z
      .array(
        z.object({
          url: z.string(),
          name: z.string().describe("the name of this side there"),
          is_told: z.boolean().describe("whether the orchestrator knows the new key"),
        }),
      )
      .describe("orchestrators elsewhere at which the identity is registered"),
    effect: z.literal("updated"),
  }),
  "identity/export": identity.extend({
    private_file: z.string().nullable().describe("the file that the private key was copied to"),
  }),
  "cas/put": z.object({ digest, size_bytes: z.int(), effect: z.enum(["created", "noop"]) }),
  "cas/get": z.object({
    digest,
    size_bytes: z.int(),
    out: z.string().optional().describe("the file that was written"),
    base64: z.string().optional(),
  }),
  "cas/pin": z.object({ digest, effect: z.enum(["created", "noop"]) }),
  "cas/unpin": z.object({ digest, effect: z.enum(["deleted", "noop"]) }),
  "cas/list": z.array(artifact),
  "cas/gc": z.object({
    objects: z.int(),
    bytes: z.int(),
    pinned: z.int().describe("old enough, and kept"),
    referenced: z.int().describe("old enough, and named by a record"),
    effect,
  }),
  "proto/validate": z.object({
    ...validShape,
    level: z.enum(["wire", "spec"]),
    stream: z.boolean(),
    lines: z.int().optional().describe("with --stream"),
    command: z.string().optional().describe("command of the envelope"),
    status: z.enum(["ok", "error", "progress"]).optional(),
  }),
  "event/validate": z.object({ ...validShape, lines: z.int() }),
};
