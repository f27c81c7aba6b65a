/** The price lists: the user's own, if there is one, then the shipped one. */
import { isAbsolute } from "node:path";
import * as z from "zod";
import { readNamed } from "../../base/files/regular-file.ts";
import {
  MODEL_PATTERN_MAX_CHARS,
  PRICE_MAX_USD,
  PRICES_FILE_MAX_BYTES,
  PRICES_MAX,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { PriceList } from "./estimate.ts";
import shipped from "./list.json" with { type: "json" };

const usd = z.number("it is a number of dollars per million tokens").min(0).max(PRICE_MAX_USD);
const day = z.iso.date("it is a day such as 2025-08-01");

const PriceListFile = z.strictObject({
  as_of: day,
  prices: z
    .array(
      z.strictObject({
        models: z.array(z.string().min(1).max(MODEL_PATTERN_MAX_CHARS)).min(1).max(PRICES_MAX),
        valid_from: day,
        input: usd,
        cached_input: usd.optional(),
        cache_write: usd.optional(),
        output: usd,
      }),
    )
    .max(PRICES_MAX),
});

const SHIPPED: PriceList = shipped;

const wrong = (path: string, problems: readonly string[]): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `The prices in ${path} cannot be used: ${problems[0]}.`, {
    problems: problems.map((problem) => `HOLDFAST_PRICES, ${path}: ${problem}`),
    phase: "validation",
    suggestion: "Correct the file (docs/explanation/usage.md has an example), or unset HOLDFAST_PRICES.",
  });

const placeOf = (path: readonly PropertyKey[]): string =>
  path.length === 0 ? "the file" : path.map(String).join(".");

/** Parses a price list. Throws INVALID_REQUEST with every mistake. `path` is for the message. */
const parsePrices = (text: string, path: string): PriceList => {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw wrong(path, [`it is not JSON: ${(cause as Error).message}`]);
  }
  const parsed = PriceListFile.safeParse(json);
  if (parsed.success) return parsed.data;
  throw wrong(
    path,
    parsed.error.issues.map((issue) => `${placeOf(issue.path)}: ${issue.message}`),
  );
};

/**
 * Opens the lists, in the order in which they are searched. `path`: the user's file; undefined or empty for none. Throws
 * INVALID_REQUEST.
 */
export const openPrices = (path: string | undefined): readonly PriceList[] => {
  if (path === undefined || path === "") return [SHIPPED];
  if (!isAbsolute(path)) throw wrong(path, ["give the file's absolute path"]);
  let text: string;
  try {
    const bytes = readNamed(path, PRICES_FILE_MAX_BYTES);
    if (bytes === undefined) throw new Error(`it is over ${PRICES_FILE_MAX_BYTES} bytes`);
    text = bytes.toString("utf8");
  } catch (cause) {
    throw wrong(path, [(cause as Error).message]);
  }
  return [parsePrices(text, path), SHIPPED];
};
