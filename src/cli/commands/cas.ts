/** agent cas …: artifacts. Works on their files directly, with or without a daemon (decision 0026). */
import {
  chmodSync,
  closeSync,
  constants,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { resolve } from "node:path";
import { formatSize } from "../../base/durations.ts";
import {
  CAS_KEPT_MS,
  CAS_OBJECT_MAX_BYTES,
  INLINE_MAX_BYTES,
  RAW_ENVELOPE_MAX_BYTES,
} from "../../base/limits.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import { isDigest } from "../../protocol/forms.ts";
import { success } from "../../protocol/outcome.ts";
import { redactText } from "../../protocol/redact.ts";
import { summaryOfBytes } from "../../protocol/summary.ts";
import type { CommandHandler, Context } from "../context.ts";
import { type Call, invalid } from "../parse.ts";
import { neutralise } from "../render/terminal.ts";
import { readBounded, whyUnreadable } from "./read-file.ts";
import { readStdinBytes } from "./spawn.ts";

const files = () => import("../../daemon/artifacts.ts");

/** Also accepts bare hex digits, as `sha256sum` prints them. */
const digestOf = (text: string): string => (/^[0-9a-f]{64}$/.test(text) ? `sha256:${text}` : text);

export const digestProblems = ({ args: [text] }: Call): readonly string[] =>
  text === undefined || isDigest(digestOf(text))
    ? []
    : [`DIGEST is sha256: and 64 digits from 0 to f, not "${text}"`];

const readInput = async (context: Context, from: string): Promise<Uint8Array> => {
  if (from === "-") return readStdinBytes(context, CAS_OBJECT_MAX_BYTES);
  const path = resolve(context.cwd, from);
  try {
    const bytes = await readBounded(path, CAS_OBJECT_MAX_BYTES);
    if (bytes !== undefined) return bytes;
  } catch (cause) {
    throw invalid([`FILE ${from} ${whyUnreadable(cause)}`], "cas put");
  }
  throw invalid([`FILE ${from} is over ${formatSize(CAS_OBJECT_MAX_BYTES)}, and so no artifact`], "cas put");
};

/** Artifacts hold no secrets. Bytes that are not text are searched as well. */
const withoutSecrets = (bytes: Uint8Array, mayMask: boolean): Uint8Array => {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const masked = redactText(text);
  if (masked === text) return bytes;
  if (mayMask) return Buffer.from(masked, "latin1");
  throw new HoldfastError("POLICY_VIOLATION", "It holds what looks like a secret, and an artifact may not.", {
    phase: "validation",
    suggestion: "Take the secret out, or put it with --mask, which writes *** in its place.",
  });
};

export const put: CommandHandler = async (context) => {
  const bytes = withoutSecrets(await readInput(context, context.call.args[0]!), context.flags.mask === true);
  return success(await (await files()).artifactsToPut(context.stateDir, context.env).put(bytes));
};

const WHY_UNWRITABLE: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ["INVALID_REQUEST", "is in a directory that does not exist"],
  ENOTDIR: ["INVALID_REQUEST", "is in something that is no directory"],
  EISDIR: ["INVALID_REQUEST", "is a directory"],
  EACCES: ["PERMISSION_DENIED", "may not be written"],
  EROFS: ["PERMISSION_DENIED", "is on a disk that is read-only"],
  ENXIO: ["INVALID_REQUEST", "is a pipe without a reader, or a socket"],
  ENOSPC: ["DISK_FULL", "does not fit on its disk"],
};

/** Replaces the file whole or not at all: the old content stays until all of the new is written. A device or a pipe is written to directly. */
const writeWhole = (path: string, bytes: Uint8Array): void => {
  const old = statSync(path, { throwIfNoEntry: false });
  if (old !== undefined && !old.isFile()) {
    // Opening a FIFO without a reader would block; this fails with ENXIO instead.
    const reader = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
    try {
      writeFileSync(path, bytes);
    } finally {
      closeSync(reader);
    }
    return;
  }
  const place = old === undefined ? path : realpathSync(path);
  const temporary = `${place}.${process.pid}.new`;
  try {
    writeFileSync(temporary, bytes, { mode: old === undefined ? 0o666 : 0o600 });
    if (old !== undefined) chmodSync(temporary, old.mode);
    renameSync(temporary, place);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw cause;
  }
};

const write = (context: Context, to: string, bytes: Uint8Array): void => {
  try {
    writeWhole(resolve(context.cwd, to), bytes);
  } catch (cause) {
    const { code = "", message } = cause as NodeJS.ErrnoException;
    const [error, why] = WHY_UNWRITABLE[code] ?? ["PERMISSION_DENIED", `cannot be written: ${message}`];
    throw new HoldfastError(error, `${to} ${why}.`, { suggestion: "Give another file with --out." });
  }
};

export const get: CommandHandler = async (context) => {
  const { call, flags, mode, stateDir, env } = context;
  const digest = digestOf(call.args[0]!);
  const bytes = await (await files()).artifactsIn(stateDir, env).get(digest);
  const size_bytes = bytes.byteLength;
  if (typeof flags.out === "string") {
    write(context, flags.out, bytes);
    return success({ digest, size_bytes, out: flags.out });
  }
  if (mode === "text") {
    const isForPerson = context.isStdoutTerminal;
    await context.stdout(isForPerson ? neutralise(Buffer.from(bytes).toString("utf8")) : bytes);
    return success({ digest, size_bytes });
  }
  // The content is an artifact already, so the answer refers to it.
  if (mode === "ndjson" && size_bytes > INLINE_MAX_BYTES / 2)
    return success({ digest, size_bytes, summary: summaryOfBytes(bytes), artifact: digest });
  if (size_bytes > RAW_ENVELOPE_MAX_BYTES)
    throw invalid(
      [`the artifact has ${formatSize(size_bytes)}, too much for an envelope: use --out F, or -o text`],
      "cas get",
    );
  return success({ digest, size_bytes, base64: Buffer.from(bytes).toString("base64") });
};

export const pin: CommandHandler = async ({ call, stateDir, env }) => {
  const digest = digestOf(call.args[0]!);
  return success({ digest, effect: await (await files()).artifactsIn(stateDir, env).pin(digest) });
};

export const unpin: CommandHandler = async ({ call, stateDir, env }) => {
  const digest = digestOf(call.args[0]!);
  return success({ digest, effect: await (await files()).artifactsIn(stateDir, env).unpin(digest) });
};

export const list: CommandHandler = async (context) => {
  const artifacts = await (await files()).artifactsIn(context.stateDir, context.env).list();
  if (artifacts.length === 0) context.hint("No artifacts yet. Put one with: agent cas put FILE");
  return success({ artifacts: [...artifacts].sort((a, b) => b.put_at.localeCompare(a.put_at)) });
};

export const gc: CommandHandler = async (context) => {
  const done = context.progress("looking for unused artifacts");
  const dry_run = context.flags["dry-run"] === true;
  const older_than_ms = (context.flags["older-than"] as number | undefined) ?? CAS_KEPT_MS;
  const report = await (await files()).collectIn(context.stateDir, { older_than_ms, dry_run }).finally(done);
  const effect = report.objects === 0 ? "noop" : dry_run ? "would_delete" : "deleted";
  return success({ ...report, effect });
};
