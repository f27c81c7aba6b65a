/** `agent up` and `agent down`: brings a tree in line with its file, and takes it down in order. */
import { Effect } from "effect";
import { HoldfastError } from "../../protocol/errors.ts";
import { withClientEnvironment } from "../../protocol/tree.ts";
import { topOf } from "../../supervisor/tree/state.ts";
import type { RuntimeApi } from "../api.ts";
import { askerOfAll } from "../authority/asker.ts";
import type { Schedules } from "../control/schedules.ts";
import type { Core } from "../core.ts";
import type { Forest } from "../trees/forest.ts";
import type { Tree } from "../trees/tree-decider.ts";

export const applyingTrees =
  (
    { admission, authority }: Pick<Core, "admission" | "authority">,
    forest: Forest,
    schedules: Pick<Schedules, "ofFile">,
  ): RuntimeApi["applyTree"] =>
  (asked, { dry_run = false, client_env = {}, ending = [], ...how } = {}) =>
    Effect.gen(function* () {
      const spec = withClientEnvironment(asked, client_env);
      if (admission.isClosed())
        return yield* Effect.fail(new HoldfastError("UNAVAILABLE", "The runtime is shutting down."));
      const by = yield* askerOfAll(authority, how, "bring up a tree");
      const file = yield* schedules.ofFile(spec.name, spec.schedules ?? [], by);
      const applied = yield* forest.apply(spec, { dry_run, by, ending: dry_run ? ending : [] });
      if (!dry_run) yield* file.commit;
      return { ...applied, changes: [...applied.changes, ...file.changes] };
    });

export const takingTreesDown =
  (
    { authority }: Pick<Core, "authority">,
    forest: Forest,
    schedules: Pick<Schedules, "ofFile">,
  ): RuntimeApi["downTree"] =>
  (name, { file, dry_run = false, ...how } = {}) =>
    Effect.gen(function* () {
      const by = yield* askerOfAll(authority, how, "take a tree down");
      const tree = forest.trees().find((one) => one.name === name);
      if (tree === undefined) return yield* Effect.fail(noTree(name));
      if (file !== undefined && file !== tree.state().file) return yield* Effect.fail(ofAnother(tree));
      const ofTree = yield* schedules.ofFile(name, [], by);
      const paths = [...tree.state().members.values()].map(({ path }) => path);
      const reason = "its tree was taken down";
      const changes = [
        ...paths.map((path) => ({ path, action: "remove" as const, reason })),
        ...ofTree.changes,
      ];
      if (dry_run) return { tree: name, changes, state: topOf(tree.state()).phase };
      // Remove the schedules first, so that none starts a worker of a tree that is taken down.
      yield* ofTree.commit;
      yield* forest.ask(tree, name, "down", by, "");
      while (forest.trees().includes(tree)) yield* forest.next(tree);
      return { tree: name, changes, state: "terminated" as const };
    });

const noTree = (name: string): HoldfastError =>
  new HoldfastError("WORKER_NOT_FOUND", `No tree is called "${name}".`, {
    suggestion: "See the trees with `agent tree`.",
  });

const ofAnother = ({ name, state }: Tree): HoldfastError =>
  new HoldfastError("ALREADY_EXISTS", `The tree "${name}" belongs to ${state().file}.`, {
    suggestion: `Take it down by its name: \`agent down ${name}\`.`,
  });
