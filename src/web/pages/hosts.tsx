/** What waits for me, on any host? The hosts one under the other, each with its questions, and a link to its own pages. */
import { useContext, useEffect, useState } from "preact/hooks";
import { INBOX_PAGE_MAX, WEB_HOSTS_LOOK_MS } from "../../base/limits.ts";
import { oneLine } from "../../cli/render/terminal.ts";
import { linkTo, pathOfHost } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { changesWorkers } from "../model/refresh.ts";
import { spokenCounts } from "../model/spoken.ts";
import { HoldCard } from "../parts/hold-card.tsx";
import { Command, Empty, Failure } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { Connected, type PageConnection } from "../state/connected.ts";
import { useNow } from "../state/hooks.ts";
import { asFailure, Login, type RequestFailure } from "../state/login.ts";
import { TickingFeed } from "../state/ticking-feed.ts";
import { FailedLately } from "./waiting.tsx";

interface HostCounts {
  readonly waiting: number;
  readonly live: number;
  /** Questions of a whole cluster, each of which one host shows: words. */
  readonly shared: string;
}

/** The questions that a host before this one shows. */
const shownBefore = (
  names: readonly string[],
  name: string,
  counts: Readonly<Record<string, HostCounts>>,
): string =>
  names
    .slice(0, names.indexOf(name))
    .map((one) => counts[one]?.shared ?? "")
    .join(" ");

/** The connection to a host once it answers; until then why it does not. It is tried again and again. */
const useHost = (name: string): { readonly host?: PageConnection; readonly failure?: RequestFailure } => {
  const { session } = useContext(Connected);
  const [known, setKnown] = useState<ReturnType<typeof useHost>>({});
  useEffect(() => {
    const own = new Login(session.secret, session.refuse, name);
    const feed = new TickingFeed();
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const open = async (): Promise<void> => {
      const failure = await own.open().then(() => undefined, asFailure);
      if (isOver) return;
      setKnown(
        failure === undefined ? { host: { session: own, feed, path: pathOfHost(name) } } : { failure },
      );
      if (failure !== undefined) timer = setTimeout(() => void open(), WEB_HOSTS_LOOK_MS);
    };
    void open();
    return () => {
      isOver = true;
      clearTimeout(timer);
      feed.close();
    };
  }, [name, session]);
  return known;
};

const Answering = ({
  elsewhere,
  onCounts,
}: {
  readonly elsewhere: string;
  readonly onCounts: (counts: HostCounts) => void;
}) => {
  const now = useNow();
  const inbox = useAnswer("agent/inbox", { limit: INBOX_PAGE_MAX }, changesWorkers);
  const status = useAnswer("daemon/status", {}, changesWorkers);
  const asked = inbox.reply?.holds ?? [];
  const shown = new Set(elsewhere.split(" "));
  const holds = asked.filter(({ shared_id = "own" }) => !shown.has(shared_id));
  // A host that does not answer hides no question of the others.
  const own = inbox.failure === undefined ? asked : [];
  const shared = own.flatMap(({ shared_id = [] }) => shared_id).join(" ");
  const live = status.reply?.workers.live ?? 0;
  useEffect(() => onCounts({ waiting: holds.length, live, shared }), [holds.length, live, shared]);
  return (
    <>
      <Failure failure={inbox.failure ?? status.failure} />
      {inbox.reply !== undefined && holds.length === 0 && <Empty>Nothing waits for you here.</Empty>}
      {holds.map((hold) => (
        <HoldCard key={hold.id} hold={hold} now={now} />
      ))}
      <FailedLately now={now} />
    </>
  );
};

const HostSection = ({
  name,
  counts,
  elsewhere,
  onCounts,
}: {
  readonly name: string;
  readonly elsewhere: string;
  readonly counts: HostCounts | undefined;
  readonly onCounts: (counts: HostCounts) => void;
}) => {
  const { host, failure } = useHost(name);
  const heading = `host-${name}`;
  return (
    <section class="host" aria-labelledby={heading}>
      <header>
        <h2 id={heading}>
          <a href={pathOfHost(name)}>{oneLine(name, 240)}</a>
        </h2>
        {counts !== undefined && (
          <a class="dim" href={pathOfHost(name) + linkTo("runs")}>
            {counts.live} live
          </a>
        )}
      </header>
      {host === undefined && failure === undefined && <Empty>Connecting…</Empty>}
      <Failure failure={failure} />
      {host !== undefined && (
        <Connected.Provider value={host}>
          <Answering elsewhere={elsewhere} onCounts={onCounts} />
        </Connected.Provider>
      )}
    </section>
  );
};

export const HostsPage = ({
  names,
  onLeave,
}: {
  readonly names: readonly string[];
  readonly onLeave: () => void;
}) => {
  const [counts, setCounts] = useState<Readonly<Record<string, HostCounts>>>({});
  const all = Object.values(counts);
  const waiting = all.reduce((sum, one) => sum + one.waiting, 0);
  const live = all.reduce((sum, one) => sum + one.live, 0);
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Holdfast` : "Holdfast";
  }, [waiting]);
  return (
    <>
      <nav class="pages" aria-label="Pages">
        <span class="brand">Holdfast</span>
        <a href="/" aria-current="page">
          All hosts
        </a>
        {names.map((name) => (
          <a key={name} href={pathOfHost(name)}>
            {oneLine(name, 240)}
            {(counts[name]?.waiting ?? 0) > 0 && <span class="mark calls">{counts[name]?.waiting}</span>}
          </a>
        ))}
        <button type="button" class="quiet" onClick={onLeave}>
          Log out
        </button>
      </nav>
      <main class="waiting">
        <header class="title">
          <h1>What waits for me?</h1>
          <Command text={commandOf("--host", names.join(","), "inbox")} />
        </header>
        {names.map((name) => (
          <HostSection
            key={name}
            name={name}
            counts={counts[name]}
            elsewhere={shownBefore(names, name, counts)}
            onCounts={(one) => setCounts((before) => ({ ...before, [name]: one }))}
          />
        ))}
      </main>
      <div class="unseen" role="status" aria-live="polite">
        {spokenCounts(waiting, live)}
      </div>
    </>
  );
};
