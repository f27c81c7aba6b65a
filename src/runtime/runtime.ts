/**
 * The runtime: one dynamic one_for_one supervisor over all workers and trees, and the facade that the daemon, the library and tests
 * use. It holds the living parts (fibers, mailboxes, processes); the log holds the truth.
 */
import { Effect, type Scope } from "effect";
import { containing } from "../actors/defects.ts";
import { attempt } from "../actors/machine/attempt.ts";
import { containedTrace } from "../actors/trace.ts";
import type { Registry } from "../adapters/registry.ts";
import { RETENTION_DEFAULT_MS, WORKERS_LIVE_MAX } from "../base/limits.ts";
import type { HoldfastError } from "../protocol/errors.ts";
import type { ConfiguredTerms } from "../protocol/federation-configuration.ts";
import { DAEMON_STREAM } from "../protocol/records.ts";
import type { Roles } from "../protocol/roles.ts";
import { LIMITS, type Limits } from "../supervisor/admission/seats.ts";
import { startKindOf } from "../supervisor/boot/start-kind.ts";
import type { RuntimeApi } from "./api.ts";
import { recoverAll, retryRecovery } from "./boot/boot.ts";
import { tellEpoch } from "./boot/epochs.ts";
import { watchOrphans } from "./boot/orphans.ts";
import { makeSettled } from "./boot/settled.ts";
import { Answers } from "./commands/answers.ts";
import { Approvals } from "./commands/approvals.ts";
import { Asking } from "./commands/asking.ts";
import { AskingByMailbox } from "./commands/asking-by-mailbox.ts";
import { Caring } from "./commands/care.ts";
import { type ForEachRef, makeEach } from "./commands/each.ts";
import { Ends } from "./commands/ends.ts";
import { Inbox } from "./commands/inbox.ts";
import { makeJobs } from "./commands/jobs.ts";
import { Killing } from "./commands/kill.ts";
import { Messaging, tellingLost } from "./commands/messages.ts";
import { makePausing } from "./commands/pause.ts";
import { Restarting } from "./commands/restart.ts";
import { makeResuming } from "./commands/resume.ts";
import { Shutdown } from "./commands/shutdown.ts";
import { Spawning } from "./commands/spawn.ts";
import { SpawningMany } from "./commands/spawn-many.ts";
import { applyingTrees, takingTreesDown } from "./commands/trees.ts";
import { makeWait } from "./commands/wait.ts";
import { makeBlackboard } from "./control/blackboard.ts";
import { makeBoards } from "./control/boards.ts";
import { Boxes } from "./control/boxes.ts";
import { Mailboxes } from "./control/mailboxes.ts";
import { PeerRegistry } from "./control/peers.ts";
import { makeSchedules } from "./control/schedules.ts";
import { type SkillGround, skillGround } from "./control/skill-ground.ts";
import { Tokens } from "./control/tokens.ts";
import { type Core, makeCore, type RuntimeServices } from "./core.ts";
import { Heartbeats } from "./heartbeats.ts";
import { ChangesReader } from "./reading/changes.ts";
import { makeQueries } from "./reading/queries.ts";
import { namesApproval } from "./resolve.ts";
import { skillsOnDemand } from "./skills-api.ts";
import { forkTicks, rememberGaps } from "./ticks.ts";
import { type Forest, findSupervisor, makeForest } from "./trees/forest.ts";

export interface RuntimeOptions {
  readonly version: string;
  readonly state_dir: string;
  readonly registry: Registry;
  /** Missing fields have their defaults. */
  readonly limits?: Partial<Limits>;
  readonly retention_ms?: number;
  readonly retention_bytes?: number | undefined;
  /** Default: the skills of the state directory, and the profiles without a configuration. */
  readonly skills?: SkillGround;
  /** Beside the built-in ones. */
  readonly roles?: Roles | undefined;
  /** Terms of peers, by the names of their hubs. */
  readonly peers?: ConfiguredTerms | undefined;
}

/** Missing fields have their defaults. */
const allLimits = ({ workers_max = WORKERS_LIVE_MAX }: RuntimeServices, given?: Partial<Limits>): Limits => ({
  ...LIMITS,
  live_max: workers_max,
  running_max: workers_max,
  ...given,
});

export const makeRuntime = (
  given: RuntimeServices,
  options: RuntimeOptions,
): Effect.Effect<RuntimeApi, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const services = { ...given, trace: containedTrace(given.trace, given.defects) };
    const { all, suggestKind: suggest, isOutdated, refused } = options.registry;
    const kinds = { all, suggest, isOutdated, isPartial: refused.length > 0 };
    const core = yield* makeCore(services, kinds, allLimits(services, options.limits));
    const forest = yield* makeForest(core);
    const each = makeEach(core, forest);
    const ends = new Ends(core, forest);
    const killing = new Killing(core, forest, ends, each);
    const spawning = new Spawning(core, forest);
    const restarting = new Restarting(core, forest, ends, each, spawning);
    const approvals = new Approvals(core);
    const inbox = new Inbox(core, forest, approvals);
    const answers = new Answers(core, forest, approvals);
    const changes = new ChangesReader(core, each);
    const heartbeats = new Heartbeats(core);
    const settled = yield* booted(core, forest, heartbeats, options.version);
    const schedules = yield* makeSchedules(core, { spawn: spawning.spawn, kill: killing.kill });
    const applyTree = applyingTrees(core, forest, schedules);
    const downTree = takingTreesDown(core, forest, schedules);
    const ending = new Shutdown(core, forest, killing, downTree);
    const retention = { retention_ms: RETENTION_DEFAULT_MS, ...options };
    const queries = makeQueries(core, forest, heartbeats, retention, () => ending.isOver());
    const blackboard = yield* makeBlackboard(core, queries);
    const messaging = new Messaging(core);
    const mailbox = new Mailboxes(core, yield* Boxes.open(core));
    const asking = new Asking(core, messaging, new AskingByMailbox(core, mailbox, ends), queries.watch);
    yield* messaging.tellLost;
    yield* Effect.forkScoped(tellingLost(messaging.tellLost, services));
    const wait = makeWait(core, ends);
    const board = yield* makeBoards(core, queries, { spawn: spawning.spawn, ends });
    const calls = { ...queries, spawn: spawning.spawn, kill: killing.kill, wait };
    const { skills: ground = skillGround(options.state_dir) } = options;
    const openSkills = async () =>
      new (await import("./control/skills.ts")).Skills(core, ground, { spawning, killing, ends });
    const tokens = new Tokens(core);
    const peers = new PeerRegistry(core, killing.kill, options.peers === undefined ? {} : options.peers);
    return {
      ...calls,
      jobs: makeJobs(calls),
      blackboard,
      board,
      mailbox,
      schedules,
      tokens,
      peers,
      principalOf: tokens.principalOf,
      tree: () => Effect.map(queries.tree(), schedules.inTree),
      skills: skillsOnDemand(openSkills),
      send: messaging.send,
      messages: messaging.messages,
      ask: asking.ask,
      approvals: approvals.approvals,
      approve: approvals.approve,
      cancel: approvals.cancel,
      ...makePausing(core, each),
      ...caringFor(core, forest, each),
      changes: changes.changes,
      removeWorktrees: changes.removeWorktrees,
      inbox: inbox.inbox,
      answer: answers.answer,
      spawnMany: new SpawningMany(core, calls, options.roles ?? {}).spawnMany,
      resume: makeResuming(core, spawning.spawn),
      ...callersOf(core),
      hasOther: (ref) => findSupervisor(forest, ref) !== undefined || namesApproval(core.services.views, ref),
      applyTree,
      downTree,
      restart: restarting.restart,
      settled,
      shutdown: ending.shutdown,
    };
  });

const caringFor = (
  core: Core,
  forest: Forest,
  each: ForEachRef,
): Pick<RuntimeApi, "archive" | "rename" | "prune"> => {
  const { archive, rename, prune } = new Caring(core, forest, each);
  return { archive, rename, prune };
};

const callersOf = ({ authority: { identify, identifyIn, permitAll, permitStart } }: Core) => ({
  identify,
  identifyIn,
  permitAll,
  permitStart,
});

/** Takes over the workers and trees of an earlier daemon, then starts the periodic checks. Returns `settled`. */
const booted = (
  core: Core,
  forest: Forest,
  heartbeats: Heartbeats,
  version: string,
): Effect.Effect<Effect.Effect<void>, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const { services, commit } = core;
    const { log, boot_id, defects } = services;
    const start = yield* attempt(() =>
      startKindOf(log.daemonStream(["daemon_started", "daemon_stopped"]), boot_id),
    );
    yield* tellEpoch(core);
    const { pid, version: node } = process;
    const payload = { start, version, pid, node, clock: core.now().clock };
    yield* commit([{ type: "daemon_started", stream: DAEMON_STREAM, payload }], { holds: true });
    yield* rememberGaps(core);
    const ofTrees = yield* forest.recover;
    const missing = yield* recoverAll(core, (id) => ofTrees.has(id));
    const settled = makeSettled(core);
    yield* forkTicks(core, heartbeats);
    const again = retryRecovery(core, missing);
    yield* Effect.forkScoped(containing(defects, "looking up workers that the boot could not", again));
    yield* Effect.forkScoped(forest.reconciling);
    yield* Effect.forkScoped(watchOrphans(core));
    return settled;
  });
