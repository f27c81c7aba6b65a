import { symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Digest } from "../../../src/protocol/canonical-json.ts";
import { fsRead } from "../../../src/skills/builtin/fs-read.ts";
import { freshContext, running } from "./context.ts";

const read = running(fsRead);

const withFile = (content: string | Uint8Array) => {
  const context = freshContext();
  writeFileSync(join(context.workspace, "file"), content);
  return context;
};

describe("fs/read", () => {
  it("reads a small file whole, and tells its digest", async () => {
    const context = withFile("Grüße\n");
    expect(await read({ path: "file" }, context)).toMatchObject({
      path: join(context.workspace, "file"),
      size_bytes: 8,
      offset: 0,
      bytes: 8,
      encoding: "utf8",
      binary: false,
      content: "Grüße\n",
      truncated: false,
      sha256: sha256Digest("Grüße\n"),
    });
  });

  it("joins text pieces of any size to the whole, and cuts no character", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.integer({ min: 4, max: 20 }),
        async (any, bytes) => {
          const text = any.replaceAll("\0", "");
          const context = withFile(text);
          let whole = "";
          for (let offset: number | undefined = 0; offset !== undefined; ) {
            const piece = await read({ path: "file", offset, bytes, encoding: "utf8" }, context);
            expect(piece.bytes).toBeLessThanOrEqual(bytes);
            whole += piece.content;
            offset = piece.next_offset;
          }
          expect(whole).toBe(text.toWellFormed());
        },
      ),
      { numRuns: 100 },
    );
  });

  it("tells anything else as base64, and joins it too", async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const context = withFile(bytes);
    expect(await read({ path: "file" }, context)).toMatchObject({
      encoding: "base64",
      binary: true,
      content: Buffer.from(bytes).toString("base64"),
    });
    const parts = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const piece = await read({ path: "file", offset, bytes: 7 }, context);
      parts.push(Buffer.from(piece.content, piece.encoding));
      offset = piece.next_offset;
    }
    expect(Buffer.concat(parts)).toEqual(Buffer.from(bytes));
    await expect(read({ path: "file", encoding: "utf8" }, context)).rejects.toMatchObject({
      code: "PARSE_ERROR",
    });
  });

  it("ends with pieces that are smaller than a character", async () => {
    const context = withFile("€€");
    const parts = [];
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const piece = await read({ path: "file", offset, bytes: 1 }, context);
      parts.push(Buffer.from(piece.content, piece.encoding));
      offset = piece.next_offset;
    }
    expect(Buffer.concat(parts).toString()).toBe("€€");
  });

  it("masks secrets in base64 too, where nobody would find them later", async () => {
    const context = withFile(Buffer.from("\0ü API_KEY=abcd1234efgh5678\n"));
    const { content } = await read({ path: "file" }, context);
    expect(Buffer.from(content, "base64").toString()).toBe("\0ü API_KEY=***\n");
  });

  it("reads nothing after the end", async () => {
    const context = withFile("12");
    expect(await read({ path: "file", offset: 10 }, context)).toMatchObject({
      content: "",
      bytes: 0,
      truncated: false,
    });
    expect(await read({ path: "file" }, withFile(""))).toMatchObject({
      content: "",
      encoding: "utf8",
      truncated: false,
    });
  });

  it("reads no file outside, no directory, and no file that is not there", async () => {
    const context = freshContext();
    writeFileSync(join(context.outside, "secret"), "secret");
    symlinkSync(join(context.outside, "secret"), join(context.workspace, "link"));
    for (const [path, rule] of [
      ["link", "link_outside"],
      ["../outside/secret", "parent_segment"],
      [join(context.outside, "secret"), "outside_workspace"],
      [".", "irregular_file"],
    ])
      await expect(read({ path }, context)).rejects.toMatchObject({
        code: "POLICY_VIOLATION",
        row: { v1: "EPOLICY" },
        info: { details: { rule } },
      });
    await expect(read({ path: "nowhere" }, context)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
  });
});
