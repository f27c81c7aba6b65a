/** What waits for me? Every hold that a person can answer, the oldest first. */
import { useContext } from "preact/hooks";
import { oneLine } from "../../cli/render/terminal.ts";
import type { HoldView } from "../../protocol/replies/talk.ts";
import type { WorkerView } from "../../protocol/replies/workers.ts";
import { linkTo } from "../model/address.ts";
import { changesWorkers } from "../model/refresh.ts";
import { HoldCard } from "../parts/hold-card.tsx";
import { Age, Command, Empty, Failure, State } from "../parts/texts.tsx";
import { type LiveAnswer, useAnswer } from "../state/answer.ts";
import { Connected } from "../state/connected.ts";
import { useNow } from "../state/hooks.ts";

const DAY_MS = 86_400_000;
const LATELY_MAX = 20;

/** Workers that nobody asks about, and that nobody will start again by itself. */
export const FailedLately = ({ now }: { readonly now: number }) => {
  const { path, session } = useContext(Connected);
  const heading = `lately-${session.host ?? ""}`;
  const { reply } = useAnswer(
    "agent/list",
    { statuses: ["failed"], since_ms: DAY_MS, sort: "-ended", limit: LATELY_MAX },
    changesWorkers,
  );
  const workers: readonly WorkerView[] = reply?.workers ?? [];
  return workers.length === 0 ? null : (
    <section class="lately" aria-labelledby={heading}>
      <h2 id={heading}>
        Failed in the last day
        {session.host !== undefined && <span class="unseen"> on {session.host}</span>}
      </h2>
      <ul>
        {workers.map(({ id, name, state, error, reason, ended_at }) => (
          <li key={id}>
            <a href={path + linkTo("worker", id)}>{oneLine(name ?? id)}</a>
            <State state={state} />
            <span class="dim">{oneLine(error?.message ?? reason, 240)}</span>
            <Age at={ended_at} now={now} />
          </li>
        ))}
      </ul>
    </section>
  );
};

export const WaitingPage = ({
  inbox,
}: {
  readonly inbox: LiveAnswer<{ readonly holds: readonly HoldView[]; readonly cursor?: string }>;
}) => {
  const now = useNow();
  const holds = inbox.reply?.holds;
  return (
    <main class="waiting">
      <header class="title">
        <h1>What waits for me?</h1>
        <Command text="agent inbox" />
      </header>
      <Failure failure={inbox.failure} />
      {holds?.length === 0 && <Empty>Nothing waits for you.</Empty>}
      {holds?.map((hold) => (
        <HoldCard key={hold.id} hold={hold} now={now} />
      ))}
      {inbox.reply?.cursor !== undefined && (
        <Empty>There are more: agent inbox shows them page by page.</Empty>
      )}
      <FailedLately now={now} />
    </main>
  );
};
