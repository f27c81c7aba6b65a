/** The supervision tree as an indented list, with the keys of a tree (WAI-ARIA, Tree View). */
import { useEffect, useMemo, useState } from "preact/hooks";
import { oneLine } from "../../cli/render/terminal.ts";
import { duration } from "../../cli/render/units.ts";
import type { TreeNode, TreeSupervisor } from "../../protocol/replies/trees.ts";
import type { WorkerView } from "../../protocol/replies/workers.ts";
import { linkTo } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { type RowFilter, type TreeLine, treeMove, treeRows } from "../model/tree-rows.ts";
import { dollarsOf } from "../model/worker-rows.ts";
import { type DeedRequest, Deeds, deed } from "../parts/deeds.tsx";
import { LongList } from "../parts/long-list.tsx";
import { Age, Empty, State, shownDollars } from "../parts/texts.tsx";
import { useNow } from "../state/hooks.ts";

const ROW_PX = 30;

/** Restarts that count now, of those that are allowed. */
const windowOf = ({ window }: TreeNode): string =>
  window === undefined || window.used === 0
    ? ""
    : `${window.used} of ${window.max} restarts in ${duration(window.period_ms)}`;

const about = (node: TreeNode, worker: WorkerView | undefined, said: string | undefined): string => {
  if (node.type === "supervisor")
    return [
      node.strategy.replaceAll("_", " "),
      node.scope && `works on ${node.scope.join(", ")}`,
      windowOf(node),
    ]
      .filter(Boolean)
      .join(" · ");
  if (node.question !== undefined) return `asks: ${node.question.about}`;
  if (worker?.error != null && node.state !== "running") return worker.error.message;
  return said ?? node.task;
};

interface RowProps {
  readonly row: TreeLine;
  readonly index: number;
  readonly worker: WorkerView | undefined;
  readonly said: string | undefined;
  readonly now: number;
  readonly isActive: boolean;
  readonly onPick: (toggle: boolean) => void;
}

const Row = ({ row, index, worker, said, now, isActive, onPick }: RowProps) => {
  const { node, level, isOpen, place, siblings } = row;
  const isWorker = node.type === "worker";
  const name = oneLine(node.name ?? node.id);
  const restarts = isWorker ? node.restarts : 0;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree has the keys
    <div
      id={`row-${index}`}
      class={`row tree-row ${isActive ? "active" : ""}`}
      role="treeitem"
      aria-level={level}
      aria-expanded={isOpen}
      aria-posinset={place}
      aria-setsize={siblings}
      aria-selected={isActive}
      onClick={() => onPick(false)}
    >
      <span class="name" style={{ paddingInlineStart: `${(level - 1) * 18}px` }}>
        <span class="twist" aria-hidden="true" onClick={() => onPick(isOpen !== undefined)}>
          {isOpen === undefined ? "" : isOpen ? "▾" : "▸"}
        </span>
        {isWorker ? (
          <a href={linkTo("worker", node.id)} tabIndex={-1}>
            {name}
          </a>
        ) : (
          <b>{name}</b>
        )}
      </span>
      <State
        state={isWorker ? node.state : (node.phase ?? "running")}
        isPaused={isWorker && node.paused !== undefined}
      />
      <span class="kind dim">{isWorker ? node.kind.replaceAll("_", " ") : "supervisor"}</span>
      <span class="said">{oneLine(about(node, worker, said), 240)}</span>
      <span class="figure dim">{restarts > 0 ? `${restarts}↻` : ""}</span>
      <span class="figure">{worker === undefined ? "" : shownDollars(dollarsOf(worker.usage))}</span>
      <span class="figure dim">
        {worker === undefined ? "" : <Age at={worker.started_at ?? worker.created_at} now={now} />}
      </span>
    </div>
  );
};

/** A supervisor stands for all workers below it, which stop and start in its order. */
const deedsOfSupervisor = ({ id, phase }: TreeSupervisor): readonly DeedRequest[] => {
  const data = { ids: [id] };
  const command = (verb: string): string => commandOf(verb, id);
  const isOver = phase === "terminated" || phase === "parked";
  const question = isOver ? {} : { question: `Stop all workers of ${id}, and start them again?` };
  const restart = deed({
    label: `Restart ${id}`,
    command: command("restart"),
    name: "agent/restart",
    data,
    ...question,
  });
  const kill = deed({
    label: `Kill ${id}`,
    command: command("kill"),
    name: "agent/kill",
    data,
    question: `Kill ${id} with all workers below it? They stay down until somebody starts them.`,
    tone: "bad",
  });
  return isOver ? [restart] : [restart, kill];
};

export const TreeView = ({
  root,
  workers,
  filter,
  words,
}: {
  readonly root: TreeNode;
  readonly workers: readonly WorkerView[];
  readonly filter: RowFilter;
  readonly words: ReadonlyMap<string, string>;
}) => {
  const now = useNow();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState("");
  const rows = useMemo(
    () => treeRows(root, closed, filter),
    [root, closed, filter.text, filter.state, filter.kind],
  );
  const byId = useMemo(() => new Map(workers.map((worker) => [worker.id, worker])), [workers]);
  const found = rows.findIndex(({ node }) => node.id === active);
  const at = Math.max(0, found);
  const toggle = (id: string): void =>
    setClosed((was) => (was.has(id) ? new Set([...was].filter((one) => one !== id)) : new Set([...was, id])));
  const onKeyDown = (event: KeyboardEvent): void => {
    const node = rows[at]?.node;
    if (event.key === "Enter" && node?.type === "worker") location.hash = linkTo("worker", node.id);
    const move = treeMove(event.key, at, rows);
    if (move === undefined) return;
    event.preventDefault();
    setActive(rows[move.to]?.node.id ?? "");
    if (move.toggle !== undefined) toggle(move.toggle);
  };
  useEffect(() => {
    if (found === -1) setActive(rows[0]?.node.id ?? "");
  }, [found, rows]);
  if (rows.length === 0) return <Empty>Nothing matches these filters.</Empty>;
  const chosen = rows[at]?.node;
  return (
    <>
      {chosen?.type === "supervisor" && chosen.id !== root.id && (
        <Deeds deeds={deedsOfSupervisor(chosen)} label={`Deeds on ${chosen.id} and all below it`} />
      )}
      {rows.length === 1 && <Empty>No worker runs. Start one: agent spawn KIND PROMPT</Empty>}
      <LongList
        class="long"
        role="tree"
        aria-label="Supervision tree"
        aria-activedescendant={`row-${at}`}
        tabIndex={0}
        onKeyDown={onKeyDown}
        count={rows.length}
        rowPx={ROW_PX}
        reveal={found}
        row={(index) => {
          const row = rows[index] as TreeLine;
          const { id } = row.node;
          return (
            <Row
              key={id}
              row={row}
              index={index}
              worker={byId.get(id)}
              said={words.get(id)}
              now={now}
              isActive={index === at}
              onPick={(isToggled) => {
                setActive(id);
                if (isToggled) toggle(id);
              }}
            />
          );
        }}
      />
    </>
  );
};
