/**
 * Mistakes that somebody could make: each is wrong in one place, and some test must say so. `find` stands exactly once in
 * its file, so a mutant that the code has outgrown fails loudly.
 */
export interface Mutant {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** The failure that it brings. */
  readonly why: string;
  /** The test file that finds it. */
  readonly by: string;
}

const sup = (name: string): string => `test/supervisor/${name}.unit.test.ts`;
const FUZZ = "test/protocol/validate/fuzz.unit.test.ts";
const SIM = "test/sim/simulator.unit.test.ts";

const OPERATIONS = "src/supervisor/tree/operations.ts";
const PAUSE = "src/supervisor/holds/pause.ts";
const WINDOW = "src/supervisor/restart/window.ts";
const DECIDE = "src/supervisor/child/decide.ts";
const EVOLVE = "src/supervisor/child/evolve.ts";
const RECONCILE = "src/supervisor/boot/reconcile.ts";
const TREE = "src/supervisor/tree/decide.ts";
const SIGNIFICANT = "src/supervisor/tree/significant.ts";
const PLAN = "src/supervisor/tree/plan.ts";
const FOLD = "src/supervisor/tree/evolve.ts";
const DRAFT = "src/supervisor/tree/draft.ts";
const MACHINE = "src/actors/machine/worker-machine.ts";

export const MUTANTS: readonly Mutant[] = [
  {
    file: WINDOW,
    find: "now - at <= periodMs",
    replace: "now - at < periodMs",
    why: "a restart exactly a period ago is out of the window",
    by: sup("restart/window"),
  },
  {
    file: WINDOW,
    find: "exceeded: kept.length > max",
    replace: "exceeded: kept.length >= max",
    why: "one restart less than allowed is too many",
    by: sup("restart/window"),
  },
  {
    file: WINDOW,
    find: "exceeded: count > config.max_restarts",
    replace: "exceeded: count >= config.max_restarts",
    why: "a supervisor gives up one restart early",
    by: sup("otp/restart"),
  },
  {
    file: WINDOW,
    find: "decay_ms * HALF_LIVES_KEPT",
    replace: "decay_ms",
    why: "failures are forgotten after one half-life",
    by: sup("suture/services"),
  },
  {
    file: WINDOW,
    find: "0.5 ** ((now",
    replace: "0.9 ** ((now",
    why: "failures decay too slowly",
    by: sup("suture/services"),
  },
  {
    file: "src/base/backoff.ts",
    find: "Math.min(attempt - 1, 52)",
    replace: "Math.min(attempt, 52)",
    why: "the first delay is twice the shortest",
    by: "test/base/backoff.unit.test.ts",
  },
  {
    file: RECONCILE,
    find: 'observed === "running"',
    replace: 'observed !== "lost"',
    why: "a boot adopts what has ended",
    by: sup("boot/reconcile"),
  },
  {
    file: RECONCILE,
    find: "Math.max(0, child.due_ms - nowMs)",
    replace: "child.due_ms - nowMs",
    why: "a boot waits a negative time",
    by: sup("boot/reconcile"),
  },
  {
    file: RECONCILE,
    find: 'if (isEnded(child.state)) return { type: "leave" };',
    replace: "",
    why: "a boot starts what has ended",
    by: sup("boot/reconcile"),
  },
  {
    file: EVOLVE,
    find: "Math.min(Math.max(ago, 0), Math.max(periodMs, longest))",
    replace: "Math.max(ago, 0)",
    why: "a wall clock that jumped empties the windows",
    by: sup("boot/reconcile"),
  },
  {
    file: EVOLVE,
    find: "ready: !child.awaits_ready",
    replace: "ready: true",
    why: "nobody waits until a child is ready",
    by: sup("tree/readiness"),
  },
  {
    file: EVOLVE,
    find: "tombstone: tombstone || child.tombstone,",
    replace: "tombstone: false,",
    why: "a kill leaves no tombstone",
    by: SIM,
  },
  {
    file: MACHINE,
    find: 'after: { grace: "killing" }',
    replace: 'after: { grace: "terminating" }',
    why: "who ignores TERM is never killed",
    by: "test/actors/machine/worker-machine.unit.test.ts",
  },
  {
    file: MACHINE,
    find: '{ guard: "stopPending", target: "stopping" },',
    replace: "",
    why: "a stop that comes before the agent runs is lost",
    by: "test/actors/machine/worker-machine.unit.test.ts",
  },
  {
    file: "src/supervisor/child/verdict.ts",
    find: '(policy === "transient" && !completed)',
    replace: '(policy === "transient" && completed)',
    why: "a transient child is restarted after a good end, not after a bad one",
    by: sup("otp/termination"),
  },
  {
    file: DECIDE,
    find: '(type === "adopted" || type === "exited") && !child.open',
    replace: 'type === "adopted" && !child.open',
    why: "an exit that is told twice is recorded twice",
    by: sup("tree/late"),
  },
  {
    file: DECIDE,
    find: 'if (stop?.kind === "restart") return { type: "again", cause: RESTART_BY_USER };',
    replace: "",
    why: "a restart by name counts as a failure",
    by: sup("tree/late"),
  },
  {
    file: OPERATIONS,
    find: "names.slice(names.indexOf(failed.name))",
    replace: "names.slice(names.indexOf(failed.name) + 1)",
    why: "rest_for_one forgets the one that failed",
    by: sup("tree/strategies"),
  },
  {
    file: OPERATIONS,
    find: 'case "one_for_all":\n      return names;',
    replace: 'case "one_for_all":\n      return [failed.name];',
    why: "one_for_all restarts one",
    by: sup("tree/strategies"),
  },
  {
    file: OPERATIONS,
    find: 'phase === "starting" && operation?.kind === "start"',
    replace: 'phase === "starting" && operation?.kind === "stop"',
    why: "a first start that fails goes on with the next child",
    by: sup("otp/start"),
  },
  {
    file: PLAN,
    find: "operation?.anew?.includes(name) ?? true",
    replace: "true",
    why: "what is only waited for is stopped with what has changed",
    by: sup("tree/readiness"),
  },
  {
    file: TREE,
    find: 'end === "intensity" && config.on_intensity === "park"',
    replace: 'config.on_intensity === "park" && end === "killed"',
    why: "a supervisor that shall park escalates",
    by: sup("suture/services"),
  },
  {
    file: TREE,
    find: 'config.restart !== "permanent"',
    replace: 'config.restart === "temporary"',
    why: "a transient supervisor that gave up is restarted",
    by: sup("otp/termination"),
  },
  {
    file: SIGNIFICANT,
    find: 'config.auto_shutdown === "all" &&',
    replace: 'config.auto_shutdown === "any" &&',
    why: "the first significant end is taken for the last",
    by: sup("otp/significant"),
  },
  {
    file: TREE,
    find: 'if (input.type === "restart" && !isInService(draft.tree, before.supervisor)) return;',
    replace: "",
    why: "a worker is started below a supervisor that has ended",
    by: sup("tree/late"),
  },
  {
    file: TREE,
    find: 'if (config.strategy === "dynamic" && !parks)',
    replace: 'if (config.strategy === "dynamic" && parks)',
    why: "dynamic children outlive their supervisor's life",
    by: sup("otp/children"),
  },
  {
    file: "src/actors/deciding/joining.ts",
    find: "if (other === undefined) break;",
    replace: "if (other === undefined) continue;",
    why: "an input overtakes one that is decided alone",
    by: "test/actors/deciding/joining.unit.test.ts",
  },
  {
    file: PLAN,
    find: "of alive.toReversed()",
    replace: "of alive",
    why: "children are stopped left to right",
    by: sup("tree/strategies"),
  },
  {
    file: PLAN,
    find: "if (isTombstone(tree, ref) || isUp(tree, ref)) continue;",
    replace: "if (isUp(tree, ref)) continue;",
    why: "a restart of the group raises who was killed by name",
    by: sup("otp/children"),
  },
  {
    file: PLAN,
    find: "if (nowMs < operation.due_ms) return undefined;",
    replace: "",
    why: "nobody waits for the backoff",
    by: sup("suture/services"),
  },
  {
    file: PLAN,
    find: "if (!isUnordered(tree, supervisor, ref)) return undefined;",
    replace: "",
    why: "the next child is started before this one is up",
    by: sup("tree/readiness"),
  },
  {
    file: PLAN,
    find: 'config.strategy === "one_for_one" && worker_id',
    replace: "worker_id",
    why: "children start side by side whose strategy orders them",
    by: sup("tree/side-by-side"),
  },
  {
    file: PLAN,
    find: "needed.has(ref.path) || !isUnordered",
    replace: "!isUnordered",
    why: "a child is stopped beside what it depends on",
    by: sup("tree/side-by-side"),
  },
  {
    file: PLAN,
    find: 'return isWaiting ? undefined : { type: "start_supervisor", path: ref.path };',
    replace: 'return { type: "start_supervisor", path: ref.path };',
    why: "a supervisor starts before the children before it are up",
    by: sup("tree/side-by-side"),
  },
  {
    file: PLAN,
    find: "if (launches >= TREE_STARTS_MAX) return undefined;",
    replace: "",
    why: "all children of a supervisor are launched at the same time, however many",
    by: sup("tree/side-by-side"),
  },
  {
    file: PLAN,
    find: "turn.length >= TREE_STOPS_MAX",
    replace: "false",
    why: "all children of a supervisor are stopped at the same time, however many",
    by: sup("tree/side-by-side"),
  },
  {
    file: PLAN,
    find: "if (!ref.depends_on.every((path) => isReady(tree, path))) return undefined;",
    replace: "",
    why: "a child does not wait for what it depends on",
    by: sup("tree/readiness"),
  },
  {
    file: EVOLVE,
    find: "const cause = restartCause(record.payload);",
    replace: "const cause = restartCause({ reason: record.payload.reason, restarts_in_window: 0 });",
    why: "the sentence of a restart decides whether it counts",
    by: sup("restart/restart-cause"),
  },
  {
    file: "src/protocol/restart-cause.ts",
    find: "if (restarts_in_window > 0) return RESTART_ENDED;",
    replace: "",
    why: "in an early log an agent's message decides whether its restart counts",
    by: sup("restart/restart-cause"),
  },
  {
    file: EVOLVE,
    find: "cause === RESTART_BY_USER ? [] : child.restarts",
    replace: "child.restarts",
    why: "a restart by name goes on in a full window",
    by: sup("restart/restart-cause"),
  },
  {
    file: FOLD,
    find: "old.restarts.filter(({ child }) => child !== name)",
    replace: "old.restarts",
    why: "a supervisor goes on counting what was restarted by name",
    by: sup("restart/restart-cause"),
  },
  {
    file: OPERATIONS,
    find: 'operation?.end === "down" ? "down" : end',
    replace: "end",
    why: "a kill takes the place of a down, whose tree is never removed",
    by: sup("tree/down"),
  },
  {
    file: OPERATIONS,
    find: 'operation?.end === "down" ? "down" : end,',
    replace: "end,",
    why: "the simulator meets a down that a kill has taken the place of",
    by: SIM,
  },
  {
    file: TREE,
    find: "isBeingEnded(before) || !isInService",
    replace: "!isInService",
    why: "a restart undoes the kill that is on its way",
    by: sup("tree/down"),
  },
  {
    file: PLAN,
    find: "started.has(ref.name) || staysDown(tree, supervisor, ref)",
    replace: "started.has(ref.name)",
    why: "a temporary child comes back with its group",
    by: sup("otp/termination"),
  },
  {
    file: FOLD,
    find: 'tombstone: what === "kill",',
    replace: 'tombstone: what === "down",',
    why: "a supervisor that was killed has no tombstone",
    by: SIM,
  },
  {
    file: FOLD,
    find: "for (const ref of gone) if (ref.worker_id !== null && hasEnded(ref)) members.delete(ref.worker_id);",
    replace: "",
    why: "a reload leaves members that stand nowhere",
    by: SIM,
  },
  {
    file: DRAFT,
    find: "child.incarnation > 0 || isEnded(child.state)",
    replace: "child.incarnation > 0",
    why: "what ended before it began is never started",
    by: SIM,
  },
  {
    file: "src/protocol/holds.ts",
    find: 'to === "starting" || to === "stopping"',
    replace: 'to === "starting"',
    why: "what is being stopped is still paused",
    by: sup("holds/pause"),
  },
  {
    file: PAUSE,
    find: "events.length > 0 && left === 0",
    replace: "events.length > 0",
    why: "one reason less lets go on what another one holds",
    by: sup("holds/pause"),
  },
  {
    file: "src/protocol/forms.ts",
    find: "hour < 24",
    replace: "hour <= 24",
    why: "an hour 24 is a time",
    by: FUZZ,
  },
  {
    file: "src/protocol/validate/stream.ts",
    find: "meta.seq <= seen.lastSeq",
    replace: "meta.seq < seen.lastSeq",
    why: "a number of progress may come twice",
    by: FUZZ,
  },
  {
    file: "src/protocol/validate/stream.ts",
    find: "data.pct < seen.lastPct",
    replace: "data.pct > seen.lastPct",
    why: "a percent may fall, and may not rise",
    by: FUZZ,
  },
  {
    file: "src/protocol/validate/json.ts",
    find: "open.length === maxDepth",
    replace: "open.length > maxDepth",
    why: "a level more than the bound is read",
    by: FUZZ,
  },
  {
    file: "src/protocol/validate/spec-rules.ts",
    find: "bytes >= PREVIEW_UNDER_BYTES",
    replace: "bytes > PREVIEW_UNDER_BYTES",
    why: "a preview of 1 KB is under 1 KB",
    by: FUZZ,
  },
  {
    file: "src/protocol/validate/spec-rules.ts",
    find: "bytes > inline_max_bytes",
    replace: "bytes >= inline_max_bytes",
    why: "data of exactly 32 KB is too large",
    by: FUZZ,
  },
  {
    file: "src/adapters/decoding/mcp-output.ts",
    find: "isMore ||= chunk.length > room",
    replace: "isMore = chunk.length > room",
    why: "only the last chunk says whether something is missing",
    by: "test/adapters/decoding/mcp-output.unit.test.ts",
  },
  {
    file: "src/adapters/process/origin.ts",
    find: "lineage.findLast(({ marker",
    replace: "lineage.find(({ marker",
    why: "a marker that a process has set itself hides the one above it",
    by: "test/adapters/process/origin.int.test.ts",
  },
  {
    file: "src/protocol/narrower.ts",
    find: "wide.action === rule.action && ",
    replace: "",
    why: "a rule that allows a tool stands for one that asks, also where the tool is not told",
    by: "test/protocol/narrower.unit.test.ts",
  },
  {
    file: "src/runtime/authority/standing.ts",
    find: 'never: ["self", "below", "above", "relative"]',
    replace: 'never: ["self", "below", "above"]',
    why: "two workers that one has asked for answer for each other",
    by: "test/runtime/authority/standing.unit.test.ts",
  },
  {
    file: "src/runtime/commands/answers.ts",
    find: 'yield* asker(authority.permit, how, "answer", owner);',
    replace: "yield* Effect.void;",
    why: "a worker grants itself more by the name of one below it",
    by: "test/runtime/limits/budgets.int.test.ts",
  },
  {
    file: "src/runtime/boot/orphans.ts",
    find: "supervised ?? views.worker(run.worker_id)",
    replace: "views.worker(run.worker_id)",
    why: "an edited row costs a supervised agent its life",
    by: "test/runtime/boot/orphans.int.test.ts",
  },
  {
    file: "src/store/sqlite/edited.ts",
    find: "due IS NOT NULL AND due IS NOT state",
    replace: "due IS NOT NULL AND state IS NULL",
    why: "a living worker that a row calls ended is not taken over",
    by: "test/store/sqlite/edited.int.test.ts",
  },
  {
    file: "src/store/sqlite/database.ts",
    find: '["-wal", "-shm", "-journal"]',
    replace: '["-wal", "-shm"]',
    why: "SQLite waits for ever in a FIFO that has the name of its journal",
    by: "test/store/sqlite/database.int.test.ts",
  },
];
