/** Pages of lists: the request for one, and the command for the next. */
import { commandLine } from "../../base/shell.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandResult, Context } from "../context.ts";

interface PageFlags {
  readonly all?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
}

/** `--limit` and `--cursor` as a request has them. */
export const pageAsked = ({ flags }: Context): { readonly limit?: number; readonly cursor?: string } => {
  const { limit, cursor } = flags as PageFlags;
  return { ...(limit === undefined ? {} : { limit }), ...(cursor === undefined ? {} : { cursor }) };
};

/**
 * The page as an outcome. If another page follows, a warning says so (`there`, such as "There are more") with the command
 * for it: these words and the given flags.
 */
export const pageShown = <Page extends { readonly cursor?: string }>(
  context: Context,
  page: Page,
  { words, there }: { readonly words: readonly string[]; readonly there: string },
): CommandResult => {
  if (page.cursor === undefined) return success(page);
  const { all, limit } = context.flags as PageFlags;
  const flags = [...(all ? ["--all"] : []), ...(limit === undefined ? [] : ["--limit", String(limit)])];
  context.warn(`${there}: ${commandLine([...words, ...flags, "--cursor", page.cursor])}`);
  return { ...success(page), meta: { truncated: true, cursor: page.cursor } };
};
