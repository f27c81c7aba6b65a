/** The cluster of a daemon: that of its file, or none. */
import { existsSync } from "node:fs";
import { Effect, Option, type Scope } from "effect";
import { HoldfastError } from "../protocol/errors.ts";
import type { ClusterGround } from "./cluster/ground.ts";
import type { NodeSeat } from "./cluster/node.ts";
import { type ClusterApi, NO_STATUS, NOTHING_PLACED, noNode } from "./cluster-api.ts";
import { clusterFile } from "./paths.ts";

const nothing = Effect.succeed(NOTHING_PLACED);

/** Nothing of it, and nothing of Postgres, is loaded before the daemon is a node or is asked to be one. */
export const openCluster = (ground: ClusterGround): Effect.Effect<ClusterApi, never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Effect.scope;
    let opened: Promise<NodeSeat> | undefined;
    let seat: NodeSeat | undefined;
    // A node whose file somebody removed still says so. A seat alone is none: it also makes tables, and stays after a leave.
    const isNode = (): boolean => seat?.isLiving === true || existsSync(clusterFile(ground.stateDir));
    const api = Effect.tryPromise({
      try: async () => {
        opened ??= import("./cluster/node.ts").then((node) =>
          Effect.runPromise(node.NodeSeat.open(ground, scope)),
        );
        seat = await opened;
        return seat;
      },
      catch: (cause) => cause,
    }).pipe(
      // The file may be mended or deleted meanwhile.
      Effect.tapError(() =>
        Effect.sync(() => {
          opened = undefined;
        }),
      ),
      Effect.catch((cause) => (cause instanceof HoldfastError ? Effect.fail(cause) : Effect.die(cause))),
    );
    const ifNode = <Reply>(
      ask: (known: NodeSeat) => Effect.Effect<Reply, HoldfastError>,
      otherwise: Effect.Effect<Reply, HoldfastError>,
    ) => Effect.suspend(() => (isNode() ? Effect.flatMap(api, ask) : otherwise));
    const atNode = <Reply>(ask: (known: NodeSeat) => Effect.Effect<Reply, HoldfastError>) =>
      ifNode(ask, Effect.fail(noNode()));
    // Its agents come first: a daemon runs without its cluster, and tells of that.
    if (isNode())
      yield* Effect.catchCause(api, (cause) =>
        Effect.sync(() =>
          ground.log("error", "this daemon is not a node of its cluster", { cause: String(cause) }),
        ),
      );
    return {
      init: (asked) => Effect.flatMap(api, (known) => known.init(asked)),
      join: (asked) => Effect.flatMap(api, (known) => known.join(asked)),
      leave: atNode((known) => known.leave),
      place: (asked) => atNode((known) => known.place(asked)),
      kill: (worker, how) => ifNode((known) => known.kill(worker, how), Effect.undefined),
      tree: (asked) =>
        ifNode((known) => known.tree(asked), asked.workers.length === 0 ? nothing : Effect.fail(noNode())),
      treeDown: (asked) => ifNode((known) => known.treeDown(asked), nothing),
      copy: {
        records: (asked) => atNode((known) => known.copy.records(asked)),
        workers: (asked) => atNode((known) => known.copy.workers(asked)),
        search: (asked) => atNode((known) => known.copy.search(asked)),
      },
      calls: {
        // Workers of this machine need no seat that could not be opened.
        isNode: () => seat?.calls.isNode() === true,
        where: (ref) => atNode((known) => known.calls.where(ref)),
        ask: (call) => atNode((known) => known.calls.ask(call)),
      },
      questions: Effect.orElseSucceed(
        ifNode((known) => known.questions, Effect.succeed([])),
        () => [],
      ),
      answer: (...asked) => ifNode((known) => known.answer(...asked), Effect.undefined),
      tellingOfBudget: (asked) => atNode((known) => known.tellingOfBudget(asked)),
      drain: (asked) => atNode((known) => known.drain(asked)),
      giveUp: (asked) => atNode((known) => known.giveUp(asked)),
      bury: (ref, how) => Effect.ignore(ifNode((known) => known.bury(ref, how), Effect.void)),
      status: ifNode((known) => known.status, Effect.succeed(NO_STATUS)),
      // A node that could not be opened holds nothing.
      stopping: (end) =>
        Effect.flatMap(Effect.option(opened === undefined ? Effect.fail(noNode()) : api), (known) =>
          Option.isSome(known) ? known.value.stopping(end) : end,
        ),
    };
  });
