/** Tells by a page, and by the parameters of its operation, how the pages follow one another. */
import { fieldOf, linkTo } from "./links.ts";

/** A page, as far as it is looked at here. */
interface DetectablePage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly parameters: readonly string[];
}

type DetectedStrategy =
  | { readonly strategy: "link"; readonly next_field?: string }
  | { readonly strategy: "cursor"; readonly cursor_field: string; readonly cursor_param: string }
  | { readonly strategy: "page"; readonly page_param: string; readonly start: number }
  | { readonly strategy: "offset"; readonly offset_param: string };

const LINKS = [
  "next",
  "links.next",
  "links.next.href",
  "_links.next",
  "_links.next.href",
  "paging.next",
  "pagination.next",
  "nextLink",
  "next_url",
  "@odata.nextLink",
];
const CURSORS = [
  "next_cursor",
  "nextCursor",
  "next_page_token",
  "nextPageToken",
  "next_token",
  "nextToken",
  "cursor",
  "meta.next_cursor",
  "meta.cursor",
  "pagination.next_cursor",
  "pagination.cursor",
  "paging.cursors.after",
  "response_metadata.next_cursor",
];
const CURSOR_PARAMETERS = [
  "cursor",
  "page_token",
  "pageToken",
  "next_token",
  "nextToken",
  "after",
  "starting_after",
];
const PAGE_PARAMETERS = ["page", "page_number", "pageNumber", "p"];
const OFFSET_PARAMETERS = ["offset", "skip", "start"];

const isLink = (value: unknown): boolean => typeof value === "string" && /^(?:https?:\/\/|\/|\?)/.test(value);
const hasField = (body: unknown, path: string): boolean => fieldOf(body, path) !== undefined;

/** Undefined if nothing tells. The header Link comes before fields of the body, and these before parameters. */
export const detected = ({ headers, body, parameters }: DetectablePage): DetectedStrategy | undefined => {
  if (
    ["next", "prev", "last", "first"].some((relation) => linkTo(headers.link ?? "", relation) !== undefined)
  )
    return { strategy: "link" };
  // The last page of a list has the field too, with nothing in it.
  const next_field = LINKS.find((path) => isLink(fieldOf(body, path)) || fieldOf(body, path) === null);
  if (next_field !== undefined) return { strategy: "link", next_field };
  const cursor_param = CURSOR_PARAMETERS.find((name) => parameters.includes(name));
  const cursor_field = CURSORS.find((path) => hasField(body, path));
  if (cursor_param !== undefined && cursor_field !== undefined)
    return { strategy: "cursor", cursor_field, cursor_param };
  const page_param = PAGE_PARAMETERS.find((name) => parameters.includes(name));
  if (page_param !== undefined) return { strategy: "page", page_param, start: 1 };
  const offset_param = OFFSET_PARAMETERS.find((name) => parameters.includes(name));
  return offset_param === undefined ? undefined : { strategy: "offset", offset_param };
};
