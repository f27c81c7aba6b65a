/** The sidebar of the site: the sections and links of the index, docs/README.md. */

const HEADING = /^## (.+)$/;
const LINK = /\[([^\]]+)\]\(([^)\s#]+\.md)\)/g;

interface Group {
  readonly text: string;
  readonly items: { readonly text: string; readonly link: string }[];
}

const routeOf = (target: string): string => `/${target.replace(/README\.md$/, "").replace(/\.md$/, "")}`;

/** One group a section. */
export const sidebarOf = (index: string): readonly Group[] => {
  const groups: Group[] = [];
  for (const line of index.split("\n")) {
    const [, heading] = HEADING.exec(line) ?? [];
    if (heading !== undefined) groups.push({ text: heading, items: [] });
    for (const [, text = "", target = ""] of line.matchAll(LINK))
      groups.at(-1)?.items.push({ text, link: routeOf(target) });
  }
  return groups;
};

/** Whether a link of a page leaves docs/, to a source, a test or an example. `page` is relative to docs/. */
export const leavesDocs = (page: string, target: string): boolean =>
  !/^([a-z]+:|#|\/)/.test(target) &&
  !new URL(target, new URL(page, "file:///a/b/docs/")).pathname.startsWith("/a/b/docs/");
