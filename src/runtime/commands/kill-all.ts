/** Kills everything, including workers that are started meanwhile, and reports any that still run at the end. */
import { Effect } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { KILL_ALL_ROUNDS_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isEnded } from "../../protocol/worker.ts";
import type { Views } from "../../store/views.ts";
import { topOf } from "../../supervisor/tree/state.ts";
import { nothingDone } from "../reading/views.ts";
import type { PerWorker } from "../replies.ts";
import type { Roster } from "../roster.ts";
import type { Forest } from "../trees/forest.ts";

interface KillAllPorts {
  readonly forest: Pick<Forest, "trees">;
  readonly live: Roster["live"];
  readonly views: Pick<Views, "living">;
}

type KillEach = (refs: readonly string[]) => Effect.Effect<readonly PerWorker[], HoldfastError>;

/** Kills trees first, each as a whole: a running supervisor would start its killed children again. */
export const killAll = (
  { forest, live, views }: KillAllPorts,
  killEach: KillEach,
  { dry_run = false }: { readonly dry_run?: boolean | undefined },
): Effect.Effect<readonly PerWorker[], HoldfastError> =>
  Effect.gen(function* () {
    const ofRoot = (): readonly string[] =>
      [...live.values()]
        .filter((worker) => worker.spec.supervisor === "root" && !isEnded(worker.child().state))
        .map(({ id }) => id);
    const running = (): readonly string[] => [
      ...forest
        .trees()
        .filter((tree) => !isOver(topOf(tree.state()).phase))
        .map(({ name }) => name),
      ...ofRoot(),
    ];
    const replies = new Map<string, PerWorker>();
    const hasFailed = (ref: string): boolean => replies.get(ref)?.ok === false;
    const kill = (refs: readonly string[]) =>
      Effect.map(killEach(refs), (answers) => {
        for (const answer of answers) replies.set(answer.id, answer);
      });
    yield* kill([...forest.trees().map(({ name }) => name), ...ofRoot()]);
    const left = () => (dry_run ? [] : running().filter((ref) => !hasFailed(ref)));
    for (let round = 1; round < KILL_ALL_ROUNDS_MAX && left().length > 0; round += 1) yield* kill(left());
    for (const ref of left()) replies.set(ref, goesOn(ref));
    // Workers that live by the log but are not supervised here.
    const rows = yield* attempt(() => views.living());
    const unsupervised = rows.filter(({ id, supervisor }) => supervisor === "root" && !live.has(id));
    yield* kill(unsupervised.map(({ id }) => id).filter((id) => !replies.has(id)));
    return [...replies.values()];
  });

const isOver = (phase: string): boolean => phase === "terminated" || phase === "parked";

const goesOn = (ref: string): PerWorker =>
  nothingDone(
    ref,
    new HoldfastError(
      "INVALID_STATE",
      `${ref} still runs: new workers were started faster than all could be killed.`,
      {
        suggestion: "Stop what starts them, then run `agent kill --all` again.",
      },
    ),
  );
