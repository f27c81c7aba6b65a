/** What happened to this one? A worker's state, what a person can do about it, its story, and what it made. */
import { useContext } from "preact/hooks";
import { OUTPUT_TEXT_MAX_BYTES, WEB_OUTPUT_MAX_BYTES } from "../../base/limits.ts";
import { oneLine } from "../../cli/render/terminal.ts";
import { duration } from "../../cli/render/units.ts";
import type { HoldView } from "../../protocol/replies/talk.ts";
import type { WorkerInfo } from "../../protocol/replies/workers.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import { linkTo, type PageAddress } from "../model/address.ts";
import { commandOf, typedName } from "../model/commands.ts";
import { changesWorkers } from "../model/refresh.ts";
import { type DeedRequest, Deeds, deed } from "../parts/deeds.tsx";
import { HoldCard } from "../parts/hold-card.tsx";
import { Age, Empty, Facts, Failure, State } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { Connected } from "../state/connected.ts";
import { useNow } from "../state/hooks.ts";
import { StoryTab } from "./worker-story.tsx";
import { ChangesTab, MessagesTab, OutputTab, UsageTab, WhyTab } from "./worker-tabs.tsx";

const TABS = ["story", "output", "why", "changes", "usage", "messages"] as const;
type TabName = (typeof TABS)[number];
const ENDED = new Set(["completed", "failed", "cancelled", "parked"]);

/** The deeds that make sense in its state. */
const deedsOf = (info: WorkerInfo): readonly DeedRequest[] => {
  const { id, state, paused, archived } = info;
  const name = typedName(info);
  const ids = { ids: [id] };
  const archiving = (label: string, flags: readonly string[], data: RequestInput<"agent/archive">) =>
    deed({ label, command: commandOf("archive", ...flags, name), name: "agent/archive", data });
  const restart = deed({
    label: "Restart",
    command: commandOf("restart", name),
    name: "agent/restart",
    data: ids,
    ...(ENDED.has(state) ? {} : { question: `Stop ${name}, and start it again?` }),
  });
  if (archived === true) return [archiving("Bring back", ["--undo"], { ...ids, undo: true })];
  if (ENDED.has(state)) return [restart, archiving("Archive", [], ids)];
  const byHand = paused?.some(({ reason }) => reason === "operator") === true;
  const pausing = byHand
    ? deed({
        label: "Unpause",
        command: commandOf("unpause", name),
        name: "agent/unpause",
        data: ids,
        tone: "good",
      })
    : deed({ label: "Pause", command: commandOf("pause", name), name: "agent/pause", data: ids });
  const kill = deed({
    label: "Kill",
    command: commandOf("kill", name),
    name: "agent/kill",
    data: { ids: [id] },
    question: `Kill ${name}? It stays down until somebody starts it.`,
    tone: "bad",
  });
  return [pausing, restart, kill];
};

const Budgets = ({ info }: { readonly info: WorkerInfo }) =>
  info.budgets.map(({ owner, spent, bounds, state, estimated }) => (
    <span key={owner} class="budget">
      {Object.entries(bounds).map(([limit, bound]) => {
        const value = spent[limit as keyof typeof spent];
        return (
          <label key={limit}>
            {limit.replaceAll("_", " ")}{" "}
            <meter min={0} max={bound} high={0.8 * bound} value={Math.min(value, bound)} />{" "}
            {estimated && limit === "usd" ? "~" : ""}
            {Number(value.toFixed(2))} of {bound}
          </label>
        );
      })}
      {state !== "open" && <b> {state}</b>}
    </span>
  ));

const About = ({ info, now }: { readonly info: WorkerInfo; readonly now: number }) => {
  const labels = Object.entries(info.labels).map(([key, value]) => oneLine(`${key}=${value}`, 240));
  return (
    <Facts
      facts={[
        ["id", <code key="id">{info.id}</code>],
        ["kind", info.kind.replaceAll("_", " ")],
        ["supervisor", info.supervisor],
        ...(info.parent === null
          ? []
          : [
              [
                "spawned by",
                <a key="parent" href={linkTo("worker", info.parent)}>
                  {info.parent}
                </a>,
              ] as const,
            ]),
        [
          "run",
          `${info.incarnation}, ${info.window.used} of ${info.window.max} restarts in ${duration(info.window.period_ms)}`,
        ],
        ["process", info.pid === null ? "–" : String(info.pid)],
        ["started", <Age key="at" at={info.started_at} now={now} ago=" ago" />],
        ...(info.ended_at === null
          ? []
          : [["ended", <Age key="end" at={info.ended_at} now={now} ago=" ago" />] as const]),
        ["directory", <code key="cwd">{info.workspace?.cwd ?? info.spec.cwd}</code>],
        ...(labels.length === 0 ? [] : [["labels", labels.join(" ")] as const]),
        ...(info.budgets.length === 0 ? [] : [["budget", <Budgets key="budget" info={info} />] as const]),
      ]}
    />
  );
};

const Tab = ({ info, tab }: { readonly info: WorkerInfo; readonly tab: TabName }) => {
  const { id } = info;
  switch (tab) {
    case "story":
      return <StoryTab info={info} />;
    case "output":
      return (
        <OutputTab
          id={id}
          maxBytes={Math.min(WEB_OUTPUT_MAX_BYTES, OUTPUT_TEXT_MAX_BYTES)}
          name={typedName(info)}
        />
      );
    case "why":
      return <WhyTab id={id} name={typedName(info)} />;
    case "changes":
      return <ChangesTab info={info} />;
    case "usage":
      return <UsageTab info={info} />;
    case "messages":
      return <MessagesTab info={info} />;
  }
};

export const WorkerPage = ({
  address,
  holds,
}: {
  readonly address: PageAddress;
  readonly holds: readonly HoldView[];
}) => {
  const { id } = address;
  const now = useNow();
  const { session } = useContext(Connected);
  const { reply: info, failure } = useAnswer("agent/info", { id }, changesWorkers);
  const tab = TABS.find((one) => one === address.filters.tab) ?? "story";
  if (info === undefined)
    return (
      <main class="worker">
        <h1>{failure === undefined ? "Worker" : "No such worker"}</h1>
        <Failure failure={failure} />
        {failure === undefined && <Empty>Loading…</Empty>}
      </main>
    );
  const own = holds.filter(({ worker_id }) => worker_id === info.id);
  return (
    <main class="worker">
      <header class="title">
        <h1>{info.name ?? info.id}</h1>
        <State state={info.state} isPaused={info.paused !== undefined} />
        <span class="dim">{info.reason}</span>
      </header>
      <Failure failure={failure} />
      <p class="task">{info.task}</p>
      {info.error !== null && <p class="failure">{`${info.error.code}: ${info.error.message}`}</p>}
      {own.map((hold) => (
        <HoldCard key={hold.id} hold={hold} now={now} />
      ))}
      <div class="columns">
        <About info={info} now={now} />
        {session.can("agent/kill") && <Deeds deeds={deedsOf(info)} label="Deeds" />}
      </div>
      <nav class="tabs" aria-label="About this worker">
        {TABS.map((one) => (
          <a
            key={one}
            href={linkTo("worker", id, { tab: one })}
            aria-current={one === tab ? "page" : undefined}
          >
            {one}
          </a>
        ))}
      </nav>
      <Tab info={info} tab={tab} />
    </main>
  );
};
