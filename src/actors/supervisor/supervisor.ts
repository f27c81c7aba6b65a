/**
 * A supervisor as a fiber. Its scope holds the fibers of its children: workers, and supervisors below it. When it ends, all
 * of them let go of their agents. It hears the exit of each worker: a defect there is handled here, and no sibling is touched.
 */
import { Cause, Effect, Exit, Fiber, Scope } from "effect";
import { Inbox } from "../machine/inbox.ts";
import type { Services } from "../ports.ts";

/** A worker, as its supervisor's fiber sees it. */
export interface Supervised {
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

export interface Supervisor {
  /** Path of a supervisor of a file; "root" at the top. */
  readonly path: string;
  /** Starts the fiber of a worker. `onEnd` is told once, after its last record. */
  start(worker: Supervised, onEnd: OnEnd): void;
  /** Interrupts every worker below it: their agents run on. */
  letGoOfAll(): void;
  /** Starts the fiber of a supervisor below it. */
  below(path: string): Supervisor;
  /** Ends its fiber: every worker below it is let go of. */
  end(): void;
  isIdle(): boolean;
  view(): FiberView;
}

/** The end of a worker's fiber; `unrecorded`: not even the end of its worker could be recorded. */
export type WorkerFiberEnd =
  | { readonly type: "over" | "let_go" }
  | { readonly type: "unrecorded"; readonly failure: unknown };

type OnEnd = (worker: Supervised, end: WorkerFiberEnd) => void;

interface Ended {
  readonly worker: Supervised;
  readonly exit: Exit.Exit<void>;
  readonly onEnd: OnEnd;
}

/** Its fiber lives in the scope `above`. `fork` starts a fiber at once. */
export const makeSupervisor = (
  path: string,
  above: Scope.Scope,
  fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>,
  services: Pick<Services, "defects">,
  onOver: () => void = () => undefined,
): Supervisor => {
  const scope = Scope.makeUnsafe();
  const exits = new Inbox<Ended>();
  const workers = new Map<string, Fiber.Fiber<void>>();
  const supervisors = new Map<string, Supervisor>();

  const handle = ({ worker, exit, onEnd }: Ended): Effect.Effect<void> => {
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
  /** One worker's last resort holds up no other's. */
  const hear = Effect.flatMap(
    Effect.suspend(() => exits.take()),
    (ended) =>
      Effect.forkIn(
        Effect.catchDefect(handle(ended), (defect) =>
          Effect.sync(() => services.defects.tell(`supervisor ${path}`, defect)),
        ),
        scope,
        { startImmediately: true },
      ),
  );
  const letGo = Effect.suspend(() => Fiber.interruptAll(workers.values()));
  const body = Effect.ensuring(
    Effect.forever(hear, { disableYield: true }),
    Effect.andThen(letGo, Scope.close(scope, Exit.void)),
  );
  const own = Fiber.runIn(fork(body), above);
  own.addObserver(onOver);

  return {
    path,
    start: (worker, onEnd) => {
      const fiber = fork(worker.live());
      workers.set(worker.id, fiber);
      fiber.addObserver((exit) => {
        if (workers.get(worker.id) === fiber) workers.delete(worker.id);
        // Nobody hears it any more where the supervisor has let go of all.
        exits.post({ worker, exit, onEnd });
      });
    },
    letGoOfAll: () => {
      for (const below of supervisors.values()) below.letGoOfAll();
      for (const fiber of workers.values()) fiber.interruptUnsafe();
    },
    below: (child) => {
      const made = makeSupervisor(child, scope, fork, services, () => supervisors.delete(child));
      supervisors.set(child, made);
      return made;
    },
    end: () => own.interruptUnsafe(),
    isIdle: () => workers.size === 0 && [...supervisors.values()].every((one) => one.isIdle()),
    view: () => ({
      name: path,
      fiber: own.id,
      children: [
        ...[...supervisors.values()].map((one) => one.view()),
        ...[...workers].map(([name, { id }]) => ({ name, fiber: id, children: [] })),
      ],
    }),
  };
};
