/** The runs of kind `skill` at their launch: each is of the manifest that was allowed, in the sandbox that it declares. */
import { join } from "node:path";
import type { SandboxedLaunch } from "../../actors/workspaces.ts";
import { facts as skillFacts } from "../../adapters/kinds/skill/facts.ts";
import type { SkillConfiguration } from "../../protocol/configuration.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { BUILTINS } from "../../skills/builtin/index.ts";
import { launchOf, type SkillLaunch } from "../../skills/launch.ts";
import type { SkillManifest } from "../../skills/manifest.ts";
import { type FoundSkill, findSkill, type Places } from "../../skills/places.ts";
import { SKILL_LISTS, type SkillLists } from "../../skills/policy.ts";
import { closed } from "../../workspace/sandbox/closed.ts";
import { otherStateDirectories } from "../../workspace/sandbox/daemons.ts";
import { makeMissing } from "../../workspace/sandbox/sandbox.ts";

export const SKILL_KIND = skillFacts.kind;

/** The places of skills, and the lists of those that agents may run. */
export interface SkillGround {
  readonly places: Places;
  readonly lists: SkillLists;
  /** Hosts to which skills that agents run may connect. */
  readonly hosts: readonly string[];
}

export const skillGround = (stateDir: string, configured?: SkillConfiguration): SkillGround => {
  const { directories = [], hosts = [], profiles = {} } = configured ?? {};
  const named = Object.entries(profiles).filter(([, list]) => list !== undefined);
  const lists = { ...SKILL_LISTS, ...Object.fromEntries(named) };
  return { places: { stateDir, directories, builtins: BUILTINS }, lists, hosts };
};

/** The manifest of a skill that can be run. Fails with SKILL_NOT_FOUND for a folder that cannot be run. */
export const runnable = (skill: FoundSkill): SkillManifest => {
  const { name, folder, manifest, problems } = skill;
  if (manifest !== null && manifest.runner !== "oci") return manifest;
  if (manifest !== null)
    throw new HoldfastError("UNSUPPORTED_CAPABILITY", `${name} wants the runner ${manifest.runner}.`, {
      suggestion:
        "Give it runner: exec, or wasi for a module of WebAssembly; the runner oci is not built yet.",
      details: { skill: name, runner: manifest.runner },
    });
  const why =
    problems.length === 0
      ? "is a SKILL.md of instructions: its front matter has no `holdfast` key that says what to run"
      : `has mistakes in its manifest: ${problems.join("; ")}`;
  throw new HoldfastError("SKILL_NOT_FOUND", `The skill ${name} ${why}.`, {
    suggestion: `Correct it, and look at it with: agent skills check ${folder}`,
    problems,
  });
};

/** The socket of a run's proxy by its name. */
export const proxySocket = (stateDir: string, name: string): string => join(stateDir, "skill-proxies", name);

/** The launch of a worker of this kind. Fails where its manifest is not the one that was allowed. */
export const skillLaunch = ({ places }: SkillGround, spec: WorkerSpec): SkillLaunch => {
  const [name = "", digest, socket] = spec.argv;
  const skill = findSkill(places, spec.cwd, name);
  if (skill.digest !== digest)
    throw new HoldfastError(
      "INVALID_STATE",
      `The manifest of ${name} was changed since its run was asked for.`,
      {
        suggestion: `Run it again: agent run ${name}`,
      },
    );
  const hidden = [places.stateDir, ...otherStateDirectories(spec.client_env)];
  const proxy = socket === undefined ? undefined : proxySocket(places.stateDir, socket);
  const place = { workspace: spec.cwd, stateDir: places.stateDir, hidden, secrets: spec.inherit_env, proxy };
  return launchOf(skill, runnable(skill), place);
};

/** Its command line inside its sandbox. `env` is all that the process would get. */
export const confineSkill = async (
  ground: SkillGround,
  { spec, env, isStart }: { readonly spec: WorkerSpec; readonly env: object; readonly isStart: boolean },
  argv: readonly string[],
): Promise<SandboxedLaunch> => {
  const { plan } = skillLaunch(ground, spec);
  const { writable, guarded } = plan;
  // Otherwise a skill could make a .git, whose programs git runs outside, or a skill of the project.
  const made = isStart ? makeMissing(guarded) : [];
  const box = await closed(plan, Object.keys(env), argv);
  return {
    ...box,
    plan: { net: "none", writable },
    made,
    litter: guarded,
  };
};
