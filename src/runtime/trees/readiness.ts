/** Checks a worker's condition for readiness until it holds or its time is up. */
import { Effect } from "effect";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { cwdIn } from "../../actors/worker/workspaces.ts";
import { READY_POLL_MS } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { Ready, WorkerSpec } from "../../protocol/worker.ts";
import type { ChildInput, ChildState } from "../../supervisor/child/inputs.ts";
import { pausedMs } from "../../supervisor/holds/pause.ts";
import type { Core } from "../core.ts";
import { followed } from "../following/follower.ts";

type Condition = Exclude<keyof Ready, "within_ms">;

export const watchReadiness = (
  core: Core,
  { worker_id, started_ms, pause }: ChildState,
  tell: (input: ChildInput) => Effect.Effect<void>,
): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    const spec = yield* attemptAsync(() => core.services.files.load(worker_id));
    const { ready, grace_ms } = spec;
    if (ready === undefined) return;
    const condition = conditionOf(ready);
    const begun = started_ms ?? core.monoMs();
    const ran = core.monoMs() - begun - pausedMs(pause, core.monoMs());
    const holds = Effect.as(until(core, spec, ready, worker_id, ran), true);
    const within = Effect.timeoutOrElse(holds, {
      duration: Math.max(0, ready.within_ms - ran),
      orElse: () => Effect.succeed(false),
    });
    if (!(yield* within)) {
      const { within_ms } = ready;
      return yield* tell({ type: "limit", limit: "ready", value: within_ms, bound: within_ms, grace_ms });
    }
    yield* tell({
      type: "ready",
      condition,
      after_ms: Math.max(0, core.monoMs() - begun),
    });
  });

const conditionOf = ({ within_ms: _, ...conditions }: Ready): Condition =>
  (Object.keys(conditions) as Condition[]).find((name) => conditions[name] !== undefined) as Condition;

const until = (
  core: Core,
  spec: WorkerSpec,
  ready: Ready,
  workerId: string,
  ran: number,
): Effect.Effect<void, HoldfastError> => {
  const { probe } = core.services;
  if (ready.healthy_for_ms !== undefined) return Effect.sleep(Math.max(0, ready.healthy_for_ms - ran));
  if (ready.file !== undefined)
    return polled(() => probe.fileExists(cwdIn(core.services.log, workerId, spec), ready.file as string));
  if (ready.port !== undefined) return polled(() => probe.portAccepts(ready.port as number));
  if (ready.log === undefined) return said(core, workerId, () => true);
  const pattern = patternOf(ready.log);
  return said(core, workerId, (text) => pattern.test(text));
};

/** The pattern was checked with the file. An invalid one is matched literally. */
const patternOf = (source: string): RegExp => {
  try {
    return new RegExp(source);
  } catch {
    return new RegExp(source.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  }
};

const polled = (look: () => Promise<boolean>): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    while (!(yield* attemptAsync(look))) yield* Effect.sleep(READY_POLL_MS);
  });

/** Resolves at an AgentEvent of this incarnation with a wanted text. */
const said = (
  core: Core,
  workerId: string,
  wanted: (text: string) => boolean,
): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    const { log } = core.services;
    const begun = yield* attempt(() =>
      log
        .stream(workerId, ["worker_state_changed"])
        .findLast((record) => record.type === "worker_state_changed" && record.payload.to === "starting"),
    );
    const own = { worker_ids: [workerId], types: ["agent.event"] as const };
    const isSaid = (line: string): boolean => {
      const record: LogRecord = JSON.parse(line);
      return record.type === "agent.event" && wanted(record.payload.text ?? record.payload.message ?? "");
    };
    const follow = { from: begun?.seq ?? log.head(), filter: own, isOver: () => false, isCut: () => false };
    yield* followed(core.tail, follow, ({ lines }) => (lines.some(isSaid) ? "enough" : undefined));
  });
