/** The configured facts about skills. It loads none of the code that finds, checks and runs them. */
import { facts as skillFacts } from "../../adapters/kinds/skill/facts.ts";
import type { SkillConfiguration } from "../../protocol/configuration.ts";
import type { Places } from "../../skills/places.ts";
import { SKILL_LISTS, type SkillLists } from "../../skills/policy.ts";
import { Containers } from "../../workspace/sandbox/container.ts";

export const SKILL_KIND = skillFacts.kind;

/** The places of skills, and the lists of those that agents may run. */
export interface SkillGround {
  readonly places: Omit<Places, "builtins">;
  readonly lists: SkillLists;
  /** Hosts to which skills that agents run may connect. */
  readonly hosts: readonly string[];
  readonly containers: Containers;
}

export const skillGround = (stateDir: string, configured?: SkillConfiguration): SkillGround => {
  const { directories = [], hosts = [], profiles = {} } = configured ?? {};
  const named = Object.entries(profiles).filter(([, list]) => list !== undefined);
  const lists = { ...SKILL_LISTS, ...Object.fromEntries(named) };
  return { places: { stateDir, directories }, lists, hosts, containers: new Containers() };
};
