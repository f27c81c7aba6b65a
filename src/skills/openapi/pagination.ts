/**
 * How the pages of an answer follow one another (plugin/pagination). Pure: a page comes in, its items and the URL of the next
 * page go out. A page
 * that does not tell enough fails with PAGINATION_FAILED, so that no page is left out silently.
 */
import * as z from "zod";
import { asObject, asString } from "../../base/json.ts";
import { PAGE_FIELD_MAX_UNITS, PAGE_ITEMS_MAX, PAGES_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { detected } from "./detecting.ts";
import { fieldOf, linkTo } from "./links.ts";

const parameter = z.string().min(1).max(PAGE_FIELD_MAX_UNITS);
const field = parameter.describe("path of a field in the answer, such as meta.next");
const common = {
  items_field: field
    .optional()
    .describe("field that holds the items; found by itself where there is one list"),
  max_pages: z.int().min(1).max(PAGES_MAX).optional().describe("stop after this many pages"),
  max_items: z.int().min(1).max(PAGE_ITEMS_MAX).optional().describe("stop after this many items"),
};

export const paginationSchema = z.discriminatedUnion("strategy", [
  z.strictObject({ strategy: z.literal("none") }),
  z.strictObject({ strategy: z.literal("auto"), ...common }),
  z.strictObject({
    strategy: z.literal("cursor"),
    cursor_field: field,
    cursor_param: parameter.describe("query parameter that takes the cursor"),
    ...common,
  }),
  z.strictObject({
    strategy: z.literal("page"),
    page_param: parameter.describe("query parameter that takes the number of the page"),
    start: z.int().min(0).default(1).describe("number of the first page"),
    total_pages_field: field.optional().describe("field that holds the number of pages"),
    ...common,
  }),
  z.strictObject({
    strategy: z.literal("offset"),
    offset_param: parameter.describe("query parameter that takes the number of items before"),
    total_field: field.optional().describe("field that holds the number of items"),
    ...common,
  }),
  z.strictObject({
    strategy: z.literal("link"),
    next_field: field
      .optional()
      .describe("field that holds the URL of the next page; without it, the header Link"),
    ...common,
  }),
]);
export type PaginationPlugin = z.output<typeof paginationSchema>;
export type PagingStrategy = Exclude<PaginationPlugin, { strategy: "none" | "auto" }>;

export interface PageOfAnswer {
  /** The URL that was asked, without credentials. */
  readonly url: string;
  /** Names in small letters. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** Query parameters of the operation; for detection. */
  readonly parameters: readonly string[];
  /** Items of all pages before. */
  readonly items_before: number;
}

export interface PageStep {
  readonly strategy: PagingStrategy;
  readonly items: readonly unknown[];
  /** The URL of the next page; undefined after the last page. */
  readonly next?: string;
  readonly total_items?: number;
  readonly total_pages?: number;
}

/** The sentence ends without a full stop. */
export const pagingFailed = (sentence: string, details: Readonly<Record<string, unknown>>): HoldfastError =>
  new HoldfastError("PAGINATION_FAILED", `The pages cannot be followed: ${sentence}.`, { details });

/** The items of a page, and the way to the next one. Fails with PAGINATION_FAILED. */
export const stepOf = (
  plugin: Exclude<PaginationPlugin, { strategy: "none" }>,
  page: PageOfAnswer,
): PageStep => {
  const strategy = plugin.strategy === "auto" ? found(plugin, page) : plugin;
  if (strategy === undefined)
    throw new HoldfastError(
      "PAGINATION_FAILED",
      "Nothing in the answer tells how its pages follow one another.",
      {
        suggestion: "Give pagination with a strategy and its fields, or leave it out to take one page.",
        details: { strategy: "auto", parameters: page.parameters },
      },
    );
  const items = itemsOf(strategy, page.body);
  const total_items = totalOf(strategy, page);
  const total_pages =
    strategy.strategy === "page" ? numberAt(page.body, strategy.total_pages_field) : undefined;
  const next = nextOf(strategy, page, items.length, total_items, total_pages);
  return {
    strategy,
    items,
    ...(next !== undefined && { next }),
    ...(total_items !== undefined && { total_items }),
    ...(total_pages !== undefined && { total_pages }),
  };
};

const found = (
  { strategy: _, ...common }: Extract<PaginationPlugin, { strategy: "auto" }>,
  page: PageOfAnswer,
): PagingStrategy | undefined => {
  const strategy = detected(page);
  return strategy === undefined ? undefined : { ...common, ...strategy };
};

const itemsOf = ({ strategy, items_field }: PagingStrategy, body: unknown): readonly unknown[] => {
  if (items_field !== undefined) {
    const items = fieldOf(body, items_field);
    if (Array.isArray(items)) return items;
    throw pagingFailed(`the answer has no list at ${items_field}`, { strategy, missing_field: items_field });
  }
  if (Array.isArray(body)) return body;
  const lists = Object.values(asObject(body) ?? {}).filter((member) => Array.isArray(member));
  const [items] = lists;
  if (items !== undefined && lists.length === 1) return items;
  throw pagingFailed(`the answer has ${lists.length} lists; name the one with the items by items_field`, {
    strategy,
    missing_field: "items_field",
  });
};

const TOTALS = [
  "total",
  "total_count",
  "totalCount",
  "total_items",
  "count",
  "meta.total",
  "pagination.total",
];

const numberAt = (body: unknown, path: string | undefined): number | undefined => {
  if (path === undefined) return undefined;
  const value = fieldOf(body, path);
  if (Number.isSafeInteger(value)) return value as number;
  throw pagingFailed(`the answer has no number at ${path}`, { missing_field: path });
};

const totalOf = (strategy: PagingStrategy, { body, headers }: PageOfAnswer): number | undefined => {
  if (strategy.strategy === "offset" && strategy.total_field !== undefined)
    return numberAt(body, strategy.total_field);
  const told = [...TOTALS.map((path) => fieldOf(body, path)), Number(headers["x-total-count"] ?? Number.NaN)];
  return told.find((value): value is number => Number.isSafeInteger(value) && (value as number) >= 0);
};

const withParameter = (url: string, name: string, value: string): string => {
  const next = new URL(url);
  next.searchParams.set(name, value);
  return next.href;
};

const nextOf = (
  plugin: PagingStrategy,
  page: PageOfAnswer,
  count: number,
  total: number | undefined,
  pages: number | undefined,
): string | undefined => {
  const { url, headers, body, items_before } = page;
  switch (plugin.strategy) {
    case "link": {
      const target =
        plugin.next_field === undefined
          ? linkTo(headers.link ?? "", "next")
          : tokenAt(body, plugin.next_field, plugin.strategy);
      return target === undefined ? undefined : absolute(target, url);
    }
    case "cursor": {
      const cursor = tokenAt(body, plugin.cursor_field, plugin.strategy);
      return cursor === undefined ? undefined : withParameter(url, plugin.cursor_param, cursor);
    }
    case "page": {
      const number = numberIn(url, plugin.page_param) ?? plugin.start;
      const isLast = count === 0 || (pages !== undefined && number - plugin.start + 1 >= pages);
      const hasAll = total !== undefined && items_before + count >= total;
      return isLast || hasAll ? undefined : withParameter(url, plugin.page_param, String(number + 1));
    }
    case "offset": {
      const offset = numberIn(url, plugin.offset_param) ?? 0;
      const isLast = count === 0 || (total !== undefined && offset + count >= total);
      return isLast ? undefined : withParameter(url, plugin.offset_param, String(offset + count));
    }
  }
};

const numberIn = (url: string, name: string): number | undefined => {
  const text = new URL(url).searchParams.get(name);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
};

/** The cursor or URL in a field. The last page has it empty, or leaves out the field alone, and never the object around it. */
const tokenAt = (body: unknown, path: string, strategy: string): string | undefined => {
  const value = fieldOf(body, path);
  if (typeof value === "number") return String(value);
  if (asString(value) !== undefined) return value === "" ? undefined : (value as string);
  const around = path.split(".").slice(0, -1).join(".");
  const holder = around === "" ? body : fieldOf(body, around);
  const isMissing = value === undefined && asObject(holder) === undefined && holder !== null;
  if (!isMissing && (value === undefined || value === null || value === false)) return undefined;
  throw pagingFailed(`the answer has no text at ${path}`, { strategy, missing_field: path });
};

const absolute = (target: string, url: string): string => {
  try {
    return new URL(target, url).href;
  } catch {
    throw pagingFailed("the link to the next page is no URL", { strategy: "link" });
  }
};
