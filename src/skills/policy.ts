/**
 * Decides whether a caller may run a skill. Pure. Everything is denied that no list names. A worker is held by its own
 * profile and by those of all workers above it, so that a child has never more than its parent.
 */
import type { ProfileName } from "../protocol/words.ts";

/** The skills of a profile: names, or `NAMESPACE/*`. An empty list allows nothing. */
export type SkillLists = Readonly<Record<ProfileName, readonly string[]>>;

const COMPANION = ["fs/ls", "fs/read", "text/grep"] as const;
const WORKER = [...COMPANION, "todo/manage"] as const;

/** The lists without a configuration. */
export const SKILL_LISTS: SkillLists = {
  companion: COMPANION,
  worker: WORKER,
  overseer: [...WORKER, "http/openapi", "plugin/auth", "plugin/pagination"],
};

/** A worker that was spawned without a profile has this one. */
export const PROFILE_DEFAULT: ProfileName = "worker";

/** One list by which a run is held, and whose it is. */
export interface Holder {
  /** `asked` for the profile of the request, else the id of a worker. */
  readonly of: string;
  readonly profile: ProfileName;
}

/** The rule by which a run is denied: `details.rule` of the error, and of the record. */
export type SkillRule = "profile" | "profile_above" | "project_skill" | "network_none" | "network_host";

export interface SkillDenial {
  readonly rule: SkillRule;
  /** One sentence. */
  readonly reason: string;
  readonly next: string;
}

export interface SkillAsk {
  readonly name: string;
  /** The caller's profile first, then those above it. Empty for a person, whom no profile holds. */
  readonly holders: readonly Holder[];
  readonly lists: SkillLists;
  /** Hosts that the skill declares. */
  readonly hosts: readonly string[];
  /** It comes from the workspace itself, where an agent may write. */
  readonly isOfProject: boolean;
  /** A worker asks. */
  readonly isOfWorker: boolean;
  /** A worker above it has no network. */
  readonly isOffline: boolean;
  /** Hosts that the configuration allows to skills of workers. */
  readonly allowed_hosts: readonly string[];
}

/** Whether a pattern of a list names the skill. */
export const isNamed = (pattern: string, name: string): boolean =>
  pattern.endsWith("/*") ? name.startsWith(pattern.slice(0, -1)) : pattern === name;

/** The patterns that all of these lists name: what is left on the way down a line of workers. */
export const commonTo = (lists: readonly (readonly string[])[]): readonly string[] => {
  const [first = [], ...others] = lists;
  return others.reduce<readonly string[]>(
    (kept, list) => [
      ...new Set([
        ...kept.filter((name) => list.some((pattern) => isNamed(pattern, name))),
        ...list.filter((name) => kept.some((pattern) => isNamed(pattern, name))),
      ]),
    ],
    first,
  );
};

/** Whether the pattern `*.DOMAIN:PORT`, or a host with its port, covers the other. */
export const coversHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.") ? host.endsWith(pattern.slice(1)) && !IS_ADDRESS.test(host) : pattern === host;

const IS_ADDRESS = /^(?:\[|\d+(?:\.\d+){3}:)/;

/** Undefined: it may run. */
export const denialOf = (asked: SkillAsk): SkillDenial | undefined =>
  byProfile(asked) ?? (asked.isOfWorker ? byRights(asked) : undefined);

const byProfile = ({ name, holders, lists }: SkillAsk): SkillDenial | undefined => {
  const at = holders.findIndex(({ profile }) => !lists[profile].some((pattern) => isNamed(pattern, name)));
  if (at < 0) return undefined;
  const { of, profile } = holders[at]!;
  return {
    rule: at === 0 ? "profile" : "profile_above",
    reason: `The profile ${profile} of ${of === "asked" ? "the request" : `worker ${of}`} does not name ${name}.`,
    next: `Name it under skills.profiles.${profile} in config.yaml of the state directory, and restart the daemon.`,
  };
};

/** An agent could write such a skill itself, or reach by it what it cannot reach. */
const byRights = (asked: SkillAsk): SkillDenial | undefined => {
  const { name, hosts, isOfProject, isOffline, allowed_hosts } = asked;
  if (isOfProject)
    return {
      rule: "project_skill",
      reason: `${name} is in the workspace, where agents may write, so no agent may run it.`,
      next: "Move its folder to the skills of the state directory, or to a directory of config.yaml.",
    };
  if (hosts.length === 0) return undefined;
  if (isOffline)
    return {
      rule: "network_none",
      reason: `${name} uses the network, and a worker above this run has none.`,
      next: "Have it started from outside of the worker.",
    };
  const refused = hosts.find((host) => !allowed_hosts.some((pattern) => coversHost(pattern, host)));
  return refused === undefined
    ? undefined
    : {
        rule: "network_host",
        reason: `${name} connects to ${refused}, which config.yaml does not allow to agents.`,
        next: "Name the host under skills.hosts in config.yaml of the state directory, and restart the daemon.",
      };
};
