import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fsLs } from "../../../src/skills/builtin/fs-ls.ts";
import { freshContext, running } from "./context.ts";

const ls = running(fsLs);

const scene = () => {
  const context = freshContext();
  const { workspace } = context;
  mkdirSync(join(workspace, "src", "deep"), { recursive: true });
  for (const name of ["a.txt", ".hidden", "src/b.ts", "src/deep/c.ts", "z.txt"])
    writeFileSync(join(workspace, name), "12345", { mode: 0o640 });
  symlinkSync("/etc/passwd", join(workspace, "link"));
  return context;
};

describe("fs/ls", () => {
  it("lists one directory, in order, without hidden names", async () => {
    const context = scene();
    const { workspace } = context;
    const listed = await ls({}, context);
    expect(listed).toMatchObject({
      path: workspace,
      entry_count: 4,
      files: 2,
      directories: 1,
      total_size: 10,
      truncated: false,
    });
    expect(listed.entries.map(({ name }) => name)).toEqual(["a.txt", "link", "src", "z.txt"]);
    expect(listed.entries[0]).toMatchObject({
      path: join(workspace, "a.txt"),
      type: "file",
      is_dir: false,
      size_bytes: 5,
      mode: "-rw-r-----",
      mod_time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(listed.entries[1]).toMatchObject({ type: "link", link_target: "/etc/passwd" });
  });

  it("lists hidden names and a tree if asked to", async () => {
    const { entries } = await ls({ depth: 3, hidden: true }, scene());
    expect(entries.map(({ path }) => path.split("/workspace/")[1])).toEqual([
      ".hidden",
      "a.txt",
      "link",
      "src",
      "src/b.ts",
      "src/deep",
      "src/deep/c.ts",
      "z.txt",
    ]);
  });

  it("gives the same entries page by page, whatever the size of a page", async () => {
    const context = scene();
    for (let name = 0; name < 30; name += 1)
      writeFileSync(join(context.workspace, "src", "deep", `f${name}`), "");
    const all = (await ls({ depth: 5, hidden: true }, context)).entries;
    for (const limit of [1, 3, 7]) {
      const paged = [];
      for (let cursor: string | undefined, isWhole = false; !isWhole; ) {
        const page = await ls({ depth: 5, hidden: true, limit, ...(cursor && { cursor }) }, context);
        expect(page.entries.length).toBeLessThanOrEqual(limit);
        paged.push(...page.entries);
        cursor = page.cursor;
        isWhole = !page.truncated;
      }
      expect(paged).toEqual(all);
    }
  });

  it("lists no directory outside, and does not enter a link", async () => {
    const context = scene();
    symlinkSync(context.outside, join(context.workspace, "out"));
    await expect(ls({ path: "out" }, context)).rejects.toMatchObject({
      code: "POLICY_VIOLATION",
      info: { details: { rule: "link_outside" } },
    });
    const { entries } = await ls({ depth: 5 }, context);
    expect(entries.find(({ name }) => name === "out")).toMatchObject({ type: "link" });
  });

  it("says so where there is no such directory, or it is a file", async () => {
    const context = scene();
    await expect(ls({ path: "nowhere" }, context)).rejects.toMatchObject({ code: "FILE_NOT_FOUND" });
    await expect(ls({ path: "a.txt" }, context)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  it("ends once it is cancelled", async () => {
    const context = { ...scene(), signal: AbortSignal.abort() };
    await expect(ls({}, context)).rejects.toMatchObject({ code: "CANCELLED" });
  });
});
