/** Every `ts` fence of the README and of docs/ compiles against the built package, with the line numbers of its page. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { pages, root } from "./pages.ts";

/** Inside the package, so that its own name resolves. */
const folder = join(root, ".cache", "snippets");

/** The page with all lines but those of one fence emptied. */
const snippetsOf = (page: string): string[] => {
  const lines = readFileSync(join(root, page), "utf8").split("\n");
  const snippets: string[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    if (lines[at]?.trim() !== "```ts") continue;
    const end = lines.findIndex((line, index) => index > at && line.trim() === "```");
    snippets.push(
      [...lines.slice(0, at + 1).fill(""), ...lines.slice(at + 1, end), "export {};", ""].join("\n"),
    );
    at = end;
  }
  return snippets;
};

test("the snippets of all pages compile", () => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = pages.flatMap((page) =>
    snippetsOf(page).map((text, index) => {
      const file = join(folder, `${page.replaceAll(/[^\w.-]/g, "-")}.${index + 1}.ts`);
      writeFileSync(file, text);
      return file;
    }),
  );
  expect(files.map((file) => file.slice(folder.length + 1))).toEqual(
    expect.arrayContaining(["README.md.1.ts", "docs-reference-library.md.1.ts"]),
  );
  const project = join(folder, "tsconfig.json");
  const compilerOptions = { noUnusedLocals: false };
  writeFileSync(
    project,
    JSON.stringify({ extends: join(root, "tsconfig.json"), compilerOptions, include: [], files }),
  );
  const { stdout } = spawnSync(join(root, "node_modules/.bin/tsc"), ["-p", project], {
    encoding: "utf8",
    cwd: folder,
  });
  expect(stdout).toBe("");
});
