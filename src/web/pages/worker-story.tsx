/** The story of a worker: its timeline, its records, and what led to what. */
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { WEB_RECORDS_ASKED } from "../../base/limits.ts";
import { sentenceOf } from "../../cli/render/sentences.ts";
import { oneLine } from "../../cli/render/terminal.ts";
import { clock, count, duration } from "../../cli/render/units.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { WorkerInfo } from "../../protocol/replies/workers.ts";
import { linkTo } from "../model/address.ts";
import { commandOf, typedName } from "../model/commands.ts";
import { causeOf, effectsOf, joined, relatedTo } from "../model/records.ts";
import {
  LANDMARKS,
  LANES,
  type LaneName,
  placeOf,
  type Story,
  type StoryBar,
  storyOf,
} from "../model/story.ts";
import { LongList } from "../parts/long-list.tsx";
import { Command, Empty, Failure, Words } from "../parts/texts.tsx";
import { Connected } from "../state/connected.ts";
import { readEvents } from "../state/feed.ts";
import { useFeedState, useNow } from "../state/hooks.ts";
import { RequestFailure } from "../state/login.ts";

const ROW_PX = 24;
/** The types that make a bar but for tools, of which there may be many. */
const TYPES = LANDMARKS.map((type) => `&types=${type}`).join("");

/** The newest records of a worker, and what comes; asked for again after the daemon was lost. */
const useRecords = (id: string) => {
  const { session, feed } = useContext(Connected);
  const state = useFeedState();
  const [records, setRecords] = useState<readonly LogRecord[]>([]);
  const [failure, setFailure] = useState<RequestFailure>();
  useEffect(
    () =>
      feed.onRecords((all) => {
        const own = all.filter(({ worker_id }) => worker_id === id);
        if (own.length > 0) setRecords((known) => joined(known, own));
      }),
    [feed, id],
  );
  useEffect(() => {
    if (state === "lost") return undefined;
    const stop = new AbortController();
    const take = ({ records: more }: { readonly records: readonly LogRecord[] }): void =>
      setRecords((known) => joined(known, more));
    const query = `ids=${encodeURIComponent(id)}&follow=false&tail=${WEB_RECORDS_ASKED}`;
    Promise.all([query + TYPES, query].map((one) => readEvents(session, one, take, { signal: stop.signal })))
      .then(() => setFailure(undefined))
      .catch((cause: unknown) => {
        if (!stop.signal.aborted && cause instanceof RequestFailure) setFailure(cause);
      });
    return () => stop.abort();
  }, [session, id, state]);
  return { records, failure };
};

const LANE_WORDS: Readonly<Record<LaneName, string>> = {
  run: "runs",
  turn: "turns",
  tool: "tools",
  person: "waits for you",
  pause: "paused",
  backoff: "backs off",
};
const END_WORDS: Readonly<Record<StoryBar["end"], string>> = {
  open: "not over",
  good: "ended well",
  bad: "failed",
  neutral: "ended",
};

const MINUTE_MS = 60_000;
const RANGES = [
  ["all", Number.POSITIVE_INFINITY],
  ["1h", 60 * MINUTE_MS],
  ["10m", 10 * MINUTE_MS],
  ["1m", MINUTE_MS],
] as const;

const barTitle = ({ label, from_ms, to_ms, end }: StoryBar, now: number): string =>
  `${oneLine(label)}, ${duration((to_ms ?? now) - from_ms)}, ${END_WORDS[end]}`;

const Lane = ({
  lane,
  bars,
  from_ms,
  to_ms,
  onPick,
}: {
  readonly lane: LaneName;
  readonly bars: readonly StoryBar[];
  readonly from_ms: number;
  readonly to_ms: number;
  readonly onPick: (seq: number) => void;
}) => (
  <div class="lane">
    <span class="lane-name">{LANE_WORDS[lane]}</span>
    <div class="track">
      {bars.map((bar) => {
        const place = placeOf(bar, from_ms, to_ms);
        if (place === undefined) return null;
        return (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the list of records below has the keys
          // biome-ignore lint/a11y/noStaticElementInteractions: a short cut to a row of that list
          <span
            key={bar.seq}
            class={`bar ${lane} end-${bar.end}`}
            style={{ left: `${place.left}%`, width: `max(3px, ${place.width}%)` }}
            title={barTitle(bar, to_ms)}
            onClick={() => onPick(bar.seq)}
          >
            {place.width > 6 ? oneLine(bar.label, 60) : ""}
          </span>
        );
      })}
    </div>
  </div>
);

const LANE_NOUNS: Readonly<Record<LaneName, string>> = {
  run: "run",
  turn: "turn",
  tool: "tool call",
  person: "question",
  pause: "pause",
  backoff: "backoff",
};
const summaryOf = ({ bars }: Story): string =>
  LANES.map((lane) => [LANE_NOUNS[lane], bars.filter((bar) => bar.lane === lane).length] as const)
    .filter(([, times]) => times > 0)
    .map(([noun, times]) => count(times, noun))
    .join(", ");

const Timeline = ({ story, onPick }: { readonly story: Story; readonly onPick: (seq: number) => void }) => {
  const [range, setRange] = useState<(typeof RANGES)[number]>(RANGES[0]);
  const from_ms = Math.max(story.from_ms, story.to_ms - range[1]);
  const to_ms = Math.max(story.to_ms, from_ms + 1);
  const at = (share: number): string =>
    share === 0
      ? clock(new Date(from_ms).toISOString()).slice(0, 8)
      : `+${duration(share * (to_ms - from_ms))}`;
  return (
    <figure class="timeline">
      <figcaption>
        <span>
          {duration(to_ms - from_ms)} · {summaryOf(story)}
        </span>
        <span class="ranges">
          {RANGES.map((one) => (
            <button key={one[0]} type="button" aria-pressed={one === range} onClick={() => setRange(one)}>
              {one[0]}
            </button>
          ))}
        </span>
      </figcaption>
      <div aria-hidden="true">
        {LANES.map((lane) => {
          const bars = story.bars.filter((bar) => bar.lane === lane);
          return bars.length === 0 ? null : (
            <Lane key={lane} lane={lane} bars={bars} from_ms={from_ms} to_ms={to_ms} onPick={onPick} />
          );
        })}
        <div class="lane axis">
          <span class="lane-name" />
          <div class="track">
            {[0, 0.25, 0.5, 0.75, 1].map((share) => (
              <span key={share}>{at(share)}</span>
            ))}
          </div>
        </div>
      </div>
    </figure>
  );
};

const RecordLine = ({
  record,
  isPicked,
  onPick,
}: {
  readonly record: LogRecord;
  readonly isPicked: boolean;
  readonly onPick: () => void;
}) => {
  const sentence = record.payload === undefined ? undefined : sentenceOf(record);
  return (
    <div role="listitem" class={`record ${isPicked ? "active" : ""}`}>
      <button type="button" aria-pressed={isPicked} onClick={onPick}>
        <span class="figure dim">{clock(record.recorded_at)}</span>
        <span class="figure dim">{record.incarnation === undefined ? "" : `#${record.incarnation}`}</span>
        <span class={`said tone-${sentence?.tone ?? "dim"} ${sentence?.spoken === true ? "spoken" : ""}`}>
          {sentence === undefined
            ? `${record.type}, too large to be shown here`
            : oneLine(sentence.text, 400)}
        </span>
      </button>
    </div>
  );
};

const Reference = ({
  label,
  record,
  onPick,
}: {
  readonly label: string;
  readonly record: LogRecord;
  readonly onPick: (seq: number) => void;
}) => (
  <li>
    <span class="dim">{label}</span>{" "}
    <button type="button" class="quiet" onClick={() => onPick(record.seq)}>
      {record.seq} {record.type}
    </button>
  </li>
);

const RECORDS_NAMED_MAX = 12;

const Detail = ({
  record,
  records,
  onPick,
}: {
  readonly record: LogRecord;
  readonly records: readonly LogRecord[];
  readonly onPick: (seq: number | undefined) => void;
}) => {
  const cause = causeOf(record, records);
  const effects = effectsOf(record, records).slice(0, RECORDS_NAMED_MAX);
  const related = relatedTo(record, records).slice(0, RECORDS_NAMED_MAX);
  return (
    <aside class="detail" aria-label="The chosen record">
      <header>
        <h2>
          {record.seq} {record.type}
        </h2>
        <button type="button" class="quiet" aria-label="Close the record" onClick={() => onPick(undefined)}>
          ✕
        </button>
      </header>
      <p class="dim">
        {record.recorded_at} · correlation{" "}
        {record.correlation_id === record.worker_id ? (
          "this worker"
        ) : (
          <a href={linkTo("worker", record.correlation_id)}>{record.correlation_id}</a>
        )}
      </p>
      <ul class="references" aria-label="Causes and effects">
        {cause !== undefined && <Reference label="caused by" record={cause} onPick={onPick} />}
        {effects.map((one) => (
          <Reference key={one.seq} label="led to" record={one} onPick={onPick} />
        ))}
        {related.map((one) => (
          <Reference key={one.seq} label="same matter" record={one} onPick={onPick} />
        ))}
      </ul>
      <Words text={JSON.stringify(record.payload ?? {}, null, 2)} />
    </aside>
  );
};

export const StoryTab = ({ info }: { readonly info: WorkerInfo }) => {
  const now = useNow();
  const { records, failure } = useRecords(info.id);
  const [picked, setPicked] = useState<number>();
  const [isWhole, setIsWhole] = useState(false);
  const story = useMemo(() => storyOf(records, now), [records, now]);
  const shown = useMemo(
    () =>
      isWhole
        ? records
        : records.filter((record) => record.payload === undefined || sentenceOf(record).quiet !== true),
    [records, isWhole],
  );
  const pick = (seq: number | undefined): void => {
    if (seq !== undefined && !shown.some((record) => record.seq === seq)) setIsWhole(true);
    setPicked(seq);
  };
  const chosen = records.find(({ seq }) => seq === picked);
  return (
    <section aria-label="Story">
      <Failure failure={failure} />
      {story !== undefined && <Timeline story={story} onPick={pick} />}
      <div class="bar-of-list">
        <Command text={commandOf("logs", typedName(info))} />
        <label>
          <input
            type="checkbox"
            checked={isWhole}
            onChange={({ currentTarget }) => setIsWhole(currentTarget.checked)}
          />{" "}
          every record
        </label>
        <span class="dim">
          {shown.length} of {info.last_seq === 0 ? 0 : records.length} records here
        </span>
      </div>
      {records.length === 0 && <Empty>No records yet.</Empty>}
      <div class={chosen === undefined ? "story" : "story with-detail"}>
        <LongList
          class="long records"
          role="list"
          aria-label="Records"
          tabIndex={0}
          follows
          count={shown.length}
          rowPx={ROW_PX}
          reveal={picked === undefined ? undefined : shown.findIndex(({ seq }) => seq === picked)}
          row={(index) => {
            const record = shown[index] as LogRecord;
            return (
              <RecordLine
                key={record.seq}
                record={record}
                isPicked={record.seq === picked}
                onPick={() => pick(record.seq === picked ? undefined : record.seq)}
              />
            );
          }}
        />
        {chosen !== undefined && <Detail record={chosen} records={records} onPick={pick} />}
      </div>
    </section>
  );
};
