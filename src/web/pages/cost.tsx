/** What does it cost? Usage by day, kind, model or worker. */

import { oneLine } from "../../cli/render/terminal.ts";
import { duration } from "../../cli/render/units.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { UsageReply, UsageRow } from "../../protocol/replies/usage.ts";
import { linkTo, type PageAddress } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { Command, Empty, Failure, shownCount, shownDollars } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { refilter } from "../state/hooks.ts";

const GROUPS = ["day", "kind", "model", "worker"] as const;
const DAY_MS = 86_400_000;
const PERIODS: Readonly<Record<string, number>> = { "24h": DAY_MS, "7d": 7 * DAY_MS, "30d": 30 * DAY_MS };

const endsTurn = ({ type }: LogRecord): boolean => type === "turn_completed";

const dollars = (row: Pick<UsageRow, "cost_usd" | "estimated_usd">): number =>
  (row.cost_usd ?? 0) + (row.estimated_usd ?? 0);

const Sums = ({ total }: { readonly total: UsageReply["total"] }) => (
  <p class="sums large">
    <span>
      <b>{shownDollars(total.cost_usd ?? 0)}</b> reported
    </span>
    <span>
      <b>{shownDollars(total.estimated_usd ?? 0)}</b> estimated
    </span>
    <span>
      <b>{shownCount(total.input_tokens + total.output_tokens)}</b> tokens
    </span>
    <span>
      <b>{shownCount(total.turns)}</b> turns
    </span>
    <span>
      <b>{shownCount(total.workers)}</b> workers
    </span>
  </p>
);

const Row = ({ row, by, most }: { readonly row: UsageRow; readonly by: string; readonly most: number }) => {
  const key = row.key ?? "none";
  const name = oneLine(row.name ?? key);
  return (
    <tr>
      <th scope="row">
        {by === "worker" ? <a href={linkTo("worker", key)}>{name}</a> : name.replaceAll("_", " ")}
      </th>
      <td class="share">
        <span style={{ width: `${most === 0 ? 0 : (100 * dollars(row)) / most}%` }} />
      </td>
      <td>{shownDollars(row.cost_usd ?? 0)}</td>
      <td>{row.estimated_usd === null ? "–" : `~${shownDollars(row.estimated_usd)}`}</td>
      <td>{shownCount(row.turns)}</td>
      <td>{shownCount(row.tool_calls)}</td>
      <td>{shownCount(row.input_tokens)}</td>
      <td>{shownCount(row.cached_tokens)}</td>
      <td>{shownCount(row.output_tokens)}</td>
      <td>{duration(row.duration_ms)}</td>
    </tr>
  );
};

export const CostPage = ({ address }: { readonly address: PageAddress }) => {
  const by = GROUPS.find((one) => one === address.filters.by) ?? "day";
  const period = address.filters.since ?? "";
  const since_ms = PERIODS[period];
  const { reply, failure } = useAnswer(
    "agent/usage",
    { by, ...(since_ms === undefined ? {} : { since_ms }) },
    endsTurn,
  );
  const rows = reply?.rows ?? [];
  const most = Math.max(0, ...rows.map(dollars));
  const since = since_ms === undefined ? [] : ["--since", period];
  return (
    <main class="cost">
      <header class="title">
        <h1>What does it cost?</h1>
        <Command text={commandOf("usage", "--by", by, ...since)} />
      </header>
      <div class="filters">
        <fieldset class="views">
          <legend class="unseen">Group by</legend>
          {GROUPS.map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === by}
              onClick={() => refilter(address, { by: one })}
            >
              {one}
            </button>
          ))}
        </fieldset>
        <fieldset class="views">
          <legend class="unseen">Period</legend>
          {["24h", "7d", "30d", ""].map((one) => (
            <button
              key={one}
              type="button"
              aria-pressed={one === period}
              onClick={() => refilter(address, { since: one })}
            >
              {one === "" ? "all" : one}
            </button>
          ))}
        </fieldset>
      </div>
      <Failure failure={failure} />
      {reply !== undefined && <Sums total={reply.total} />}
      {reply !== undefined && rows.length === 0 && <Empty>No turn was completed in this time.</Empty>}
      {rows.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls needs the keys
        <section class="scrolls" tabIndex={0} aria-label="Usage">
          <table>
            <thead>
              <tr>
                <th scope="col">{by}</th>
                <th scope="col" class="share">
                  share
                </th>
                <th scope="col">reported</th>
                <th scope="col">estimated</th>
                <th scope="col">turns</th>
                <th scope="col">tools</th>
                <th scope="col">in</th>
                <th scope="col">cached</th>
                <th scope="col">out</th>
                <th scope="col">time</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={row.key} row={row} by={by} most={most} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {(reply?.omitted ?? 0) > 0 && <Empty>{reply?.omitted} more rows are in the total only.</Empty>}
      {(reply?.total.unpriced ?? 0) > 0 && (
        <Empty>
          {reply?.total.unpriced} turns have no known price:{" "}
          {reply?.unpriced_models.map((model) => model ?? "a model without a name").join(", ")}.
        </Empty>
      )}
    </main>
  );
};
