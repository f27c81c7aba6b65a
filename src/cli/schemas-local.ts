/** The `data` of commands that need no daemon: artifacts and validators. A part of schemas.ts, loaded only with it. */
import * as z from "zod";
import { digest, effect, time } from "../protocol/replies/reply.ts";
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

export const LOCAL_OUTPUTS: Readonly<Record<string, z.ZodType>> = {
  "mcp/list": mcp,
  "mcp/get": mcp,
  "mcp/add": mcp.extend({ effect: z.enum(["created", "noop"]) }),
  "mcp/remove": mcp.extend({ effect: z.enum(["deleted", "noop"]) }),
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
