/**
 * Questions about the places of workers: where no node has the labels of one, a person is asked (decision 0090). The question stands in
 * the row of the placement, so that it is one in the whole cluster, and any node takes the answer.
 */
import { CLUSTER_QUESTION_AFTER_MS, CLUSTER_QUESTIONS_AT_ONCE, INBOX_PAGE_MAX } from "../../base/limits.ts";
import type { PlaceQuestionRow } from "../../cluster/postgres/answers.ts";
import type { PostgresStore } from "../../cluster/postgres/store.ts";
import type { ClusterView, Killer, Placement } from "../../cluster/rows.ts";
import type { Notice } from "../../control/notify/notice.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { answersOf, type HoldAnswer, type HoldOf, holdNameOf } from "../../protocol/holds.ts";
import { newId } from "../../protocol/ids.ts";
import { questionOf } from "../../runtime/commands/inbox.ts";
import type { Answered, HoldView } from "../../runtime/replies.ts";
import { type Desk, isNowhere } from "./desk.ts";

type QuestionStore = Desk &
  Pick<PostgresStore, "askForPlace" | "tellsOfPlace" | "placeQuestions" | "letWait" | "placeAnywhere">;

/** `isMine` says whether this daemon is the one of the cluster that tells; it is asked only if somebody here is to be told. */
export type TellNotice = (notice: Notice, isMine: () => Promise<boolean>) => Promise<void>;

interface PlaceLack {
  readonly term: number;
  readonly since_ms: number;
  isDone: boolean;
}

/** Asks the questions that a node finds by its looks. A call that fails is made again at a later look. */
export class PlaceQuestions {
  private readonly store: QuestionStore;
  private readonly tell: TellNotice;
  private readonly now: () => number;
  private seen = new Map<string, PlaceLack>();
  private isAsking = false;

  constructor(store: QuestionStore, tell: TellNotice, now: () => number) {
    this.store = store;
    this.tell = tell;
    this.now = now;
  }

  saw({ nodes, placements }: ClusterView): void {
    const lost = placements.filter((each) => isNowhere(each, nodes));
    if (lost.length === 0 && this.seen.size === 0) return;
    const now = this.now();
    this.seen = new Map(
      lost.map(({ worker, term }) => {
        const before = this.seen.get(worker);
        return [worker, before?.term === term ? before : { term, since_ms: now, isDone: false }];
      }),
    );
    const due = lost.filter(({ worker, starts }) => {
      const { isDone, since_ms } = this.seen.get(worker)!;
      // The node on which it ran may be back in a moment, as after a restart of its daemon.
      return !isDone && (starts === 0 || now - since_ms >= CLUSTER_QUESTION_AFTER_MS);
    });
    if (due.length > 0 && !this.isAsking) void this.ask(due.slice(0, CLUSTER_QUESTIONS_AT_ONCE));
  }

  private async ask(due: readonly Placement[]): Promise<void> {
    this.isAsking = true;
    try {
      for (const placement of due) {
        const { worker, term } = placement;
        await this.store.askForPlace(worker, term);
        await this.tell(noticeOf(placement), () => this.store.tellsOfPlace(worker, term));
        const seen = this.seen.get(worker);
        if (seen?.term === term) seen.isDone = true;
      }
    } catch {
      // A database that is away is told of by the lease.
    } finally {
      this.isAsking = false;
    }
  }
}

export const placeQuestions = async (store: QuestionStore, now_ms: number): Promise<readonly HoldView[]> =>
  (await openQuestions(store)).map((row) => viewOf(row, now_ms));

const openQuestions = async (store: QuestionStore): Promise<readonly PlaceQuestionRow[]> => {
  const rows = await store.placeQuestions(INBOX_PAGE_MAX);
  if (rows.length === 0) return [];
  const nodes = await store.nodes();
  return rows.filter((row) => isNowhere(row, nodes));
};

/** Undefined: the cluster has no worker of that name that shall run. */
export const answerPlace = async (
  store: QuestionStore,
  worker: string,
  said: HoldAnswer,
  killer: Killer,
): Promise<Answered | undefined> => {
  const row = (await openQuestions(store)).find((each) => each.worker === worker);
  if (row === undefined) {
    if ((await store.placed(worker))?.desired !== "running") return undefined;
    throw asksNothing(worker);
  }
  switch (said) {
    case "wait":
      if (!(await store.letWait(worker, row.term))) throw asksNothing(worker);
      break;
    case "anywhere":
      if (!(await store.placeAnywhere(worker, row.term))) throw asksNothing(worker);
      break;
    case "kill":
      // Nothing of it runs, so there is no end to wait for.
      await store.kill(worker, killer);
      break;
    default:
      throw asksOther(worker);
  }
  return { id: worker, question_id: QUESTION, answer: said, effect: "updated" };
};

const QUESTION = "placement";

const holdOf = ({ needs }: Pick<Placement, "needs">): HoldOf<"placement"> => ({
  reason: QUESTION,
  id: QUESTION,
  needs: needs ?? {},
});

const viewOf = (row: PlaceQuestionRow, now_ms: number): HoldView => {
  const hold = holdOf(row);
  return {
    id: holdNameOf(row.worker, hold),
    reason: hold.reason,
    worker_id: null,
    worker: row.worker,
    supervisor: null,
    incarnation: null,
    question: questionOf(hold, null),
    answers: answersOf(hold),
    since: new Date(now_ms - row.asked_ms_ago).toISOString(),
    expires_at: null,
    otherwise: null,
    needs: hold.needs,
    shared_id: row.shared_id,
  };
};

const noticeOf = (placement: Placement): Notice => {
  const now = Date.now();
  const { worker } = placement;
  const hold = holdOf(placement);
  const name = holdNameOf(worker, hold);
  const answers = answersOf(hold);
  return {
    id: newId(now),
    kind: "question",
    at: new Date(now).toISOString(),
    subject: { worker_id: null, name: worker, labels: {}, within: [worker], is_spawned: false },
    title: `Where should ${worker} run?`,
    text: questionOf(hold, null),
    asks: { hold: name, answers },
    command: `agent answer ${name} ${answers[0]}`,
  };
};

const asksNothing = (worker: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Worker ${worker} asks nothing.`, {
    suggestion: "See what waits for you: agent inbox",
  });

const asksOther = (worker: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `Worker ${worker} asks something else: where it should run.`, {
    suggestion: `Answer it with: agent answer ${worker} ${answersOf(holdOf({ needs: null })).join("|")}`,
  });
