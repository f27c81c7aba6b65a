/** tree/*: starts and stops the tree of a file: here, and on the cluster where it places workers (decision 0083). */
import { Effect } from "effect";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import { placementProblems, splitTree } from "../../protocol/placed-tree.ts";
import { treeIn } from "../../protocol/tree-standing.ts";
import { NOTHING_PLACED, type PlacedTree } from "../cluster-api.ts";
import { invalidRequest } from "../request.ts";
import { type Handlers, keyed, type RequestHandler } from "./handler.ts";
import { takeDowns } from "./takedowns.ts";

const apply: RequestHandler<"tree/apply"> = {
  lifetime: "command",
  run: ({ runtime, cluster, caller }, { tree, dry_run, client_env }) =>
    Effect.gen(function* () {
      const problems = placementProblems(tree).map(
        ({ path, message }) => `${path || tree.name}: ${message}.`,
      );
      if (problems.length > 0) return yield* Effect.fail(invalidRequest(problems));
      const { here, placed: workers, budget } = splitTree(tree);
      const who = caller();
      const how = { client_env, caller: who };
      const owner = { tree: tree.name, file: tree.file };
      const looked = yield* looking(cluster.tree({ owner, workers, budget, caller: who }));
      // The workers of this machine need no cluster.
      if (looked._tag === "Failure" && workers.length > 0) return yield* Effect.fail(looked.failure);
      const unseen = looked._tag === "Failure" ? { unseen: looked.failure.message } : {};
      const placed = looked._tag === "Failure" ? NOTHING_PLACED : looked.success;
      const isLocal = placed.changes.length === 0;
      const ending = placed.changes.flatMap(({ path, action }) => (action === "remove" ? [path] : []));
      if (isLocal || dry_run) {
        const reply = yield* runtime.applyTree(here, { ...how, dry_run, ending });
        return success({ ...reply, changes: [...reply.changes, ...placed.changes], ...unseen });
      }
      // Nothing is changed on the cluster for a file that this daemon refuses.
      const { changes } = yield* runtime.applyTree(here, { ...how, dry_run: true, ending });
      const moving = changes.flatMap(({ path, action }) =>
        action === "remove" && workers.some(({ name }) => name === path) ? [path] : [],
      );
      // Nobody waits for one that is not known any more.
      const known = yield* Effect.forEach(moving, (path) => Effect.option(runtime.resolve(path)));
      const ids = known.flatMap((id) => (id._tag === "Some" ? [id.value] : []));
      yield* placed.end;
      const reply = yield* runtime.applyTree(here, how);
      // A worker that was one of this machine ends before the cluster starts it.
      if (ids.length > 0) yield* runtime.wait(ids);
      const waiting = yield* placed.start;
      const all = { ...reply, changes: [...reply.changes, ...placed.changes] };
      return success(waiting.length === 0 ? all : { ...all, waiting });
    }),
};

const down: RequestHandler<"tree/down"> = {
  lifetime: "command",
  run: ({ runtime, cluster, caller }, { name: tree, file, dry_run }) =>
    Effect.gen(function* () {
      const who = caller();
      const owner = file ?? treeIn(yield* runtime.tree(), tree)?.file;
      const how = { caller: who, dry_run, ...(file === undefined ? {} : { file }) };
      const here = yield* Effect.result(runtime.downTree(tree, how));
      const isHere = here._tag === "Success";
      if (!isHere && here.failure.code !== "WORKER_NOT_FOUND") return yield* Effect.fail(here.failure);
      // A cluster that does not answer keeps nothing of this machine alive.
      const looked = yield* looking(cluster.treeDown({ tree, file: owner, caller: who }));
      if (looked._tag === "Failure" && isHere && dry_run)
        return success({ ...here.success, unseen: looked.failure.message });
      if (looked._tag === "Failure")
        return yield* Effect.fail(isHere ? notSeen(tree, looked.failure) : looked.failure);
      const placed = looked.success;
      if (!isHere && placed.changes.length === 0) return yield* Effect.fail(here.failure);
      if (!dry_run) yield* placed.end;
      const reply = isHere
        ? here.success
        : { tree, changes: [], state: dry_run ? ("running" as const) : ("terminated" as const) };
      return success({ ...reply, changes: [...reply.changes, ...placed.changes] });
    }),
};

/** Also what nobody expected, such as a file that cannot be read, is a failure of the look alone. */
const looking = (look: Effect.Effect<PlacedTree, HoldfastError>) =>
  Effect.result(Effect.catchDefect(look, (defect) => Effect.fail(asHoldfastError(defect))));

const notSeen = (tree: string, { code, message }: HoldfastError): HoldfastError =>
  new HoldfastError(
    code,
    `The tree ${tree} is stopped here, and its workers on the cluster, if it has any, are not: ${message}`,
    { suggestion: "Run the same command again when the cluster answers: agent cluster status" },
  );

export const TREES: Handlers<"tree/apply" | "tree/down"> = {
  "tree/apply": keyed({
    ...apply,
    run: (services, asked, ...rest) => {
      const up = apply.run(services, asked, ...rest);
      return asked.dry_run ? up : takeDowns(services.runtime).after(asked.tree.name, up);
    },
  }),
  "tree/down": keyed({
    ...down,
    run: (services, asked, ...rest) =>
      takeDowns(services.runtime).during(asked.name, down.run(services, asked, ...rest)),
  }),
};
