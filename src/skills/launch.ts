/** Plans a run of a skill: its program, its variables, and what its sandbox shows. It looks at paths and starts nothing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { SKILL_PROCESSES_MAX, SKILL_WRITE_MAX_BYTES, WASI_OWN_MB } from "../base/limits.ts";
import { sha256Digest } from "../protocol/canonical-json.ts";
import { HoldfastError } from "../protocol/errors.ts";
import { CLOSED_PATH, type ClosedPlan, holdsSystem } from "../workspace/sandbox/closed.ts";
import { engineProgram } from "../workspace/sandbox/container.ts";
import { isNoSandbox } from "../workspace/sandbox/plan.ts";
import { realPath } from "../workspace/sandbox/sandbox.ts";
import type { SkillManifest } from "./manifest.ts";
import { PROXY_SOCKET, PROXY_VARIABLES } from "./network/variables.ts";
import { builtinProgram, type OwnProgram, tunnelledProgram, wasiProgram } from "./own-program.ts";
import type { FoundSkill } from "./places.ts";
import { SKILL_PROXY, SKILL_STATE, SKILL_WORKSPACE } from "./variables.ts";

export interface SkillLaunch {
  /** In a container: podman, the image, and the words inside. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly plan: ClosedPlan;
  /** It runs in a container of this image. */
  readonly image: string | undefined;
}

interface Place {
  readonly workspace: string;
  readonly stateDir: string;
  /** Names of the variables that it gets beside its own. */
  readonly secrets: readonly string[];
  /** State directories of daemons: empty inside. */
  readonly hidden: readonly string[];
  /** The socket of the run's proxy; undefined where it has no network. */
  readonly proxy: string | undefined;
}

/** The run's own tmpfs: also its home, because the user's is not there. */
const TEMPORARY = "/tmp";
const HASH_CHARS = 16;

/** Fails with INVALID_REQUEST for a workspace that would show the machine. */
export const launchOf = (skill: FoundSkill, manifest: SkillManifest, place: Place): SkillLaunch => {
  const { capabilities, limits } = manifest;
  const workspace = realPath(place.workspace);
  const hidden = place.hidden.map(realPath);
  if (isNoSandbox(workspace, hidden) || holdsSystem(workspace))
    throw new HoldfastError("INVALID_REQUEST", `${workspace} cannot be the workspace of a skill.`, {
      suggestion: "Give a --workspace that holds only the work.",
      details: { rule: "workspace", workspace },
    });
  const isContainer = manifest.runner === "oci";
  const folder = skill.folder === null ? undefined : realPath(skill.folder);
  const program = isContainer
    ? { argv: [engineProgram(), manifest.image ?? "", ...manifest.run], files: [] }
    : programOf(skill.name, folder, manifest, place.proxy !== undefined);
  const state = capabilities.state ? stateOf(skill.name, workspace, place.stateDir) : undefined;
  const { files } = capabilities;
  const env = {
    // An image has its own.
    ...(isContainer ? {} : { PATH: CLOSED_PATH }),
    HOME: TEMPORARY,
    TMPDIR: TEMPORARY,
    LANG: "C.UTF-8",
    ...(files !== "none" && { [SKILL_WORKSPACE]: workspace }),
    ...(state !== undefined && { [SKILL_STATE]: state }),
    ...(place.proxy !== undefined && (isContainer ? { [SKILL_PROXY]: PROXY_SOCKET } : PROXY_VARIABLES)),
  };
  return {
    argv: program.argv,
    env,
    image: manifest.image,
    plan: {
      cwd: files === "none" ? TEMPORARY : workspace,
      readable: [...(files === "read" ? [workspace] : []), ...program.files],
      writable: [...(files === "write" ? [workspace] : []), ...(state === undefined ? [] : [state])],
      socket: place.proxy === undefined ? undefined : { outside: place.proxy, inside: PROXY_SOCKET },
      // git and this daemon run programs that these name.
      guarded: files === "write" ? [".git", ".holdfast"].map((name) => join(workspace, name)) : [],
      hidden,
      variables: [...Object.keys(env), ...place.secrets],
      limits: {
        file_bytes: SKILL_WRITE_MAX_BYTES,
        memory_bytes: (limits.memory_mb + (manifest.runner === "wasi" ? WASI_OWN_MB : 0)) * 1024 * 1024,
        processes: SKILL_PROCESSES_MAX,
      },
    },
  };
};

/** The words of a run, and the files that they need inside. */
const programOf = (
  name: string,
  folder: string | undefined,
  { run, runner, limits }: SkillManifest,
  hasProxy: boolean,
): OwnProgram => {
  if (folder === undefined) return builtinProgram(name);
  if (runner === "wasi") {
    const [module = "", ...args] = run;
    const { argv, files } = wasiProgram([join(folder, module), ...args], limits.memory_mb);
    return { argv, files: [...files, folder] };
  }
  const argv = programIn(folder, run);
  if (!hasProxy) return { argv, files: [folder] };
  const tunnelled = tunnelledProgram(argv);
  return { argv: tunnelled.argv, files: [...tunnelled.files, folder] };
};

/** A word with a slash is in the skill's folder, which is not the cwd. */
const programIn = (folder: string, [program = "", ...args]: readonly string[]): readonly string[] => [
  program.includes("/") ? join(folder, program) : program,
  ...args,
];

const stateOf = (name: string, workspace: string, stateDir: string): string => {
  const of_workspace = sha256Digest(workspace).slice("sha256:".length).slice(0, HASH_CHARS);
  const path = join(realPath(stateDir), "skill-state", of_workspace, name.replace("/", "."));
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return path;
};
