/**
 * The scheduler of all boards: one fiber that looks at each board on its period and whenever something of it has changed. It
 * moves the cards whose workers have ended, and gives free slots to cards. Everything that it must know is in the log, so a
 * daemon that was killed goes on where it was.
 */
import { Deferred, Effect, FiberMap, type Scope } from "effect";
import { containing } from "../../actors/defects.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import {
  BOARD_CARDS_MAX,
  BOARD_DISPATCHES_PER_PASS_MAX,
  BOARD_ORPHAN_GRACE_MS,
  BOARDS_MAX,
  CARDS_PAGE_DEFAULT,
  RECONCILE_PERIOD_MS,
} from "../../base/limits.ts";
import { type CardEnd, DISPATCHER, isBeingDispatched } from "../../control/board/decide.ts";
import { chosen, nextDueMs, roomFor } from "../../control/board/schedule.ts";
import { specFor } from "../../control/board/worker-spec.ts";
import type { Card } from "../../protocol/board.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import { ulidOf } from "../../protocol/ids.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { isEnded, type WorkerSpec } from "../../protocol/worker.ts";
import type { BoardSetting, WorkerRow } from "../../store/views.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import { spawnRecordId } from "../idempotency.ts";
import type { Cards, CardWork } from "./cards.ts";

export interface DispatchPorts {
  readonly spawn: RuntimeApi["spawn"];
  readonly ends: {
    /** Resolves when the worker has ended for good. */
    untilEnded(id: string): Effect.Effect<unknown, HoldfastError>;
  };
}

/** The place of a board's whole spec among the launch specs of workers: it may hold secrets. */
export const specIdOf = (board: string): string => ulidOf(`the workers of board ${board}`);

export const makeDispatcher = (
  core: Core,
  cards: Cards,
  ports: DispatchPorts,
): Effect.Effect<Dispatcher, never, Scope.Scope> =>
  Effect.map(FiberMap.make<string>(), (ends) => new Dispatcher(core, cards, ports, ends));

export class Dispatcher {
  private readonly core: Core;
  private readonly cards: Cards;
  private readonly ports: DispatchPorts;
  /** Waits for the ends of workers that cards run as. */
  private readonly ends: FiberMap.FiberMap<string>;
  /** Since when the worker of a card that runs is missing, by worker: monotonic milliseconds. */
  private readonly missing = new Map<string, number>();
  private readonly specs = new Map<string, WorkerSpec>();
  private woken = Deferred.makeUnsafe<void>();

  constructor(core: Core, cards: Cards, ports: DispatchPorts, ends: FiberMap.FiberMap<string>) {
    this.core = core;
    this.cards = cards;
    this.ports = ports;
    this.ends = ends;
  }

  /** Something has changed: look now. */
  nudge(): void {
    Deferred.doneUnsafe(this.woken, Effect.void);
  }

  /** The spec of a board has changed. */
  forgetSpec(board: string): void {
    this.specs.delete(board);
  }

  readonly running: Effect.Effect<never> = Effect.forever(
    Effect.gen({ self: this }, function* () {
      // Made before the look, so that nothing is missed that happens meanwhile.
      this.woken = Deferred.makeUnsafe<void>();
      const wait = yield* this.look;
      yield* Effect.timeoutOption(Deferred.await(this.woken), wait);
    }),
  );

  /** Looks at each board. Answers the milliseconds until the next look. */
  private get look(): Effect.Effect<number> {
    return Effect.suspend(() => {
      let wait = RECONCILE_PERIOD_MS;
      // A runtime that is closing starts nothing, and the next one takes over what it leaves.
      if (this.core.admission.isClosed()) return Effect.succeed(wait);
      const { defects, report, views } = this.core.services;
      const settings = new Map(views.boardSettings().map((setting) => [setting.board, setting]));
      const pass = (board: string): Effect.Effect<void> =>
        Effect.catch(
          Effect.map(this.pass(board, settings.get(board)), (due) => {
            wait = Math.min(wait, due);
          }),
          (error) => Effect.sync(() => report(`board ${board} waits: ${error.message}`, error)),
        );
      const all = Effect.forEach(
        views.boards(BOARDS_MAX),
        (board) => containing(defects, `board ${board}`, pass(board)),
        { discard: true },
      );
      return Effect.map(containing(defects, "the boards", all), () => wait);
    });
  }

  /** Answers the milliseconds until the next retry of the board is due. */
  private pass(board: string, setting: BoardSetting | undefined): CardWork<number> {
    return Effect.gen({ self: this }, function* () {
      const { views } = this.core.services;
      const inLane = (lane: Card["lane"]) =>
        views.cards({ board, lanes: [lane], after: 0, limit: BOARD_CARDS_MAX });
      const running = yield* attempt(() => inLane("Running"));
      for (const card of running) yield* this.reconcile(card, setting);
      const claimed = yield* attempt(() => inLane("Claimed"));
      for (const card of claimed)
        yield* isBeingDispatched(card)
          ? this.cards.alone(card, this.spawnFor(card))
          : this.releaseAbandoned(card);
      if (setting === undefined || setting.slots === 0) return RECONCILE_PERIOD_MS;
      return yield* this.dispatch(setting);
    });
  }

  private dispatch({ board, slots }: BoardSetting): CardWork<number> {
    return Effect.gen({ self: this }, function* () {
      const { views } = this.core.services;
      const held = yield* attempt(() =>
        views.cards({ board, lanes: ["Running", "Claimed"], after: 0, limit: BOARD_CARDS_MAX }),
      );
      const busy = held.filter((card) => card.lane === "Running" || isBeingDispatched(card)).length;
      const room = roomFor(slots, busy);
      const waiting = yield* attempt(() => views.waitingCards(board, CARDS_PAGE_DEFAULT));
      const free = yield* attempt(() => views.freeCards(board, room));
      const taken = chosen(room, waiting, free, this.cards.time());
      for (const card of taken) {
        const claim = this.cards.decide(card, { type: "dispatch" });
        const taking = Effect.flatMap(claim, ({ card: mine, isChanged }) =>
          isChanged ? this.spawnFor(mine) : Effect.void,
        );
        yield* this.cards.alone(card, taking);
      }
      // The end of a worker wakes this fiber.
      if (busy + taken.length >= slots) return RECONCILE_PERIOD_MS;
      if (taken.length === BOARD_DISPATCHES_PER_PASS_MAX) return 0;
      const left = waiting.filter((card) => !taken.includes(card));
      return nextDueMs(left, this.cards.time()) ?? RECONCILE_PERIOD_MS;
    });
  }

  /** For a card that the dispatcher holds. The key of the spawn finds a worker that an earlier daemon has spawned for this try. */
  private spawnFor(card: Card): CardWork<void> {
    return Effect.gen({ self: this }, function* () {
      const { board, request_id } = card;
      if (request_id === null) return;
      const first = yield* attempt(() => this.core.services.log.byId(spawnRecordId(request_id)));
      const known = first?.worker_id;
      const spawned =
        known !== undefined
          ? Effect.succeed(known)
          : Effect.flatMap(this.specOf(board), (spec) =>
              Effect.map(
                this.ports.spawn(specFor(spec, card), { idempotency_key: request_id, by: DISPATCHER }),
                ({ id }) => id,
              ),
            );
      const result = yield* Effect.result(spawned);
      if (result._tag === "Success") {
        yield* this.cards.decide(card, { type: "dispatched", agent_id: result.success });
        return yield* this.waitFor(result.success);
      }
      // Nobody is to blame for it: the next daemon goes on here.
      if (this.core.admission.isClosed()) return;
      yield* this.cards.decide(card, { type: "refused", error: errorOf(result.failure) });
    });
  }

  private specOf(board: string): CardWork<WorkerSpec> {
    const known = this.specs.get(board);
    if (known !== undefined) return Effect.succeed(known);
    const loaded = attemptAsync(() => this.core.services.files.load(specIdOf(board)));
    return Effect.tap(loaded, (spec) => Effect.sync(() => this.specs.set(board, spec)));
  }

  /** A card that runs goes where its worker's end sends it. */
  private reconcile(card: Card, setting: BoardSetting | undefined): CardWork<void> {
    return Effect.gen({ self: this }, function* () {
      const id = card.agent_id ?? "";
      const row = yield* attempt(() => this.core.services.views.worker(id));
      const end = row !== undefined && isEnded(row.state) ? yield* this.endOf(row) : this.lost(id);
      if (end === undefined) return yield* this.waitFor(id);
      this.missing.delete(id);
      yield* this.cards.change(card, {
        type: "ended",
        end,
        completed_lane: setting?.completed_lane ?? "Done",
      });
    });
  }

  private endOf(row: WorkerRow): CardWork<CardEnd> {
    return attempt(() => {
      const { state, error, reason, id } = row;
      if (state === "completed") return { type: "completed" };
      const asked = this.core.services.log.stream(id, ["worker_cancel_requested"]).at(-1);
      if (state === "cancelled" && asked?.type === "worker_cancel_requested") {
        const { by, reason: why } = asked.payload;
        if (by === DISPATCHER) return { type: "stopped" };
        return { type: "killed", by, reason: `its worker was killed by ${by}: ${why}` };
      }
      return {
        type: "failed",
        error: error ?? {
          code: state === "cancelled" ? "WORKER_CANCELLED" : "WORKER_FAILED",
          message: reason,
        },
      };
    });
  }

  /** A worker that nobody supervises: it may come back within a grace. */
  private lost(id: string): CardEnd | undefined {
    if (this.core.roster.live.has(id)) {
      this.missing.delete(id);
      return undefined;
    }
    const now = this.core.monoMs();
    const since = this.missing.get(id) ?? now;
    this.missing.set(id, since);
    if (now - since < BOARD_ORPHAN_GRACE_MS) return undefined;
    return { type: "failed", error: { code: "WORKER_LOST", message: `its worker ${id} is gone` } };
  }

  private waitFor(id: string): Effect.Effect<void> {
    if (!this.core.roster.live.has(id)) return Effect.void;
    const ended = Effect.map(Effect.exit(this.ports.ends.untilEnded(id)), () => this.nudge());
    return Effect.asVoid(FiberMap.run(this.ends, id, ended, { onlyIfMissing: true }));
  }

  /** An agent that has ended holds nothing any more. */
  private releaseAbandoned(card: Card): CardWork<void> {
    return Effect.gen({ self: this }, function* () {
      const by = card.claimed_by ?? "";
      const row = yield* attempt(() => this.core.services.views.worker(by.replace(/^worker:/, "")));
      if (row === undefined || !isEnded(row.state)) return;
      yield* Effect.ignore(this.cards.change(card, { type: "release", by, reason: "its holder has ended" }));
    });
  }
}

const errorOf = ({ code, message, info }: HoldfastError): WorkerError => ({
  code,
  message,
  ...(info.retry_after_s === undefined ? {} : { retry_after_s: info.retry_after_s }),
});
