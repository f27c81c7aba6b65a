/** Is it well? The daemon, what it watches, and what troubles it. */
import { bytes, duration } from "../../cli/render/units.ts";
import type { DaemonStatus } from "../../daemon/replies.ts";
import { commandOf } from "../model/commands.ts";
import { Age, Command, Empty, Facts, Failure } from "../parts/texts.tsx";
import { useAnswer } from "../state/answer.ts";
import { useNow } from "../state/hooks.ts";

const never = (): boolean => false;

/** Sentences about what is wrong; none if all is well. */
const troublesOf = (status: DaemonStatus): readonly string[] => [
  ...(status.health.ok ? [] : [`The supervisor's tick stopped ${duration(status.health.tick_age_ms)} ago.`]),
  ...(status.store_error === null
    ? []
    : [`The log cannot be written: ${JSON.stringify(status.store_error)}`]),
  ...(status.disk.low ? ["The disk is nearly full: no worker starts."] : []),
  ...status.runtimes.flatMap(({ name, trouble }) =>
    trouble === null ? [] : [`Runtime ${name}: ${trouble}`],
  ),
  ...(status.workers.tampered > 0
    ? [`${status.workers.tampered} runs have files that were tampered with.`]
    : []),
  ...(status.defects.count > 0
    ? [
        `${status.defects.count} unexpected errors, the newest in ${status.defects.newest?.where ?? "the daemon"}.`,
      ]
    : []),
  ...(status.configuration_changed ? ["config.yaml has changed: it is read at the next start."] : []),
  ...(status.http?.trouble == null ? [] : [status.http.trouble]),
];

const Status = ({ status, now }: { readonly status: DaemonStatus; readonly now: number }) => (
  <div class="columns three">
    <section aria-label="Daemon">
      <h2>Daemon</h2>
      <Facts
        facts={[
          ["version", status.version],
          ["process", String(status.pid)],
          ["runs for", <Age key="at" at={status.started_at} now={now} />],
          ["memory", bytes(status.rss_bytes)],
          ["state", <code key="dir">{status.state_dir}</code>],
          ["Node", status.node],
        ]}
      />
    </section>
    <section aria-label="Supervision">
      <h2>Supervision</h2>
      <Facts
        facts={[
          ["workers", `${status.workers.live} live, ${status.workers.total} on record`],
          ["tick", `${duration(status.health.tick_age_ms)} ago`],
          ["late heartbeats", String(status.workers.heartbeats.late)],
          ["loop lag", `p50 ${duration(status.loop_lag_ms.p50)}, p99 ${duration(status.loop_lag_ms.p99)}`],
          ["stalls", `${status.health.stalls.count}, longest ${duration(status.health.stalls.longest_ms)}`],
          ["requests", `${status.requests_in_flight} in flight, ${status.connections} connections`],
        ]}
      />
    </section>
    <section aria-label="Storage">
      <h2>Storage</h2>
      <Facts
        facts={[
          ["records", String(status.head)],
          ["disk", status.disk.free_bytes === null ? "unknown" : `${bytes(status.disk.free_bytes)} free`],
          ["kept free", bytes(status.disk.floor_bytes)],
          ["callers from", status.callers.from],
          ...status.runtimes.map(
            ({ name, backend_kind, trouble }) => [name, trouble ?? `${backend_kind}, well`] as const,
          ),
        ]}
      />
    </section>
  </div>
);

export const HealthPage = () => {
  const now = useNow();
  const { reply: status, failure } = useAnswer("daemon/status", {}, never);
  const troubles = status === undefined ? [] : troublesOf(status);
  return (
    <main class="health">
      <header class="title">
        <h1>Is it well?</h1>
        <Command text={commandOf("daemon", "status")} />
        <Command text={commandOf("doctor")} />
      </header>
      <Failure failure={failure} />
      {status !== undefined && troubles.length === 0 && (
        <p class="well">
          <span aria-hidden="true">✓ </span>All is well.
        </p>
      )}
      {troubles.map((trouble) => (
        <p key={trouble} class="failure">
          <span aria-hidden="true">✕ </span>
          {trouble}
        </p>
      ))}
      {status === undefined && failure === undefined && <Empty>Loading…</Empty>}
      {status !== undefined && <Status status={status} now={now} />}
    </main>
  );
};
