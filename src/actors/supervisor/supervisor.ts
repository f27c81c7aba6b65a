/**
 * A supervisor as a fiber. Its scope holds the fibers of its children: workers, and supervisors below it. When it ends,
 * all of them let go of their agents. It observes the exit of each worker's fiber: it handles a defect there without
 * touching the siblings.
 */
import { Cause, Effect, Exit, Fiber, Scope } from "effect";
import { Mailbox } from "../machine/mailbox.ts";
import type { Services } from "../ports.ts";

/** A worker as its supervisor's fiber sees it. */
export interface SupervisedWorker {
  readonly id: string;
  /** The body of its fiber. */
  live(): Effect.Effect<void>;
  /** Called when its fiber has died of a defect: ends its processes and records its end. */
  abandon(defect: unknown): Effect.Effect<void>;
}

/** A fiber of the tree, as shown to people. */
export interface FiberView {
  readonly name: string;
  readonly fiber: number;
  readonly children: readonly FiberView[];
}

/** How a worker's fiber ended. `unrecorded`: even the end of the worker could not be recorded. */
export type WorkerFiberEnd =
  | { readonly type: "over" | "let_go" }
  | { readonly type: "unrecorded"; readonly failure: unknown };

type OnEnd = (worker: SupervisedWorker, end: WorkerFiberEnd) => void;

interface FiberExit {
  readonly worker: SupervisedWorker;
  readonly exit: Exit.Exit<void>;
  readonly onEnd: OnEnd;
}

type Fork = (work: Effect.Effect<void>) => Fiber.Fiber<void>;

export class Supervisor {
  /** The path of the supervisor in its file; "root" at the top. */
  readonly path: string;
  private readonly fork: Fork;
  private readonly services: Pick<Services, "defects">;
  private readonly scope = Scope.makeUnsafe();
  /** Holds at most one exit for each child. */
  private readonly exits = new Mailbox<FiberExit>(Number.POSITIVE_INFINITY);
  private readonly workers = new Map<string, Fiber.Fiber<void>>();
  private readonly supervisors = new Map<string, Supervisor>();
  private readonly own: Fiber.Fiber<void>;

  /** Starts its fiber at once, in the scope `above`. `fork` must start a fiber at once. */
  constructor(path: string, above: Scope.Scope, fork: Fork, services: Pick<Services, "defects">) {
    this.path = path;
    this.fork = fork;
    this.services = services;
    this.own = Fiber.runIn(fork(this.live()), above);
  }

  /** Starts the fiber of a worker. `onEnd` is called once, after the worker's last record. */
  start(worker: SupervisedWorker, onEnd: OnEnd): void {
    const fiber = this.fork(worker.live());
    this.workers.set(worker.id, fiber);
    fiber.addObserver((exit) => {
      if (this.workers.get(worker.id) === fiber) this.workers.delete(worker.id);
      this.exits.post({ worker, exit, onEnd });
    });
  }

  /** Starts the fiber of a supervisor below it. */
  below(path: string): Supervisor {
    const made = new Supervisor(path, this.scope, this.fork, this.services);
    this.supervisors.set(path, made);
    made.own.addObserver(() => this.supervisors.delete(path));
    return made;
  }

  /** Interrupts the fiber of every worker below it: their agents run on. */
  letGoOfAll(): void {
    for (const below of this.supervisors.values()) below.letGoOfAll();
    for (const fiber of this.workers.values()) fiber.interruptUnsafe();
  }

  /** Ends its fiber, which lets go of every worker below it. */
  end(): void {
    this.own.interruptUnsafe();
  }

  isIdle(): boolean {
    return this.workers.size === 0 && [...this.supervisors.values()].every((one) => one.isIdle());
  }

  view(): FiberView {
    const supervisors = [...this.supervisors.values()].map((one) => one.view());
    const workers = [...this.workers].map(([name, { id }]) => ({ name, fiber: id, children: [] }));
    return { name: this.path, fiber: this.own.id, children: [...supervisors, ...workers] };
  }

  private live(): Effect.Effect<void> {
    const take = Effect.suspend(() => this.exits.take());
    // Abandoning one worker must not hold up another.
    const hear = Effect.flatMap(take, (ended) =>
      Effect.forkIn(this.contained(ended), this.scope, { startImmediately: true }),
    );
    const over = Effect.suspend(() => {
      this.exits.close();
      return Effect.andThen(Fiber.interruptAll(this.workers.values()), Scope.close(this.scope, Exit.void));
    });
    return Effect.ensuring(Effect.forever(hear, { disableYield: true }), over);
  }

  private contained(ended: FiberExit): Effect.Effect<void> {
    return Effect.catchDefect(handled(ended), (defect) =>
      Effect.sync(() => this.services.defects.tell(`supervisor ${this.path}`, defect)),
    );
  }
}

const handled = ({ worker, exit, onEnd }: FiberExit): Effect.Effect<void> => {
  if (Exit.isSuccess(exit)) return Effect.sync(() => onEnd(worker, { type: "over" }));
  if (!Cause.hasDies(exit.cause)) return Effect.sync(() => onEnd(worker, { type: "let_go" }));
  return Effect.matchCause(worker.abandon(Cause.squash(exit.cause)), {
    onSuccess: () => onEnd(worker, { type: "over" }),
    onFailure: (cause) =>
      onEnd(
        worker,
        Cause.hasDies(cause) ? { type: "unrecorded", failure: Cause.squash(cause) } : { type: "let_go" },
      ),
  });
};
