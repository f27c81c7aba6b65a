/**
 * A supervisor as a fiber. Its scope holds the fibers of its children: workers, and supervisors below it. When it ends, all
 * of them let go of their agents. It hears the exit of each worker: a defect there is handled here, and no sibling is touched.
 */
import { Cause, Effect, Exit, Fiber, Scope } from "effect";
import { Mailbox } from "../machine/mailbox.ts";
import type { Services } from "../ports.ts";

/** A worker, as its supervisor's fiber sees it. */
export interface SupervisedWorker {
  readonly id: string;
  /** The body of its fiber. */
  live(): Effect.Effect<void>;
  /** The last resort, when its fiber has died: its processes are ended, and its end is recorded. */
  abandon(defect: unknown): Effect.Effect<void>;
}

/** A fiber of the tree, for people who look at it. */
export interface FiberView {
  readonly name: string;
  readonly fiber: number;
  readonly children: readonly FiberView[];
}

/** The end of a worker's fiber; `unrecorded`: not even the end of its worker could be recorded. */
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
  /** Path of a supervisor of a file; "root" at the top. */
  readonly path: string;
  private readonly fork: Fork;
  private readonly services: Pick<Services, "defects">;
  private readonly scope = Scope.makeUnsafe();
  /** At most one for each child. */
  private readonly exits = new Mailbox<FiberExit>(Number.POSITIVE_INFINITY);
  private readonly workers = new Map<string, Fiber.Fiber<void>>();
  private readonly supervisors = new Map<string, Supervisor>();
  private readonly own: Fiber.Fiber<void>;

  /** Its fiber begins at once, in the scope `above`. `fork` starts a fiber at once. */
  constructor(path: string, above: Scope.Scope, fork: Fork, services: Pick<Services, "defects">) {
    this.path = path;
    this.fork = fork;
    this.services = services;
    this.own = Fiber.runIn(fork(this.live()), above);
  }

  /** Starts the fiber of a worker. `onEnd` is told once, after its last record. */
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

  /** Interrupts every worker below it: their agents run on. */
  letGoOfAll(): void {
    for (const below of this.supervisors.values()) below.letGoOfAll();
    for (const fiber of this.workers.values()) fiber.interruptUnsafe();
  }

  /** Ends its fiber: every worker below it is let go of. */
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
    // One worker's last resort holds up no other's.
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
