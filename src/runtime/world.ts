/** The outside world of a launch: worktrees, sandboxes, the environment of an agent, and the probes of readiness. */
import { access, realpath, stat } from "node:fs/promises";
import { connect } from "node:net";
import { resolve } from "node:path";
import { Effect } from "effect";
import type { Probe, Services } from "../actors/ports.ts";
import type { Confine, Workspaces } from "../actors/workspaces.ts";
import { variablesOf } from "../adapters/adapter.ts";
import { buildEnvironment, keptEnvironment } from "../adapters/process/environment.ts";
import { launchScripts, launchScriptsIn } from "../adapters/process/launch-scripts.ts";
import type { Registry } from "../adapters/registry.ts";
import { readSecretFile } from "../base/files/regular-file.ts";
import { PORT_PROBE_MAX_MS, SECRET_MAX_BYTES } from "../base/limits.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { addedDirectories } from "../protocol/extensions.ts";
import { secretArguments } from "../protocol/redact.ts";
import { traceVariables } from "../protocol/trace-context.ts";
import type { WorkerSpec } from "../protocol/worker.ts";
import { otherStateDirectories } from "../workspace/sandbox/daemons.ts";
import { gitDirectories, planWithWorktree } from "../workspace/sandbox/plan.ts";
import { makeStateDirectories, sandboxed } from "../workspace/sandbox/sandbox.ts";
import { changesOf } from "../workspace/worktree/changes.ts";
import {
  adminDirOf,
  assignWorkspace,
  ensureWorkspace,
  lookAtRepository,
  refuseBranch,
  removeWorkspace,
} from "../workspace/worktree/worktrees.ts";
import { SKILL_KIND, type SkillGround } from "./control/skill-ground.ts";

export const workspacesIn = (directory: string): Workspaces => ({
  look: lookAtRepository,
  refuseBranch,
  assign: (id, spec) => assignWorkspace(directory, id, spec),
  ensure: (workspace, client_env, signal) => ensureWorkspace(workspace, { client_env, signal }),
  remove: removeWorkspace,
  changes: changesOf,
});

/** Most daemons run no skill: the code of skills is loaded by the first that does. */
const skillLaunching = () => import("./control/skill-launch.ts");

export const confiningIn =
  (stateDir: string, skills: SkillGround): Confine =>
  async ({ spec, adapter, env, workspace, isStart, readable, repository }, argv) => {
    if (spec.kind === SKILL_KIND) {
      const { confineSkill } = await skillLaunching();
      return confineSkill(skills, { spec, env, isStart }, argv);
    }
    const cwd = workspace?.cwd ?? spec.cwd;
    const confined = {
      sandbox: spec.sandbox ?? { writable: [] },
      isAgent: adapter.binary !== null || adapter.sessions_under !== undefined,
      cwd,
      added: addedDirectories({ ...spec, cwd }),
      env,
      state: adapter.state ?? [],
      stateDir,
      otherStateDirs: otherStateDirectories(env),
      workspace,
      readable,
      adminDir: workspace === undefined ? undefined : adminDirOf(workspace),
    };
    const made = isStart ? makeStateDirectories(confined) : [];
    const box = await sandboxed(confined, argv);
    return repository === undefined
      ? { ...box, made, litter: gitDirectories(confined) }
      : { ...box, plan: planWithWorktree(confined, repository.git_dir) };
  };

/** Stands for the id in the plan of a worker that does not exist yet. */
const TO_BE = "WORKER-ID";

export const preparingWith =
  (
    registry: Registry,
    skills: SkillGround,
    workerDir: Services["workerDir"],
    isTraced: boolean,
  ): Services["prepare"] =>
  (adapter, spec, incarnation, session, worker_id, interrupted) =>
    Effect.tryPromise({
      try: async () => {
        const binary =
          adapter.binary === null
            ? ""
            : (spec.env[adapter.binary.variable] ??
              spec.client_env[adapter.binary.variable] ??
              registry.binaryOf(adapter)!);
        const scripts_dir = launchScriptsIn(workerDir(worker_id === "" ? TO_BE : worker_id));
        const context = { spec, worker_id, incarnation, session, interrupted, binary, scripts_dir };
        const planned = adapter.plan(context);
        const own = spec.kind === SKILL_KIND ? (await skillLaunching()).skillLaunch(skills, spec) : undefined;
        const plan = own === undefined ? planned : { ...planned, argv: own.argv, env: own.env };
        const source = { spec, readFile: readSecretFile(SECRET_MAX_BYTES) };
        const built = await buildEnvironment({
          ...source,
          credentials: variablesOf(adapter, spec),
          planned: plan.env,
          references: plan.references,
        });
        const written = await launchScripts(plan.scripts ?? {}, source);
        const variables = [
          ...variablesOf(adapter, spec),
          ...(adapter.binary === null ? [] : [adapter.binary.variable]),
        ];
        // The variables of a skill are secrets, also under names that sound harmless.
        const declared = own === undefined ? [] : spec.inherit_env.flatMap((name) => built.env[name] || []);
        const secrets = [...built.secrets, ...written.secrets, ...declared, ...secretArguments(plan.argv)];
        const client_env = keptEnvironment(spec, variables);
        const traced =
          worker_id === "" ? {} : traceVariables(spec.trace, { worker_id, incarnation, isTraced });
        return {
          plan,
          env: { ...built.env, ...unlessGiven(spec, traced) },
          scripts: written.texts,
          secrets,
          client_env,
        };
      },
      catch: asHoldfastError,
    });

/** `--env` is above the daemon's own variables. */
const unlessGiven = (
  { env }: Pick<WorkerSpec, "env">,
  variables: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(Object.entries(variables).filter(([name]) => env[name] === undefined));

const fileExists = (cwd: string, path: string): Promise<boolean> =>
  access(resolve(cwd, path)).then(
    () => true,
    () => false,
  );

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const portAccepts = (port: number): Promise<boolean> =>
  new Promise((told) => {
    const socket = connect({ port, host: "127.0.0.1" });
    const answer = (accepts: boolean) => () => {
      socket.destroy();
      told(accepts);
    };
    socket.once("connect", answer(true));
    socket.once("error", answer(false));
    socket.setTimeout(PORT_PROBE_MAX_MS, answer(false));
  });

export const probe: Probe = {
  fileExists,
  isDirectory,
  portAccepts,
  realPath: (path) => realpath(path),
};
