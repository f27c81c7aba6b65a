/** The workers that hold a run of a skill: the worker that asks, and those above it. */
import type { SkillRights } from "../../adapters/spawner.ts";
import { SKILL_TIMEOUT_DEFAULT_MS } from "../../base/limits.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { commonTo, PROFILE_DEFAULT, type SkillLists } from "../../skills/policy.ts";

export interface HeldWorker {
  readonly id: string;
  readonly spec: WorkerSpec;
}

type FindSpec = (id: string) => WorkerSpec | undefined;

/** The worker and those above it. A chain that the log makes a circle of is cut. */
export const lineOf = (specOf: FindSpec, id: string | undefined): readonly HeldWorker[] => {
  const line: HeldWorker[] = [];
  for (let at = id; at !== undefined && !line.some((one) => one.id === at); ) {
    const spec = specOf(at);
    if (spec === undefined) break;
    line.push({ id: at, spec });
    at = spec.parent;
  }
  return line;
};

/** The list of skills that a run is told: the one by which the daemon holds it. */
export const toolPolicyOf = (lists: SkillLists, specOf: FindSpec, spec: WorkerSpec): SkillRights => {
  const { profile = PROFILE_DEFAULT, parent } = spec;
  const held = [profile, ...lineOf(specOf, parent).map((one) => one.spec.profile ?? PROFILE_DEFAULT)];
  return {
    profile,
    allowed: commonTo(held.map((name) => lists[name])),
    timeout_ms: SKILL_TIMEOUT_DEFAULT_MS,
  };
};
