/** What runs? The tree of supervisors and workers, or all workers as a table; the filters stand in the URL. */
import { useContext, useEffect, useRef, useState } from "preact/hooks";
import { WEB_WORKERS_MAX } from "../../base/limits.ts";
import { oneLine } from "../../cli/render/terminal.ts";
import type { WorkerView } from "../../protocol/replies/workers.ts";
import type { PageAddress } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { changesWorkers } from "../model/refresh.ts";
import { PAUSED, signOf } from "../model/states.ts";
import type { RowFilter } from "../model/tree-rows.ts";
import { Command, Empty, Failure } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { Connected } from "../state/connected.ts";
import { refilter } from "../state/hooks.ts";
import { TableView } from "./runs-table.tsx";
import { TreeView } from "./runs-tree.tsx";

const STATES = [
  "running",
  "waiting",
  PAUSED,
  "pending",
  "starting",
  "stopping",
  "backing_off",
  "parked",
  "failed",
  "completed",
  "cancelled",
];

/** The newest thing that each worker's agent said or did, as long as this page is open. */
const useLastWords = (): ReadonlyMap<string, string> => {
  const { feed } = useContext(Connected);
  const words = useRef(new Map<string, string>());
  const [, setTimes] = useState(0);
  useEffect(
    () =>
      feed.onRecords((records) => {
        for (const record of records) {
          if (record.type !== "agent.event" || record.worker_id === undefined) continue;
          const { text, message } = record.payload ?? {};
          const line = oneLine(text ?? message ?? "");
          if (line !== "") words.current.set(record.worker_id, line);
        }
        setTimes((times) => times + 1);
      }),
    [feed],
  );
  return words.current;
};

const Choice = ({
  label,
  value,
  values,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly values: readonly string[];
  readonly onChange: (value: string) => void;
}) => (
  <label>
    <span class="dim">{label}</span>
    <select value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
      <option value="">any</option>
      {[...new Set([...values, value])]
        .filter((one) => one !== "")
        .map((one) => (
          <option key={one} value={one}>
            {one.replaceAll("_", " ")}
          </option>
        ))}
    </select>
  </label>
);

/** How many workers are in each state; each count is a filter. */
const Counts = ({
  workers,
  address,
}: {
  readonly workers: readonly WorkerView[];
  readonly address: PageAddress;
}) => {
  const stateOf = ({ state, paused }: WorkerView): string => (paused === undefined ? state : PAUSED);
  const counts = Object.entries(Object.groupBy(workers, stateOf)).map(([state, all = []]) => ({
    state,
    count: all.length,
  }));
  return (
    <ul class="counts" aria-label="Workers by state">
      {counts
        .sort((a, b) => STATES.indexOf(a.state) - STATES.indexOf(b.state))
        .map(({ state, count }) => {
          const { sign, word, tone } = signOf(state, state === PAUSED);
          const isChosen = address.filters.state === state;
          return (
            <li key={state}>
              <button
                type="button"
                class={`count tone-${tone}`}
                aria-pressed={isChosen}
                onClick={() => refilter(address, { state: isChosen ? "" : state })}
              >
                <span aria-hidden="true">{sign}</span> <b>{count}</b> {word}
              </button>
            </li>
          );
        })}
    </ul>
  );
};

const Filters = ({
  address,
  workers,
}: {
  readonly address: PageAddress;
  readonly workers: readonly WorkerView[];
}) => {
  const { view = "tree", q = "", state = "", kind = "", ended = "", archived = "" } = address.filters;
  const change = (changed: Readonly<Record<string, string>>): void => refilter(address, changed);
  return (
    <search class="filters">
      <fieldset class="views">
        <legend class="unseen">View</legend>
        {["tree", "table"].map((one) => (
          <button key={one} type="button" aria-pressed={view === one} onClick={() => change({ view: one })}>
            {one}
          </button>
        ))}
      </fieldset>
      <label class="grows">
        <span class="unseen">Search names, tasks and labels</span>
        <input
          type="search"
          placeholder="name, task, label=value"
          value={q}
          onInput={({ currentTarget }) => change({ q: currentTarget.value })}
        />
      </label>
      <Choice label="state" value={state} values={STATES} onChange={(one) => change({ state: one })} />
      <Choice
        label="kind"
        value={kind}
        values={workers.map((worker) => worker.kind)}
        onChange={(one) => change({ kind: one })}
      />
      <label>
        <input
          type="checkbox"
          checked={ended !== ""}
          onChange={({ currentTarget }) => change({ ended: currentTarget.checked ? "yes" : "" })}
        />{" "}
        ended too
      </label>
      <label>
        <input
          type="checkbox"
          checked={archived !== ""}
          onChange={({ currentTarget }) =>
            change({
              archived: currentTarget.checked ? "yes" : "",
              view: currentTarget.checked ? "table" : view,
            })
          }
        />{" "}
        archived
      </label>
    </search>
  );
};

const listFlags = (isArchive: boolean, all: boolean): readonly string[] =>
  isArchive ? ["--archived"] : all ? ["--all"] : [];

export const RunsPage = ({ address }: { readonly address: PageAddress }) => {
  const { view = "tree", q: text = "", state = "", kind = "", ended = "", archived = "" } = address.filters;
  const filter: RowFilter = { text, state, kind };
  // An archived worker is in no tree.
  const isArchive = archived !== "" && view === "table";
  const all = ended !== "" || ["completed", "failed", "cancelled"].includes(state);
  const which = isArchive ? { archived: true } : { all };
  const list = useAnswer(
    "agent/list",
    { ...which, sort: "-created", limit: WEB_WORKERS_MAX },
    changesWorkers,
  );
  const tree = useAnswer("agent/tree", view === "tree" ? {} : undefined, changesWorkers);
  const words = useLastWords();
  const workers = list.reply?.workers ?? [];
  const total = list.reply?.total ?? 0;
  return (
    <main class="runs">
      <header class="title">
        <h1>What runs?</h1>
        <Command
          text={view === "tree" ? commandOf("tree") : commandOf("list", ...listFlags(isArchive, all))}
        />
      </header>
      <Counts workers={workers} address={address} />
      <Filters address={address} workers={workers} />
      <Failure failure={list.failure ?? tree.failure} />
      {total > workers.length && (
        <Empty>
          The newest {workers.length} of {total} workers: agent list shows all of them.
        </Empty>
      )}
      {view === "tree" && tree.reply !== undefined && (
        <TreeView root={tree.reply} workers={workers} filter={filter} words={words} />
      )}
      {view === "table" && list.reply !== undefined && (
        <TableView workers={workers} filter={filter} words={words} address={address} />
      )}
    </main>
  );
};
