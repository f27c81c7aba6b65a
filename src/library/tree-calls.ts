/** `applyTree` of both doors: a tree in code or of the wire, with the defaults of `spawn`; and the wait until it is up. */
import { resolve } from "node:path";
import { Effect } from "effect";
import type { Registry } from "../adapters/registry.ts";
import { TREE_POLL_MS } from "../base/limits.ts";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { SupervisorNodeInput, TreeNodeSpec, TreeSpec, TreeSpecInput } from "../protocol/tree.ts";
import { culpritOf, type FinalStanding, notUp, progressOf, treeIn } from "../protocol/tree-standing.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import type { AppliedReply } from "../runtime/replies.ts";
import { completed, namedIn, namesOfVariables, sentEnvironment } from "./asked.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked, invalid, optionsOf } from "./checked.ts";
import type { ApplyTreeOptions, SupervisorDefinition, TreeDefinition, WorkerDefinition } from "./trees.ts";

export const applyAs = (
  api: RuntimeCalls,
  registry: Registry,
  tree: TreeDefinition,
  options: Omit<ApplyTreeOptions, "signal">,
): Effect.Effect<AppliedReply, HoldfastError> =>
  Effect.gen(function* () {
    const {
      tree: spec,
      wait,
      ...how
    } = yield* Effect.try({
      try: () => requestOf(registry, tree, options),
      catch: asHoldfastError,
    });
    const reply = yield* api.applyTree(spec, how);
    if (!wait || how.dry_run) return reply;
    const standing = yield* standingOf(api, reply.tree);
    if (standing.is === "up") return { ...reply, state: standing.state };
    return yield* whyNot(api, reply.tree, standing);
  });

const requestOf = (registry: Registry, given: TreeDefinition, options: Omit<ApplyTreeOptions, "signal">) => {
  const { owner, wait, dry_run, ...unknown } = optionsOf(options);
  const problems = Object.keys(unknown).map((key) => `options: there is no option "${key}"`);
  if (wait !== undefined && wait !== "ready") problems.push('options.wait: it is "ready" or absent');
  if (problems.length > 0) throw invalid(problems);
  const input = optionsOf(given);
  const asked = checked("tree/apply", {
    tree: "root" in input ? input : ofCode(registry, input, owner),
    dry_run,
  });
  // Once for all workers: a copy in each would make the request too large.
  const named = [...registry.all.flatMap(namesOfVariables), ...specsOf(asked.tree).flatMap(namedIn)];
  return {
    tree: asked.tree,
    dry_run: asked.dry_run,
    client_env: sentEnvironment(named),
    wait: wait === "ready",
  };
};

const ofCode = (registry: Registry, top: SupervisorDefinition, owner: string | undefined): TreeSpecInput => ({
  name: top.name,
  file: owner ?? resolve(process.argv[1] ?? "."),
  root: supervisorOf(registry, top),
});

const supervisorOf = (registry: Registry, given: SupervisorDefinition): SupervisorNodeInput => {
  const { depends_on, restart_period_ms, ...config } = optionsOf(given.options);
  return {
    type: "supervisor",
    name: given.name,
    config: { ...config, ...(restart_period_ms !== undefined && { period_ms: restart_period_ms }) },
    ...(depends_on !== undefined && { depends_on }),
    children: given.children.map((child) =>
      child.type === "supervisor" ? supervisorOf(registry, child) : workerOf(registry, child),
    ),
  };
};

const workerOf = (registry: Registry, { name, options }: WorkerDefinition) => {
  const { depends_on, ...asked } = optionsOf(options);
  return {
    type: "worker" as const,
    name,
    spec: completed(registry, asked),
    ...(depends_on !== undefined && { depends_on: [...depends_on] }),
  };
};

const specsOf = ({ root, schedules = [] }: TreeSpec): readonly WorkerSpec[] => {
  const within = (node: TreeNodeSpec): readonly WorkerSpec[] =>
    node.type === "worker" ? [node.spec] : node.children.flatMap(within);
  return [...within(root), ...schedules.map(({ spec }) => spec)];
};

/** Waits until the tree is up, or cannot come up. */
const standingOf = (api: RuntimeCalls, tree: string): Effect.Effect<FinalStanding, HoldfastError> =>
  Effect.gen(function* () {
    for (;;) {
      const standing = progressOf(treeIn(yield* api.tree(), tree));
      if (standing.is !== "on its way") return standing;
      yield* Effect.sleep(TREE_POLL_MS);
    }
  });

const whyNot = (
  api: RuntimeCalls,
  tree: string,
  standing: Exclude<FinalStanding, { readonly is: "up" }>,
): Effect.Effect<never, HoldfastError> =>
  Effect.gen(function* () {
    const failed = standing.is === "failed" ? standing.workers : [];
    const infos = yield* Effect.forEach(failed, (worker) =>
      Effect.map(api.info(worker.id), ({ error, incarnation }) => ({ ...worker, error, incarnation })),
    );
    return yield* Effect.fail(notUp(tree, standing, culpritOf(infos)));
  });
