/** fs/read: reads a file of the workspace, piece by piece. A piece of text ends between two characters. */
import { closeSync, fstatSync, readSync } from "node:fs";
import * as z from "zod";
import { READ_BYTES_DEFAULT, READ_BYTES_MAX, SKILL_PATH_MAX_BYTES } from "../../base/limits.ts";
import { sha256Digest } from "../../protocol/canonical-json.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { redactText } from "../../protocol/redact.ts";
import { WorkspaceFiles } from "../paths.ts";
import type { BuiltinSkill, SkillContext } from "../skill.ts";
import { breathe, maskedBase64, modeText, timeText } from "./file-facts.ts";

const input = z.strictObject({
  path: z.string().min(1).max(SKILL_PATH_MAX_BYTES).describe("file of the workspace"),
  offset: z.int().min(0).default(0).describe("first byte to read"),
  bytes: z.int().min(1).max(READ_BYTES_MAX).default(READ_BYTES_DEFAULT).describe("bytes to read at most"),
  encoding: z
    .enum(["auto", "utf8", "base64"])
    .default("auto")
    .describe("form of the content; auto is utf8 for text, and base64 for anything else"),
});
type ReadInput = z.output<typeof input>;

const output = z.object({
  /** Canonical and absolute. */
  path: z.string(),
  /** The size of the whole file. */
  size_bytes: z.int(),
  mode: z.string(),
  mod_time: z.string(),
  offset: z.int(),
  /** Bytes of the file that `content` stands for. */
  bytes: z.int(),
  encoding: z.enum(["utf8", "base64"]),
  /** The bytes are no text: they have a NUL, or they are not UTF-8. */
  binary: z.boolean(),
  content: z.string(),
  truncated: z.boolean(),
  /** With `truncated`: the offset of the next piece. */
  next_offset: z.int().optional(),
  /** The digest of the whole file; only if `content` is all of it. */
  sha256: z.string().optional(),
});
type ReadOutput = z.output<typeof output>;

/** At most this many bytes of UTF-8 stand before the end of a character. */
const CHARACTER_REST_MAX = 3;

/** The length without the bytes of a character that the end of the buffer cuts. */
const untilCharacter = (bytes: Buffer): number => {
  for (let rest = 1; rest <= Math.min(CHARACTER_REST_MAX, bytes.length); rest += 1) {
    const byte = bytes[bytes.length - rest] as number;
    if (byte < 0x80) return bytes.length;
    if (byte < 0xc0) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    return length > rest ? bytes.length - rest : bytes.length;
  }
  return bytes.length;
};

const textOf = (bytes: Buffer): string | undefined => {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

const readAt = (fd: number, offset: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let read = 0;
  while (read < length) {
    const count = readSync(fd, bytes, read, length - read, offset + read);
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
};

const notText = (path: string): HoldfastError =>
  new HoldfastError("PARSE_ERROR", `${path} is not UTF-8 here.`, {
    suggestion: "Read it with the encoding base64, or with auto.",
    details: { path },
  });

/** The bytes that are told, their text unless they are binary, and the form in which they are told. */
const contentOf = (read: Buffer, isEnd: boolean, asks: ReadInput, path: string) => {
  // A piece that begins in the middle of a character is told as bytes.
  const whole = isEnd || asks.encoding === "base64" ? read : read.subarray(0, untilCharacter(read));
  const text = textOf(whole);
  // A piece smaller than one character would never end.
  const isText = text !== undefined && (whole.length > 0 || read.length === 0);
  if (asks.encoding === "utf8" && !isText) throw notText(path);
  if (asks.encoding === "base64" || !isText)
    return {
      told: read,
      binary: text === undefined,
      encoding: "base64",
      content: maskedBase64(read, redactText),
    } as const;
  return { told: whole, binary: false, encoding: "utf8", content: text } as const;
};

export const fsRead: BuiltinSkill<ReadInput, ReadOutput> = {
  name: "fs/read",
  summary: "Read a file of the workspace.",
  version: "1.0.0",
  effect: "none",
  input,
  output,
  network: "none",
  run: async (asks, { workspace, signal }: SkillContext) => {
    await breathe(signal);
    const { path, fd } = new WorkspaceFiles(workspace).file(asks.path);
    try {
      const stats = fstatSync(fd);
      const read = readAt(fd, asks.offset, Math.max(0, Math.min(asks.bytes, stats.size - asks.offset)));
      const isEnd = asks.offset + read.length >= stats.size;
      const { told, ...content } = contentOf(read, isEnd, asks, path);
      const next = asks.offset + told.length;
      const isWhole = asks.offset === 0 && next >= stats.size;
      return {
        path,
        size_bytes: stats.size,
        mode: modeText(stats),
        mod_time: timeText(stats),
        offset: asks.offset,
        bytes: told.length,
        ...content,
        truncated: next < stats.size,
        ...(next < stats.size && { next_offset: next }),
        ...(isWhole && { sha256: sha256Digest(told) }),
      };
    } finally {
      closeSync(fd);
    }
  },
};
