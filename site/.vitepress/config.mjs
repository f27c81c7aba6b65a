/** The site of the documentation: the pages of docs/ as they are, with search. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitepress";
import { leavesDocs, sidebarOf } from "../sidebar.ts";

const inRepository = (path) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Links to sources, tests and examples become plain words: the site has only pages. */
const withoutForeignLinks = (markdown) => {
  markdown.core.ruler.push("foreign-links", ({ tokens, env }) => {
    for (const { children } of tokens) {
      let isForeign = false;
      for (const token of children ?? []) {
        if (token.type === "link_open") isForeign = leavesDocs(env.relativePath, token.attrGet("href") ?? "");
        if (!isForeign) continue;
        if (token.type === "link_close") isForeign = false;
        if (token.type === "link_open" || token.type === "link_close")
          Object.assign(token, { type: "text", tag: "", content: "", nesting: 0 });
      }
    }
  });
};

export default defineConfig({
  title: "Holdfast",
  description: "A supervision runtime for agent CLIs",
  // A copy of docs/ (package.json): pages outside of this folder would not find its packages.
  srcDir: "pages",
  outDir: "../.cache/site",
  cacheDir: "../.cache/vitepress",
  cleanUrls: true,
  rewrites: { "README.md": "index.md", "decisions/README.md": "decisions/index.md" },
  markdown: { config: withoutForeignLinks },
  themeConfig: {
    search: { provider: "local" },
    sidebar: sidebarOf(readFileSync(inRepository("docs/README.md"), "utf8")),
    outline: "deep",
  },
});
