/** Every relative link and anchor of the README and of docs/ resolves, and every page is reachable from the index. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { pages, root } from "./pages.ts";

const INDEX = "docs/README.md";

const FENCE = /^(```|~~~).*?^\1/gms;
const withoutCode = (text: string): string => text.replace(FENCE, "").replace(/(`+)[^`].*?\1/g, "");

interface Link {
  readonly target: string;
  readonly file: string;
  readonly anchor: string | undefined;
}

/** Links to other hosts are no matter of this test. */
const linksOf = (page: string): readonly Link[] =>
  [...withoutCode(readFileSync(join(root, page), "utf8")).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = ""]) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [path = "", anchor] = target.split("#");
      return { target, file: path === "" ? page : normalize(join(dirname(page), path)), anchor };
    });

/** GitHub's anchors: the heading's text in lower case, without punctuation, spaces as dashes; a second one of a name ends in -1. */
const anchorsOf = (text: string): ReadonlySet<string> => {
  const seen = new Map<string, number>();
  const anchors = new Set<string>();
  for (const [, heading = ""] of text.replace(FENCE, "").matchAll(/^#{1,6} +(.+)$/gm)) {
    const slug = heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}\p{Pc} -]/gu, "")
      .replaceAll(" ", "-");
    const times = seen.get(slug) ?? 0;
    seen.set(slug, times + 1);
    anchors.add(times === 0 ? slug : `${slug}-${times}`);
  }
  return anchors;
};

const resolves = ({ file, anchor }: Link): boolean =>
  existsSync(join(root, file)) &&
  (anchor === undefined || anchorsOf(readFileSync(join(root, file), "utf8")).has(anchor));

describe("links", () => {
  it.each(pages)("of %s resolve", (page) => {
    expect(
      linksOf(page)
        .filter((link) => !resolves(link))
        .map(({ target }) => target),
    ).toEqual([]);
  });

  it("reach every page of docs/ from its index", () => {
    const reached = new Set<string>();
    const visit = (page: string): void => {
      if (reached.has(page) || !page.endsWith(".md") || !existsSync(join(root, page))) return;
      reached.add(page);
      for (const { file } of linksOf(page)) visit(file);
    };
    visit(INDEX);
    expect(pages.filter((page) => page.startsWith("docs/") && !reached.has(page))).toEqual([]);
  });

  it("of the index name every page but the decisions", () => {
    const named = new Set(linksOf(INDEX).map(({ file }) => file));
    const others = pages.filter((page) => /^docs\/(?!decisions\/\d)/.test(page) && page !== INDEX);
    expect(others.filter((page) => !named.has(page))).toEqual([]);
  });

  it("of the index of decisions name every decision", () => {
    const named = new Set(linksOf("docs/decisions/README.md").map(({ file }) => file));
    const decisions = pages.filter((page) => /^docs\/decisions\/\d/.test(page));
    expect(decisions.filter((page) => !named.has(page))).toEqual([]);
  });
});

it("anchors are those that GitHub makes of headings", () => {
  const text =
    "# A page\n\n## `agent up` and [a link](x.md), twice\n\n```\n# no heading\n```\n\n### A page\n";
  expect([...anchorsOf(text)]).toEqual(["a-page", "agent-up-and-a-link-twice", "a-page-1"]);
});
