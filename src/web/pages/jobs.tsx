/** The jobs: workers that are never restarted, in the order of their submission. */
import { JOBS_PAGE_MAX } from "../../base/limits.ts";
import { oneLine } from "../../cli/render/terminal.ts";
import type { JobView } from "../../protocol/replies/jobs.ts";
import { linkTo } from "../model/address.ts";
import { commandOf } from "../model/commands.ts";
import { changesWorkers } from "../model/refresh.ts";
import { dollarsOf } from "../model/worker-rows.ts";
import { LongList } from "../parts/long-list.tsx";
import { Age, Command, Empty, Failure, State, shownDollars } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { useNow } from "../state/hooks.ts";

const ROW_PX = 30;

const Row = ({ job, now }: { readonly job: JobView; readonly now: number }) => (
  <div class="row job-row" role="listitem">
    <span class="name">
      <a href={linkTo("worker", job.job_id)}>{oneLine(job.name ?? job.job_id)}</a>
    </span>
    <State state={job.state} />
    <span class="said">{oneLine(job.error?.message ?? job.task, 240)}</span>
    <span class="figure">{shownDollars(dollarsOf(job.usage))}</span>
    <span class="figure dim">
      <Age at={job.submitted_at} now={now} />
    </span>
  </div>
);

export const JobsPage = () => {
  const now = useNow();
  const { reply, failure } = useAnswer("jobs/list", { limit: JOBS_PAGE_MAX }, changesWorkers);
  const jobs = [...(reply?.jobs ?? [])].reverse();
  return (
    <main class="jobs">
      <header class="title">
        <h1>Jobs</h1>
        <Command text={commandOf("jobs", "list")} />
      </header>
      <Failure failure={failure} />
      {reply?.jobs.length === 0 && <Empty>No jobs.</Empty>}
      <LongList
        class="long"
        role="list"
        aria-label="Jobs"
        tabIndex={0}
        count={jobs.length}
        rowPx={ROW_PX}
        row={(index) => {
          const job = jobs[index] as JobView;
          return <Row key={job.job_id} job={job} now={now} />;
        }}
      />
      {reply?.cursor !== undefined && <Empty>There are more jobs: the command shows all of them.</Empty>}
    </main>
  );
};
