/** The desk for requests of other nodes: each is carried out once, as if somebody had asked here (decision 0101). */
import { randomUUID } from "node:crypto";
import { Effect, Fiber, Schedule, type Scope } from "effect";
import {
  CLUSTER_CALL_ANSWER_MAX_CHARS,
  CLUSTER_CALL_SILENT_MS,
  CLUSTER_CALLS_AT_ONCE,
  CLUSTER_CALLS_LOOK_MS,
  CLUSTER_RETRY_MS,
} from "../../base/limits.ts";
import type { CallTable, TakenCall } from "../../cluster/postgres/calls.ts";
import type { Caller } from "../../protocol/caller.ts";
import { encodeTerminal } from "../../protocol/envelope-v1.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome } from "../../protocol/outcome.ts";
import { PROFILES } from "../profiles.ts";
import type { Trouble } from "./trouble.ts";

/** Carries out a request of this daemon. One that may be ended is ended with the fiber, and a command goes on. */
export type AnswerCall = (name: string, data: unknown, caller: Caller) => Effect.Effect<Outcome<object>>;

interface CallDesk {
  readonly node: string;
  readonly calls: CallTable;
  readonly answer: AnswerCall;
  readonly report: Trouble["report"];
}

/** Ends with its scope alone. While the database is away what is under way goes on. */
export const answerCalls = ({
  node,
  calls,
  answer,
  report,
}: CallDesk): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    // It names this daemon as this node.
    const life = randomUUID();
    const underWay = new Map<string, Fiber.Fiber<unknown, unknown>>();
    const carryOut = ({ id, name, data, caller }: TakenCall) =>
      Effect.gen(function* () {
        const startedAt = performance.now();
        const asked = Effect.suspend(() => answer(name, JSON.parse(data), caller as Caller));
        // A defect is an answer, too: the row would be taken again.
        const outcome = yield* Effect.catchDefect(asked, (cause) => Effect.succeed(failed(cause)));
        const text = answerText(name, outcome, performance.now() - startedAt);
        const told = Effect.tryPromise(() => calls.answer(id, text));
        yield* Effect.retry(told, Schedule.spaced(CLUSTER_RETRY_MS));
      }).pipe(Effect.ensuring(Effect.sync(() => underWay.delete(id))));
    const ending = new Set<string>();
    const endUnwanted = Effect.gen(function* () {
      const ids = [...underWay.keys()].filter((id) => !ending.has(id));
      const wanted = new Set(yield* Effect.tryPromise(() => calls.wanted(ids)));
      for (const id of ids) {
        const fiber = underWay.get(id);
        if (fiber === undefined || wanted.has(id)) continue;
        ending.add(id);
        // A command that is under way would hold up the look.
        const ended = Effect.ensuring(
          Fiber.interrupt(fiber),
          Effect.sync(() => ending.delete(id)),
        );
        yield* Effect.forkIn(ended, scope);
      }
    });
    const look = Effect.gen(function* () {
      if (underWay.size > 0) yield* endUnwanted;
      const ids = [...underWay.keys()];
      const room = CLUSTER_CALLS_AT_ONCE - ids.length;
      for (const call of yield* Effect.tryPromise(() => calls.take(node, life, room, ids)))
        underWay.set(call.id, yield* Effect.forkIn(carryOut(call), scope));
    });
    const clear = Effect.tryPromise(() => calls.clear(node, life));
    const told = Effect.tapCause((cause) => Effect.sync(() => report("the requests of other nodes", cause)));
    // Nothing is taken before the rows of an earlier life are gone.
    yield* Effect.retry(told(clear), Schedule.spaced(CLUSTER_RETRY_MS));
    yield* Effect.all(
      [
        Effect.repeat(Effect.exit(told(look)), Schedule.spaced(CLUSTER_CALLS_LOOK_MS)),
        Effect.repeat(Effect.exit(told(clear)), Schedule.spaced(CLUSTER_CALL_SILENT_MS)),
      ],
      { concurrency: "unbounded", discard: true },
    );
  }) as Effect.Effect<void, never, Scope.Scope>;

const failed = (cause: unknown): Outcome<object> => failure(asHoldfastError(cause));

const answerText = (name: string, outcome: Outcome<object>, duration_ms: number): string => {
  const line = (told: Outcome<object>): string =>
    encodeTerminal({ command: name, profiles: PROFILES }, { now_ms: Date.now(), duration_ms }, told);
  const text = line(outcome);
  if (text.length <= CLUSTER_CALL_ANSWER_MAX_CHARS) return text;
  return line(
    failure(
      new HoldfastError(
        "OUTPUT_TOO_LARGE",
        `The answer of another node has at most ${CLUSTER_CALL_ANSWER_MAX_CHARS} characters.`,
        { suggestion: "Ask the node itself, with agent --host NODE." },
      ),
    ),
  );
};
