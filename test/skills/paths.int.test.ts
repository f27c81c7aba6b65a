import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { WorkspaceFiles } from "../../src/skills/paths.ts";
import { freshContext } from "./builtin/context.ts";

/** A workspace with a file, a directory, links, and a secret beside it. */
const scene = () => {
  const { workspace, outside } = freshContext();
  writeFileSync(join(outside, "secret"), "secret");
  mkdirSync(join(workspace, "dir"));
  writeFileSync(join(workspace, "file"), "open");
  writeFileSync(join(workspace, "dir", "file"), "open");
  return { workspace, outside, files: new WorkspaceFiles(workspace) };
};

const refusal = (call: () => unknown): unknown => {
  try {
    call();
  } catch (cause) {
    if (cause instanceof HoldfastError) return cause.info.details?.rule ?? cause.code;
    throw cause;
  }
  return "allowed";
};

describe("a path of a workspace", () => {
  it("is given relative to it or absolute, and answered canonical", () => {
    const { workspace, files } = scene();
    symlinkSync("dir", join(workspace, "inside"));
    symlinkSync(join(workspace, "dir"), join(workspace, "absolute"));
    const canonical = join(workspace, "dir", "file");
    for (const path of ["dir/file", "./dir//file", canonical, "inside/file", "absolute/file"])
      expect(files.resolve(path)).toBe(canonical);
    expect(files.resolve(".")).toBe(workspace);
  });

  it("may be given by another name of the workspace", () => {
    const { workspace, outside } = scene();
    const alias = join(outside, "alias");
    symlinkSync(workspace, alias);
    symlinkSync(join(alias, "file"), join(workspace, "by-alias"));
    const files = new WorkspaceFiles(alias);
    expect(files.resolve(join(alias, "file"))).toBe(join(workspace, "file"));
    expect(files.resolve("by-alias")).toBe(join(workspace, "file"));
  });

  it.each([
    ["a NUL", "nul", () => "file\0.txt"],
    ["a `..`, even one that stays inside", "parent_segment", () => "dir/../file"],
    ["a `..` that leads out", "parent_segment", () => "../outside/secret"],
    ["an absolute path outside", "outside_workspace", () => "/etc/passwd"],
    ["a sibling whose name begins alike", "outside_workspace", (workspace: string) => `${workspace}2/file`],
    ["an absolute path with `..`", "parent_segment", (workspace: string) => `${workspace}/../outside/secret`],
    ["a path that is too long", "path_length", () => "a/".repeat(3_000)],
  ] as const)("is refused with %s", (_what, rule, path) => {
    const { workspace, files } = scene();
    expect(refusal(() => files.resolve(path(workspace)))).toBe(rule);
    expect(refusal(() => files.file(path(workspace)))).toBe(rule);
  });

  it.each([
    ["to a file", "../outside/secret", "link"],
    ["to a directory above", "../outside", "link/secret"],
    ["by an absolute path", "/etc/passwd", "link"],
    ["to what does not exist, so that nobody learns what exists", "/no/such/file", "link"],
    ["out and in again", "../workspace/file", "link"],
    ["to the processes", "/proc/self/environ", "link"],
  ])("is refused with a link %s", (_what, target, path) => {
    const { workspace, files } = scene();
    symlinkSync(target, join(workspace, "link"));
    expect(refusal(() => files.file(path))).toBe("link_outside");
  });

  it("is refused with a link to itself, and with a FIFO, at once", () => {
    const { workspace, files } = scene();
    symlinkSync("loop", join(workspace, "loop"));
    execFileSync("mkfifo", [join(workspace, "fifo")]);
    expect(refusal(() => files.file("loop"))).toBe("too_many_links");
    expect(refusal(() => files.file("fifo"))).toBe("irregular_file");
    expect(refusal(() => files.file("dir"))).toBe("irregular_file");
    expect(refusal(() => files.directory("file"))).toBe("INVALID_REQUEST");
    expect(refusal(() => files.file("file/below"))).toBe("FILE_NOT_FOUND");
  });
});

it("the opened file lies in the workspace, whatever the links and the asked path", () => {
  const names = ["a", "b", "c"];
  const target = fc
    .array(fc.constantFrom(...names, "..", ".", "outside", "secret", ""), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join("/"));
  const asked = fc
    .array(fc.constantFrom(...names, ".", "", "secret"), { minLength: 1, maxLength: 5 })
    .map((parts) => parts.join("/").replace(/^\/+/, ""));
  const place = fc.constantFrom(...names, "a/a", "a/b", "b/c");
  fc.assert(
    fc.property(
      fc.array(fc.tuple(place, target), { maxLength: 6 }),
      asked,
      fc.boolean(),
      (links, path, isAbsolute) => {
        const { workspace, files } = scene();
        for (const [at, text] of links)
          try {
            symlinkSync(text === "" ? "." : text, join(workspace, at));
          } catch {
            // The place is taken, or its directory is missing.
          }
        const given = isAbsolute ? join(workspace, path) : path;
        let system: string | undefined;
        try {
          system = realpathSync(join(workspace, path));
        } catch {
          // It does not exist.
        }
        const isInside = system === workspace || system?.startsWith(`${workspace}/`) === true;
        const rule = refusal(() => {
          // The oracle: what is answered is what the system finds, and it is inside.
          expect(files.resolve(given)).toBe(system);
          expect(isInside).toBe(true);
        });
        if (system !== undefined && !isInside) expect(rule).toBe("link_outside");
      },
    ),
    { numRuns: 300 },
  );
});

it("a link that is swapped in the middle of it opens nothing outside", async () => {
  const { workspace, outside, files } = scene();
  mkdirSync(join(workspace, "real"));
  writeFileSync(join(workspace, "real", "secret"), "open");
  // A directory and a link to the outside take turns under one name, as fast as a thread can.
  const swapper = new Worker(
    `const { renameSync, symlinkSync } = require("node:fs");
     const { parentPort, workerData } = require("node:worker_threads");
     const { workspace, outside } = workerData;
     symlinkSync(outside, workspace + "/link");
     parentPort.postMessage("begun");
     for (;;) {
       renameSync(workspace + "/real", workspace + "/swapped");
       renameSync(workspace + "/link", workspace + "/real");
       renameSync(workspace + "/real", workspace + "/link");
       renameSync(workspace + "/swapped", workspace + "/real");
     }`,
    { eval: true, workerData: { workspace, outside } },
  );
  await new Promise((resolve) => swapper.once("message", resolve));
  let opened = 0;
  try {
    for (let turn = 0; turn < 3_000 || opened === 0; turn += 1) {
      const rule = refusal(() => {
        const { fd } = files.file("real/secret");
        try {
          expect(readFileSync(fd, "utf8")).toBe("open");
          opened += 1;
        } finally {
          closeSync(fd);
        }
      });
      expect([
        "allowed",
        "FILE_NOT_FOUND",
        "link_outside",
        "changed_while_opening",
        "irregular_file",
      ]).toContain(rule);
    }
  } finally {
    await swapper.terminate();
  }
  expect(opened).toBeGreaterThan(0);
});
