/** The site has the pages of the index in its sidebar, and no link to what it does not have; its build fails for a dead one. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { leavesDocs, sidebarOf } from "../../site/sidebar.ts";
import { root } from "./pages.ts";

const index = readFileSync(join(root, "docs/README.md"), "utf8");

it("every section of the index is a group, and every link of it a page", () => {
  const groups = sidebarOf(index);
  expect(groups.map(({ text }) => text)).toEqual(["Learn", "Do", "Look up", "Understand"]);
  const links = groups.flatMap(({ items }) => items.map(({ link }) => link));
  expect(links).toHaveLength([...index.matchAll(/\]\([^)]+\.md\)/g)].length);
  expect(links.filter((link) => !existsSync(join(root, `docs${link.replace(/\/$/, "/README")}.md`)))).toEqual(
    [],
  );
});

it.each([
  ["README.md", "install.md", false],
  ["how-to/ci.md", "../reference/errors.md#a", false],
  ["how-to/ci.md", "../../action.yml", true],
  ["architecture.md", "../CONTRIBUTING.md", true],
  ["architecture.md", "#words", false],
  ["install.md", "https://example.org/a", false],
])("a link in %s to %s leaves the pages: %j", (page, target, leaves) => {
  expect(leavesDocs(page, target)).toBe(leaves);
});
