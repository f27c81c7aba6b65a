/** Boards over the log: requests about cards, each decided on the card's row and answered once its record is durable. */
import { Effect, type Scope } from "effect";
import { containing } from "../../actors/defects.ts";
import { attempt, attemptAsync } from "../../actors/machine/attempt.ts";
import { BOARD_CARDS_MAX, BOARD_SLOTS_DEFAULT, BOARD_WATCHERS_MAX, BOARDS_MAX } from "../../base/limits.ts";
import { type CardMove, decideCard } from "../../control/board/decide.ts";
import { noCard, ofBoard } from "../../control/board/refusals.ts";
import { specFor, specProblems } from "../../control/board/worker-spec.ts";
import { type Card, largestEffect } from "../../protocol/board.ts";
import { boardStream, type CardWords } from "../../protocol/board-records.ts";
import type { CardInput } from "../../protocol/board-requests.ts";
import { byOf, type Caller, USER } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { makeRedactor } from "../../protocol/redact.ts";
import type { BoardReply, CardMoved } from "../../protocol/replies/board.ts";
import type { RequestData } from "../../protocol/requests.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import type { BoardSetting, WorkerRow } from "../../store/views.ts";
import type { BoardApi } from "../board-api.ts";
import type { Core } from "../core.ts";
import { makeSpecs, type Specs, type StartableSpec } from "../specs.ts";
import { cardInfo, cardView, dispatcherView, lanesIn } from "./card-views.ts";
import { type CardKey, Cards, type CardWork } from "./cards.ts";
import { type Dispatcher, type DispatchPorts, makeDispatcher, specIdOf } from "./dispatcher.ts";
import { type LogFollowing, StreamWatches } from "./stream-watches.ts";

export const makeBoards = (
  core: Core,
  following: LogFollowing,
  ports: DispatchPorts,
): Effect.Effect<BoardApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const cards = new Cards(core);
    const dispatcher = yield* makeDispatcher(core, cards, ports);
    yield* Effect.forkScoped(
      containing(core.services.defects, "the scheduler of boards", dispatcher.running),
    );
    return new Boards(core, cards, dispatcher, following);
  });

type MoveHandlers = Readonly<
  Record<
    CardMove,
    (asked: RequestData<"board/done"> & { readonly caller?: Caller | undefined }) => CardWork<CardMoved>
  >
>;

class Boards implements BoardApi {
  private readonly core: Core;
  private readonly cards: Cards;
  private readonly dispatcher: Dispatcher;
  private readonly specs: Specs;
  private readonly watches: StreamWatches;

  constructor(core: Core, cards: Cards, dispatcher: Dispatcher, following: LogFollowing) {
    this.core = core;
    this.cards = cards;
    this.dispatcher = dispatcher;
    this.specs = makeSpecs(core);
    this.watches = new StreamWatches(following, BOARD_WATCHERS_MAX, "boards");
  }

  readonly add: BoardApi["add"] = ({ board, cards, caller = USER }) =>
    Effect.gen({ self: this }, function* () {
      const by = yield* this.core.authority.permitAll(caller, "add cards to a board");
      const redact = this.redactorOf(caller);
      // The same id twice is one card, with the words that come last.
      const wanted = new Map(cards.map((card) => [card.id, redact.value(wordsOf(card))]));
      const adding = Effect.gen({ self: this }, function* () {
        const decided = yield* attempt(() =>
          [...wanted].map(([issue_id, words]) => {
            const before = this.cards.one({ board, issue_id });
            const { events } = decideCard(
              { board, issue_id },
              before,
              { type: "add", words, by },
              this.cards.time(),
            );
            const effect = events.length === 0 ? "noop" : before === undefined ? "created" : "updated";
            return { issue_id, effect, events } as const;
          }),
        );
        yield* attempt(() =>
          this.checkRoom(board, decided.filter(({ effect }) => effect === "created").length),
        );
        const events = decided.flatMap((one) => one.events);
        if (events.length > 0) yield* this.core.commit(events);
        return decided.map(({ issue_id, effect }) => ({ issue_id, effect }));
      });
      const added = yield* this.cards.addingTo(board, adding);
      this.dispatcher.nudge();
      return { board, cards: added, effect: largestEffect(added) };
    });

  readonly list: BoardApi["list"] = ({ board, lanes, limit, cursor }) =>
    attempt((): BoardReply => {
      const { views } = this.core.services;
      const after = cursor === undefined ? 0 : Number(cursor);
      const found = views.cards({ board, lanes, after, limit: limit + 1 });
      const page = found.slice(0, limit);
      const setting = this.settingOf(board);
      const time = this.cards.time();
      return {
        board,
        dispatcher: setting === undefined ? null : dispatcherView(setting),
        lanes: lanesIn(views, board),
        cards: page.map((card) => cardView(card, this.workerOf(card), time)),
        ...(found.length > limit ? { cursor: String(page.at(-1)!.seq) } : {}),
      };
    });

  readonly show: BoardApi["show"] = ({ board, id }) =>
    attempt(() => {
      const card = this.cards.one({ board, issue_id: id });
      if (card === undefined) throw noCard(board, id);
      return cardInfo(card, this.workerOf(card), this.core.services.log, this.cards.time());
    });

  private readonly move =
    (type: CardMove): MoveHandlers[CardMove] =>
    ({ board, id: issue_id, reason, caller = USER }) =>
      Effect.gen({ self: this }, function* () {
        const key = { board, issue_id };
        const by = yield* this.permit(type, key, caller);
        const told = reason === undefined ? {} : { reason: this.redactorOf(caller).text(reason) };
        const { card, isChanged } = yield* this.cards.change(key, { type, by, ...told });
        if (isChanged) this.dispatcher.nudge();
        const row = yield* attempt(() => this.workerOf(card));
        return { ...cardView(card, row, this.cards.time()), effect: isChanged ? "updated" : "noop" } as const;
      });

  readonly claim = this.move("claim");
  readonly release = this.move("release");
  readonly retry = this.move("retry");
  readonly block = this.move("block");
  readonly handoff = this.move("handoff");
  readonly done = this.move("done");

  readonly dispatch: BoardApi["dispatch"] = ({ board, spec, caller = USER, ...asked }) =>
    Effect.gen({ self: this }, function* () {
      const by = yield* this.core.authority.permitAll(caller, "set the dispatcher of a board");
      const before = yield* attempt(() => this.settingOf(board));
      if (spec === undefined && before === undefined) return yield* Effect.fail(noDispatcher(board));
      const slots = asked.slots ?? before?.slots ?? BOARD_SLOTS_DEFAULT;
      const completed_lane = asked.completed_lane ?? before?.completed_lane ?? "Done";
      const isSame =
        spec === undefined && before?.slots === slots && before.completed_lane === completed_lane;
      if (!isSame) {
        const made = spec === undefined ? undefined : yield* this.startable(board, spec);
        if (made !== undefined)
          yield* attemptAsync(() => this.core.services.files.save(specIdOf(board), made.kept));
        const masked = made?.masked ?? before!.spec;
        const payload = { slots, completed_lane, spec: masked, by, clock: this.core.now().clock };
        yield* this.core.commit([{ type: "board_configured", stream: boardStream(board), payload }]);
        this.dispatcher.forgetSpec(board);
        this.dispatcher.nudge();
      }
      const setting = yield* attempt(() => this.settingOf(board)!);
      const effect = isSame ? "noop" : before === undefined ? "created" : "updated";
      return { board, ...dispatcherView(setting), effect };
    });

  readonly follow: BoardApi["follow"] = (query, take) =>
    this.watches.follow(boardStream(query.board), query, take);

  readonly watch: BoardApi["watch"] = (query) => this.watches.watch(boardStream(query.board), query);

  /** A claim and what its holder does are everybody's; any other move is for those who may start what they like. */
  private permit(type: CardMove, key: CardKey, caller: Caller): CardWork<string> {
    const { authority } = this.core;
    if (type === "claim") return authority.permitStart(caller);
    return Effect.flatMap(
      attempt(() => this.cards.one(key)?.claimed_by === byOf(caller)),
      (isOwn) =>
        isOwn
          ? authority.permitShared(caller)
          : authority.permitAll(caller, "move a card that it does not hold"),
    );
  }

  /** The spec of a board is checked as that of a worker for a card whose words are the places for the words. */
  private startable(board: string, spec: WorkerSpec): CardWork<StartableSpec> {
    return Effect.gen({ self: this }, function* () {
      const problems = specProblems(spec);
      if (problems.length > 0)
        return yield* Effect.fail(
          new HoldfastError("INVALID_REQUEST", problems[0]!, { problems, phase: "validation" }),
        );
      const { spec: whole, adapter } = yield* this.specs.checked(
        specFor({ ...spec, parent: undefined }, templateCard(board)),
      );
      const startable = yield* this.specs.startable(whole, adapter);
      yield* attemptAsync(async () => this.core.services.workspaces?.refuseBranch(whole));
      return startable;
    });
  }

  private settingOf(board: string): BoardSetting | undefined {
    return this.core.services.views.boardSettings().find((one) => one.board === board);
  }

  private workerOf({ agent_id }: Card): WorkerRow | undefined {
    return agent_id === null ? undefined : this.core.services.views.worker(agent_id);
  }

  /** With the secrets that its worker has, where an agent speaks. */
  private redactorOf(caller: Caller) {
    const worker = caller.type === "worker" ? this.core.roster.live.get(caller.worker_id) : undefined;
    return worker?.redact ?? makeRedactor();
  }

  private checkRoom(board: string, added: number): void {
    if (added === 0) return;
    const { views } = this.core.services;
    const { Done: _, ...open } = lanesIn(views, board);
    const count = Object.values(open).reduce((sum, cards) => sum + cards, 0);
    if (count + added > BOARD_CARDS_MAX)
      throw new HoldfastError(
        "QUEUE_FULL",
        `Board ${board} has ${count} cards that are not done, and may have ${BOARD_CARDS_MAX}.`,
        { suggestion: `Finish some of them first: agent board list${ofBoard(board)}` },
      );
    const known = views.boards(BOARDS_MAX);
    if (known.length >= BOARDS_MAX && !known.includes(board))
      throw new HoldfastError(
        "QUEUE_FULL",
        `There are ${BOARDS_MAX} boards, which is all that there may be.`,
        {
          suggestion: `Use one of them: ${known.slice(0, 3).join(", ")}, …`,
        },
      );
  }
}

const wordsOf = ({ title, body, labels, priority }: CardInput): CardWords => ({
  title,
  body: body === undefined || body === "" ? null : body,
  labels,
  priority,
});

/** A card whose words are the places for a card's words. */
const templateCard = (board: string): Card => ({
  board,
  issue_id: "{id}",
  title: "{title}",
  body: "{body}",
  labels: ["{labels}"],
  priority: "normal",
  seq: 0,
  state: "Unclaimed",
  lane: "Todo",
  policy_status: "ok",
  eligibility: "eligible",
  denial_reason: null,
  last_outcome: null,
  code: null,
  attempt: 0,
  failures: 0,
  retry: null,
  request_id: null,
  agent_id: null,
  claimed_by: null,
  discovered_at: "",
  changed_at: "",
  last_seq: 0,
});

const noDispatcher = (board: string): HoldfastError =>
  new HoldfastError(
    "INVALID_REQUEST",
    `Board ${board} has no dispatcher yet, so its kind of worker must be named.`,
    {
      phase: "validation",
      suggestion: `Name one: agent board dispatch KIND${ofBoard(board)} --slots 4`,
    },
  );
