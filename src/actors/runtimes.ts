/** The runtimes of this program: the built-in one, and those that the configuration or the program names. */
import { type AgentAdapter, converses } from "../adapters/adapter.ts";
import type { RuntimeAbility, RuntimeSpawner, RuntimeTrouble } from "../adapters/spawner.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { RUNTIME_DEFAULT } from "../protocol/words.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { hasLimits } from "../supervisor/budgets/budgets.ts";
import type { Services } from "./ports.ts";

type Runtimes = Pick<Services, "spawner" | "runtimes">;

/** All of them by name, the built-in one first. */
export const runtimesOf = ({
  spawner,
  runtimes,
}: Runtimes): readonly (readonly [string, RuntimeSpawner])[] => [
  [RUNTIME_DEFAULT, spawner],
  ...(runtimes ?? []),
];

const knownRuntime = ({ spawner, runtimes }: Runtimes, name = RUNTIME_DEFAULT): RuntimeSpawner | undefined =>
  name === RUNTIME_DEFAULT ? spawner : runtimes?.get(name);

/** Throws RUNTIME_NOT_FOUND. */
export const runtimeNamed = (services: Runtimes, name = RUNTIME_DEFAULT): RuntimeSpawner => {
  const found = knownRuntime(services, name);
  if (found !== undefined) return found;
  const names = runtimesOf(services).map(([known]) => known);
  throw new HoldfastError("RUNTIME_NOT_FOUND", `There is no runtime "${name}".`, {
    phase: "validation",
    suggestion: `Use one of: ${names.join(", ")}; \`runtimes:\` in config.yaml names more.`,
  });
};

/** Why the runtime of a worker cannot be used now; undefined while it can. */
export const troubleOf = (
  services: Runtimes,
  { runtime }: Pick<WorkerSpec, "runtime">,
): RuntimeTrouble | undefined => knownRuntime(services, runtime)?.trouble?.();

/** A runtime that is not there now may be able to. */
export const canPause = (services: Runtimes, { runtime }: Pick<WorkerSpec, "runtime">): boolean =>
  knownRuntime(services, runtime)?.abilities.has("pause") ?? true;

/** A sentence for each thing that a spec asks for and its runtime cannot do. */
export const unableTo = (
  { abilities }: RuntimeSpawner,
  spec: WorkerSpec,
  adapter: AgentAdapter,
): readonly string[] => {
  const asked: readonly (readonly [RuntimeAbility, boolean, string, string?])[] = [
    ["input", converses(adapter, spec), "keep an input open for messages and approvals"],
    ["limits", Object.values(spec.limits).some((bound) => bound !== undefined), "enforce limits"],
    ["sandbox", spec.sandbox !== undefined, "confine an agent in a sandbox"],
    [
      "pause",
      hasLimits(spec.budget) && spec.on_breach === "ask",
      "pause a run when its budget is spent",
      STOPS,
    ],
    ["pause", spec.on_output_quota === "pause", "pause a run at its output quota"],
    ["lifeline", spec.on_supervisor_death === "die", "end an agent with its supervisor"],
  ];
  return asked.flatMap(([ability, isAsked, what, instead = "leave that out"]) =>
    isAsked && !abilities.has(ability)
      ? [`runtime: ${spec.runtime} cannot ${what}; ${instead}, or use the runtime ${RUNTIME_DEFAULT}`]
      : [],
  );
};

const STOPS = "let it be stopped then (--on-breach stop)";
