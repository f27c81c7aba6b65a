/** Usage as a table with a row of totals. */
import type { SubtreeSum, UsageReply, UsageRow, UsageSum } from "../../runtime/replies.ts";
import { oneLine, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { count, duration, uniqueChars } from "./units.ts";

const KEY_COLUMNS = 40;
const LABEL = "label:";

const HEADS: Readonly<Record<string, string>> = {
  day: "DAY (UTC)",
  kind: "KIND",
  model: "MODEL",
  worker: "WORKER",
};

/** `1,234,567` */
const figure = (value: number): string => String(value).replace(/\B(?=(\d{3})+$)/g, ",");

/** An unknown amount is never shown as 0. */
const money = (usd: number | null, mark = ""): string => (usd === null ? "–" : `${mark}$${usd.toFixed(4)}`);

const UNKNOWN: Readonly<Record<string, string>> = { model: "(unknown)", kind: "(unknown)" };

const cells = (sum: UsageSum): readonly string[] => [
  figure(sum.workers),
  figure(sum.turns),
  figure(sum.tool_calls),
  figure(sum.input_tokens + sum.cache_write_tokens),
  figure(sum.cached_tokens),
  figure(sum.output_tokens),
  figure(sum.reasoning_tokens),
  money(sum.cost_usd),
  money(sum.estimated_usd, "~"),
  duration(sum.duration_ms),
];

const COLUMNS = ["WORKERS", "TURNS", "TOOLS", "IN", "CACHED", "OUT", "REASONING", "COST", "ESTIMATE", "TIME"];

/** Columns that a narrow terminal leaves out. */
const SPARE = ["REASONING", "CACHED", "TOOLS", "WORKERS"];

/** A row of several hosts bears its host. */
type ShownRow = UsageRow & { readonly host?: string };

/** The usage of several hosts, with one sum of all. */
export const usageOfHosts: TextOf<{ readonly hosts: readonly (UsageReply & { readonly host: string })[] }> = (
  { hosts },
  context,
) => {
  const [first] = hosts;
  if (first === undefined) return "";
  const rows = hosts.flatMap(({ host, rows: own }) => own.map((row) => ({ host, ...row })));
  const total = hosts.map((each) => each.total).reduce(added);
  return usageText({ ...first, rows, total }, context);
};

/** An unknown amount counts only where both are unknown. */
const added = (a: UsageSum, b: UsageSum): UsageSum =>
  Object.fromEntries(
    Object.entries(a).map(([key, value]: [string, number | null]) => {
      const other: number | null = b[key as keyof UsageSum];
      return [key, value === null ? other : value + (other ?? 0)];
    }),
  ) as unknown as UsageSum;

export const usageText: TextOf<Omit<UsageReply, "rows"> & { readonly rows: readonly ShownRow[] }> = (
  { rows, total, by },
  { paint, columns },
) => {
  // A hint on stderr says that there are no rows.
  if (rows.length === 0) return "";
  const chars = uniqueChars(rows.map(({ key }) => key ?? ""));
  const nameOf = ({ key, name }: UsageRow): string =>
    name ?? (key === null ? (UNKNOWN[by] ?? "(none)") : by === "worker" ? key.slice(0, chars) : key);
  const head = by.startsWith(LABEL) ? by.slice(LABEL.length).toUpperCase() : HEADS[by]!;
  const isOverHosts = rows[0]?.host !== undefined;
  const keyed = (host: string, key: string): readonly string[] =>
    [...(isOverHosts ? [host] : []), key].map((cell) => oneLine(cell, KEY_COLUMNS));
  const firsts = isOverHosts ? 2 : 1;
  const lines = [
    [...keyed("HOST", head), ...COLUMNS],
    ...rows.map((row) => [...keyed(row.host ?? "", nameOf(row)), ...cells(row)]),
    [...keyed("all", "total"), ...cells(total)],
  ];
  // Figures are aligned at their ends.
  const widths = COLUMNS.map((_, at) => Math.max(...lines.map((line) => line[at + firsts]!.length)));
  const [top, ...body] = lines.map((line) => [
    ...line.slice(0, firsts),
    ...line.slice(firsts).map((cell, at) => cell.padStart(widths[at]!)),
  ]);
  const last = body.pop()!;
  const shown = [top!.map((cell) => paint("dim", cell)), ...body, last.map((cell) => paint("bold", cell))];
  return table(shown, { fit: columns, spare: SPARE });
};

/** The usage of some turns: `3, 12 tool calls, 1m20s, 1,234 tokens in and 56 tokens out, $0.0100, ~$0.0200 by the price list`. */
export const spentOf = ({
  turns,
  tool_calls,
  turn_ms,
  unpriced_turns,
  usage,
}: Omit<SubtreeSum, "workers">): string =>
  [
    figure(turns),
    ...(tool_calls > 0 ? [count(tool_calls, "tool call")] : []),
    ...(turn_ms > 0 ? [duration(turn_ms)] : []),
    ...(usage.input_tokens + usage.output_tokens > 0
      ? [`${count(usage.input_tokens, "token")} in and ${count(usage.output_tokens, "token")} out`]
      : []),
    ...(usage.cost_usd === null ? [] : [money(usage.cost_usd)]),
    ...(usage.estimated_usd === undefined ? [] : [`${money(usage.estimated_usd, "~")} by the price list`]),
    ...(unpriced_turns > 0 ? [`${figure(unpriced_turns)} without a price`] : []),
  ].join(", ");

export const subtreeWords = (subtree: SubtreeSum | null | undefined, ref: string): string | null => {
  if (subtree === undefined) return null;
  if (subtree === null) return `agent usage ${oneLine(ref)} --subtree`;
  return `${count(subtree.workers, "worker")}, turns ${spentOf(subtree)}`;
};
