/** All workers as a table, sorted by any of its columns. */
import { useMemo } from "preact/hooks";
import { oneLine } from "../../cli/render/terminal.ts";
import type { WorkerView } from "../../protocol/replies/workers.ts";
import { linkTo, type PageAddress } from "../model/address.ts";
import type { RowFilter } from "../model/tree-rows.ts";
import { type ColumnName, dollarsOf, tokensOf, workerRows } from "../model/worker-rows.ts";
import { LongList } from "../parts/long-list.tsx";
import { Age, Empty, State, shownCount, shownDollars } from "../parts/texts.tsx";
import { refilter, useNow } from "../state/hooks.ts";

const ROW_PX = 30;
const HEADINGS: readonly (readonly [ColumnName | "", string])[] = [
  ["name", "worker"],
  ["state", "state"],
  ["kind", "kind"],
  ["", "last words"],
  ["restarts", "restarts"],
  ["turns", "turns"],
  ["tokens", "tokens"],
  ["cost", "cost"],
  ["since", "age"],
];

const Heading = ({
  column,
  label,
  sort,
  onSort,
}: {
  readonly column: ColumnName | "";
  readonly label: string;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
}) => {
  if (column === "") return <span role="columnheader">{label}</span>;
  const isUp = sort === column;
  const isDown = sort === `-${column}`;
  return (
    <span role="columnheader" aria-sort={isUp ? "ascending" : isDown ? "descending" : "none"}>
      <button type="button" class="sorts" onClick={() => onSort(isDown ? column : `-${column}`)}>
        {label}
        <span aria-hidden="true">{isUp ? " ↑" : isDown ? " ↓" : ""}</span>
      </button>
    </span>
  );
};

const Row = ({
  worker,
  said,
  now,
  index,
}: {
  readonly worker: WorkerView;
  readonly said: string | undefined;
  readonly now: number;
  readonly index: number;
}) => (
  <div class="row table-row" role="row" aria-rowindex={index + 2}>
    <span class="name" role="cell">
      <a href={linkTo("worker", worker.id)}>{oneLine(worker.name ?? worker.id)}</a>
    </span>
    <span role="cell">
      <State state={worker.state} isPaused={worker.paused !== undefined} />
    </span>
    <span class="kind dim" role="cell">
      {worker.kind.replaceAll("_", " ")}
    </span>
    <span class="said" role="cell">
      {oneLine(worker.error?.message ?? said ?? worker.task, 240)}
    </span>
    <span class="figure" role="cell">
      {worker.restarts === 0 ? "–" : worker.restarts}
    </span>
    <span class="figure" role="cell">
      {worker.turns === 0 ? "–" : worker.turns}
    </span>
    <span class="figure" role="cell">
      {tokensOf(worker.usage) === 0 ? "–" : shownCount(tokensOf(worker.usage))}
    </span>
    <span class="figure" role="cell">
      {shownDollars(dollarsOf(worker.usage))}
    </span>
    <span class="figure dim" role="cell">
      <Age at={worker.created_at} now={now} />
    </span>
  </div>
);

export const TableView = ({
  workers,
  filter,
  words,
  address,
}: {
  readonly workers: readonly WorkerView[];
  readonly filter: RowFilter;
  readonly words: ReadonlyMap<string, string>;
  readonly address: PageAddress;
}) => {
  const now = useNow();
  const { sort = "-since" } = address.filters;
  const rows = useMemo(
    () => workerRows(workers, filter, sort),
    [workers, filter.text, filter.state, filter.kind, sort],
  );
  if (rows.length === 0)
    return <Empty>{workers.length === 0 ? "No worker runs." : "Nothing matches these filters."}</Empty>;
  return (
    <div class="table" role="table" aria-label="Workers" aria-rowcount={rows.length + 1}>
      <div class="row table-row heading" role="row" aria-rowindex={1}>
        {HEADINGS.map(([column, label]) => (
          <Heading
            key={label}
            column={column}
            label={label}
            sort={sort}
            onSort={(one) => refilter(address, { sort: one })}
          />
        ))}
      </div>
      <LongList
        class="long"
        role="rowgroup"
        tabIndex={0}
        count={rows.length}
        rowPx={ROW_PX}
        row={(index) => {
          const worker = rows[index] as WorkerView;
          return <Row key={worker.id} worker={worker} said={words.get(worker.id)} now={now} index={index} />;
        }}
      />
    </div>
  );
};
