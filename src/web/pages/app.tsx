/** The frame of all pages: login, navigation, and what a screen reader is told. */
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { INBOX_PAGE_MAX } from "../../base/limits.ts";
import { boardOf } from "../../protocol/board-records.ts";
import type { HoldView } from "../../protocol/replies/talk.ts";
import { hostOfPath, linkTo, type PageAddress, type PageName, tokenOf } from "../model/address.ts";
import { changesWorkers } from "../model/refresh.ts";
import { spokenCounts } from "../model/spoken.ts";
import { type LiveAnswer, useAnswer } from "../state/answer.ts";
import { Connected, type PageConnection } from "../state/connected.ts";
import { RecordFeed } from "../state/feed.ts";
import { useAddress, useFeedState } from "../state/hooks.ts";
import { asFailure, keptSecret, Login, RequestFailure } from "../state/login.ts";
import { TickingFeed } from "../state/ticking-feed.ts";
import { BoardPage } from "./board.tsx";
import { CostPage } from "./cost.tsx";
import { HealthPage } from "./health.tsx";
import { HostsPage } from "./hosts.tsx";
import { JobsPage } from "./jobs.tsx";
import { LoginPage } from "./login.tsx";
import { RunsPage } from "./runs.tsx";
import { SearchPage } from "./search.tsx";
import { WaitingPage } from "./waiting.tsx";
import { WorkerPage } from "./worker.tsx";

/** The secret of the URL, which is taken out of it, or the one of this tab. */
const givenSecret = (): string | undefined => {
  const secret = tokenOf(location.hash);
  if (secret !== undefined) history.replaceState(null, "", linkTo("waiting"));
  return secret ?? keptSecret();
};

export const App = () => {
  const [connection, setConnection] = useState<PageConnection>();
  const [failure, setFailure] = useState<RequestFailure>();
  const [isBusy, setIsBusy] = useState(false);
  const leave = (why?: RequestFailure): void => {
    setFailure(why);
    setConnection((open) => {
      open?.feed.close();
      open?.session.close();
      return undefined;
    });
  };
  const login = async (secret: string): Promise<void> => {
    setIsBusy(true);
    setFailure(undefined);
    const refused = (): void =>
      leave(new RequestFailure("The token opens nothing any more.", { suggestion: "Log in again." }));
    const session = new Login(secret, refused, hostOfPath(location.pathname));
    try {
      await session.open();
      const feed = session.hello?.hosts === undefined ? new RecordFeed(session) : new TickingFeed();
      setConnection({ session, feed, path: "" });
    } catch (cause) {
      setFailure(asFailure(cause));
    } finally {
      setIsBusy(false);
    }
  };
  useEffect(() => {
    const take = (): void => {
      const secret = givenSecret();
      if (secret !== undefined) void login(secret);
    };
    take();
    const onHash = (): void => {
      if (tokenOf(location.hash) !== undefined) take();
    };
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  if (connection === undefined)
    return <LoginPage failure={failure} isBusy={isBusy} onLogin={(secret) => void login(secret)} />;
  return (
    <Connected.Provider value={connection}>
      {connection.session.hello?.hosts === undefined ? (
        <Pages onLeave={() => leave()} />
      ) : (
        <HostsPage names={connection.session.hello.hosts} onLeave={() => leave()} />
      )}
    </Connected.Provider>
  );
};

const isAboutCards = ({ stream }: { readonly stream: string }): boolean => boardOf(stream) !== undefined;
const isSpawn = ({ type }: { readonly type: string }): boolean => type === "worker_spawn_requested";

type LiveInbox = LiveAnswer<{ readonly holds: readonly HoldView[]; readonly cursor?: string }>;

const Body = ({ address, inbox }: { readonly address: PageAddress; readonly inbox: LiveInbox }) => {
  switch (address.page) {
    case "waiting":
      return <WaitingPage inbox={inbox} />;
    case "runs":
      return <RunsPage address={address} />;
    case "worker":
      return <WorkerPage key={address.id} address={address} holds={inbox.reply?.holds ?? []} />;
    case "search":
      return <SearchPage key={address.filters.q} address={address} />;
    case "cost":
      return <CostPage address={address} />;
    case "health":
      return <HealthPage />;
    case "board":
      return <BoardPage address={address} />;
    case "jobs":
      return <JobsPage />;
  }
};

const Pages = ({ onLeave }: { readonly onLeave: () => void }) => {
  const address = useAddress();
  const inbox = useAnswer("agent/inbox", { limit: INBOX_PAGE_MAX }, changesWorkers);
  const status = useAnswer("daemon/status", {}, changesWorkers);
  const board = useAnswer("board/list", { limit: 1 }, isAboutCards);
  const jobs = useAnswer("jobs/list", { limit: 1 }, isSpawn);
  const waiting = inbox.reply?.holds.length ?? 0;
  const live = status.reply?.workers.live ?? 0;
  const isWell = status.reply === undefined || status.reply.health.ok;
  const used: readonly PageName[] = [
    ...((board.reply?.cards.length ?? 0) > 0 || board.reply?.dispatcher != null ? (["board"] as const) : []),
    ...((jobs.reply?.jobs.length ?? 0) > 0 ? (["jobs"] as const) : []),
  ];
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Holdfast` : "Holdfast";
  }, [waiting]);
  return (
    <>
      <Navigation
        address={address}
        waiting={waiting}
        live={live}
        isWell={isWell}
        used={used}
        onLeave={onLeave}
      />
      <Body address={address} inbox={inbox} />
      <Spoken waiting={waiting} live={live} />
    </>
  );
};

interface NavigationProps {
  readonly address: PageAddress;
  readonly waiting: number;
  readonly live: number;
  readonly isWell: boolean;
  readonly used: readonly PageName[];
  readonly onLeave: () => void;
}

const Navigation = ({ address, waiting, live, isWell, used, onLeave }: NavigationProps) => {
  const { page } = address;
  const { host } = useContext(Connected).session;
  const words: Readonly<Record<PageName, string>> = {
    waiting: "Waiting",
    runs: "Running",
    worker: "Worker",
    search: "Search",
    cost: "Cost",
    health: "Health",
    board: "Board",
    jobs: "Jobs",
  };
  const marks: Readonly<Partial<Record<PageName, string>>> = {
    waiting: String(waiting),
    runs: String(live),
    health: isWell ? "" : "!",
  };
  const pages: readonly PageName[] = ["waiting", "runs", "search", "cost", "health", ...used];
  return (
    <nav class="pages" aria-label="Pages">
      <span class="brand">Holdfast</span>
      {host !== undefined && (
        <>
          <a href="/">All hosts</a>
          <b>{host}</b>
        </>
      )}
      {pages.map((one) => (
        <a
          key={one}
          href={linkTo(one)}
          aria-current={one === page || (one === "runs" && page === "worker") ? "page" : undefined}
        >
          {words[one]}
          {(marks[one] ?? "") !== "" && (
            <span class={`mark ${one === "waiting" && waiting > 0 ? "calls" : ""}`}>{marks[one]}</span>
          )}
        </a>
      ))}
      <Link />
      <button type="button" class="quiet" onClick={onLeave}>
        Log out
      </button>
    </nav>
  );
};

/** Whether what is shown is what is. */
const Link = () => {
  const state = useFeedState();
  const words = { connecting: "connecting", live: "live", lost: "daemon lost, trying again" };
  const signs = { connecting: "◌", live: "●", lost: "✕" };
  return (
    <span class={`link ${state}`}>
      <span aria-hidden="true">{signs[state]} </span>
      {words[state]}
    </span>
  );
};

/** The one region that speaks: counts and questions, and no stream of events. */
const Spoken = ({ waiting, live }: { readonly waiting: number; readonly live: number }) => {
  const state = useFeedState();
  const { session } = useContext(Connected);
  const said = useMemo(() => {
    if (state === "lost") return "The daemon is lost. The page tries again.";
    return spokenCounts(waiting, live);
  }, [state, waiting, live, session]);
  return (
    <div class="unseen" role="status" aria-live="polite">
      {said}
    </div>
  );
};
