/** The runs of kind `skill` at their launch: each is of the manifest that was allowed, in the sandbox that it declares. */
import { join } from "node:path";
import type { Confine, SandboxedLaunch } from "../../actors/workspaces.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { BUILTINS } from "../../skills/builtin/index.ts";
import { launchOf, type SkillLaunch } from "../../skills/launch.ts";
import type { SkillManifest } from "../../skills/manifest.ts";
import { type FoundSkill, findSkill, type Places } from "../../skills/places.ts";
import { closed } from "../../workspace/sandbox/closed.ts";
import { otherStateDirectories } from "../../workspace/sandbox/daemons.ts";
import { makeMissing } from "../../workspace/sandbox/sandbox.ts";
import type { SkillGround } from "./skill-ground.ts";

/** All places of skills, the built-in ones too. */
export const placesOf = ({ places }: SkillGround): Places => ({ ...places, builtins: BUILTINS });

/** The manifest of a skill that can be run. Fails with SKILL_NOT_FOUND for a folder that cannot be run. */
export const runnable = (skill: FoundSkill): SkillManifest => {
  const { name, folder, manifest, problems } = skill;
  if (manifest !== null) return manifest;
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
export const skillLaunch = (ground: SkillGround, spec: WorkerSpec): SkillLaunch => {
  const places = placesOf(ground);
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
  { spec, env, isStart }: Pick<Parameters<Confine>[0], "spec" | "env" | "isStart">,
  argv: readonly string[],
): Promise<SandboxedLaunch> => {
  const { plan, image, env: own } = skillLaunch(ground, spec);
  const { writable, guarded } = plan;
  // Otherwise a skill could make a .git, whose programs git runs outside, or a skill of the project.
  const made = isStart ? makeMissing(guarded) : [];
  const shown = { plan: { net: "none" as const, writable }, made, litter: guarded };
  if (image === undefined) return { ...(await closed(plan, Object.keys(env), argv)), ...shown };
  const [, , ...run] = argv;
  const container = { ...plan, env: own, secrets: spec.inherit_env, run };
  const box = await ground.containers.command(container, image, env);
  return { argv: box.argv, program: box.program, container: { env: box.env }, ...shown };
};
