/** Runs of skills: found, allowed, run as a worker in its sandbox, and its one envelope checked. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { Effect, Exit } from "effect";
import { attempt } from "../../actors/machine/attempt.ts";
import { PROGRAM_KIND } from "../../adapters/kinds.ts";
import { admit, type Breaker, CLOSED, settled } from "../../base/breaker.ts";
import { readRegular } from "../../base/files/regular-file.ts";
import { CAPTURE_MAX_BYTES, SKILL_GRACE_MS, SKILL_PRINTED_MAX_BYTES } from "../../base/limits.ts";
import { byOf, type Caller, USER } from "../../protocol/caller.ts";
import { ERROR_CATALOGUE, HoldfastError } from "../../protocol/errors.ts";
import { failure, type Outcome } from "../../protocol/outcome.ts";
import { DAEMON_STREAM, type JsonValue } from "../../protocol/records.ts";
import { makeRedactor, redactError } from "../../protocol/redact.ts";
import type { SkillAnswer, SkillView } from "../../protocol/replies/skills.ts";
import type { WorkerSpec } from "../../protocol/worker.ts";
import { answerOf, standingOf } from "../../skills/answer.ts";
import type { SkillManifest } from "../../skills/manifest.ts";
import { type FoundSkill, findSkill, findSkills, readFolder } from "../../skills/places.ts";
import { denialOf, type Holder, PROFILE_DEFAULT, type SkillDenial } from "../../skills/policy.ts";
import type { WorkerRow } from "../../store/views.ts";
import { realPath } from "../../workspace/sandbox/sandbox.ts";
import type { RuntimeApi } from "../api.ts";
import type { Core } from "../core.ts";
import type { SkillAsked, SkillsApi } from "../skills-api.ts";
import { type HeldWorker, lineOf } from "./holders.ts";
import { SKILL_KIND, type SkillGround } from "./skill-ground.ts";
import { placesOf, runnable } from "./skill-launch.ts";
import { explained, hostsOf, type RunNetwork, SkillNetworks } from "./skill-network.ts";

interface SkillCalls {
  readonly spawning: { readonly spawnAny: RuntimeApi["spawn"] };
  readonly killing: Pick<RuntimeApi, "kill">;
  readonly ends: { untilEnded(id: string): Effect.Effect<WorkerRow, HoldfastError> };
}
type SkillOutcome = Outcome<Readonly<Record<string, unknown>>>;

export class Skills implements SkillsApi {
  private readonly core: Core;
  private readonly ground: SkillGround;
  private readonly calls: SkillCalls;
  private readonly networks: SkillNetworks;
  private readonly breakers = new Map<string, Breaker>();

  constructor(core: Core, ground: SkillGround, calls: SkillCalls) {
    this.core = core;
    this.ground = ground;
    this.calls = calls;
    this.networks = new SkillNetworks(core, ground.places.stateDir);
  }

  readonly list: SkillsApi["list"] = (workspace) =>
    attempt(() => ({
      skills: findSkills(placesOf(this.ground), workspace).map((skill) => this.viewOf(skill)),
    }));

  readonly tools: SkillsApi["tools"] = (asked) =>
    attempt(() => {
      const workspace = realPath(asked.workspace);
      const mayRun = (skill: FoundSkill): boolean =>
        skill.manifest !== null &&
        this.denial(skill, { ...asked, workspace, skill: skill.name }, hostsOf(skill, {}) ?? []) ===
          undefined;
      const tools = findSkills(placesOf(this.ground), workspace).filter(mayRun);
      return {
        tools: tools.map(({ name: skill, summary, effect, inputSchema }) => ({
          skill,
          summary,
          input_schema: inputSchema() as JsonValue,
          effect,
        })),
      };
    });

  readonly info: SkillsApi["info"] = (name, workspace) =>
    attempt(() => this.viewOf(findSkill(placesOf(this.ground), workspace, name)));

  readonly check: SkillsApi["check"] = (folder) =>
    attempt(() => {
      const skill = readFolder(folder, "configured");
      if (skill !== undefined) return this.viewOf(skill);
      throw new HoldfastError("SKILL_NOT_FOUND", `There is no skill.yaml and no SKILL.md in ${folder}.`);
    });

  readonly run: SkillsApi["run"] = (given) =>
    Effect.gen({ self: this }, function* () {
      const { caller = USER } = given;
      const workspace = yield* attempt(() => realPath(given.workspace));
      const asked = { ...given, workspace };
      const skill = yield* attempt(() => findSkill(placesOf(this.ground), workspace, asked.skill));
      const manifest = yield* attempt(() => runnable(skill));
      const hosts = hostsOf(skill, asked.input ?? {});
      const denial = yield* attempt(() => this.denial(skill, asked, hosts ?? []));
      if (denial !== undefined) return yield* this.deny(asked, caller, denial);
      const once = (network?: RunNetwork) => this.runOnce(asked, skill, manifest, network);
      const judge =
        skill.urls === undefined ? undefined : (more: readonly string[]) => this.denial(skill, asked, more);
      const run =
        hosts === undefined ? once() : this.networks.during({ skill: skill.name, hosts, judge }, once);
      const outcome = yield* this.guarded(skill.name, run);
      if (outcome.ok) return outcome.value;
      const { rule } = outcome.error.info.details ?? {};
      if (outcome.error.row.v1 === "EPOLICY" && typeof rule === "string")
        yield* this.record(asked, caller, { rule, reason: outcome.error.message });
      return yield* Effect.fail(outcome.error);
    });

  private denial(
    skill: FoundSkill,
    { profile, caller = USER }: SkillAsked,
    hosts: readonly string[],
  ): SkillDenial | undefined {
    const line = caller.type === "worker" ? this.lineOf(caller.worker_id) : [];
    // Nobody can say what an unknown caller may: it has what a worker has.
    const least = caller.type === "unknown" ? PROFILE_DEFAULT : undefined;
    const held = profile ?? least;
    const asked: readonly Holder[] = held === undefined ? [] : [{ of: "asked", profile: held }];
    return denialOf({
      name: skill.name,
      holders: [
        ...asked,
        ...line.map(({ id, spec }) => ({ of: id, profile: spec.profile ?? PROFILE_DEFAULT })),
      ],
      lists: this.ground.lists,
      hosts,
      isOfProject: skill.origin === "project",
      isOfWorker: caller.type !== "user",
      isOffline: line.some(({ spec }) => isOffline(spec)),
      allowed_hosts: this.ground.hosts,
    });
  }

  private lineOf(id: string): readonly HeldWorker[] {
    const { roster, services } = this.core;
    return lineOf((at) => roster.live.get(at)?.spec ?? services.views.worker(at)?.spec, id);
  }

  private deny(asked: SkillAsked, caller: Caller, denial: SkillDenial): Effect.Effect<never, HoldfastError> {
    const { rule, reason, next } = denial;
    const { skill, profile } = asked;
    const details = { rule, skill, ...(profile !== undefined && { profile }) };
    const error = new HoldfastError("POLICY_VIOLATION", reason, { suggestion: next, details });
    return Effect.andThen(this.record(asked, caller, denial), Effect.fail(error));
  }

  private record(
    { skill, workspace, profile }: SkillAsked,
    caller: Caller,
    { rule, reason }: { readonly rule: string; readonly reason: string },
  ): Effect.Effect<void, HoldfastError> {
    const { clock } = this.core.now();
    const payload = { skill, rule, reason, profile: profile ?? null, workspace, by: byOf(caller), clock };
    return Effect.asVoid(this.core.commit([{ type: "skill_denied", stream: DAEMON_STREAM, payload }]));
  }

  /** Through the breaker of the skill. */
  private guarded<A>(
    name: string,
    run: Effect.Effect<Outcome<A>, HoldfastError>,
  ): Effect.Effect<Outcome<A>, HoldfastError> {
    return Effect.suspend(() => {
      const { breaker, wait_ms } = admit(this.breakers.get(name) ?? CLOSED, this.core.monoMs());
      if (wait_ms !== undefined) return Effect.fail(isDown(name, wait_ms));
      this.breakers.set(name, breaker);
      return Effect.onExit(run, (exit) =>
        Effect.sync(() => {
          const end = Exit.isSuccess(exit) ? standingOf(exit.value) : "unknown";
          this.breakers.set(name, settled(this.breakers.get(name) ?? CLOSED, end, this.core.monoMs()));
        }),
      );
    });
  }

  private runOnce(
    asked: SkillAsked,
    skill: FoundSkill,
    manifest: SkillManifest,
    network: RunNetwork | undefined,
  ): Effect.Effect<Outcome<SkillAnswer>, HoldfastError> {
    const { spawning, killing, ends } = this.calls;
    const { workspace, client_env = {}, caller } = asked;
    return Effect.gen({ self: this }, function* () {
      const { id } = yield* spawning.spawnAny(specOf(asked, skill, manifest, network), { caller });
      network?.begin(id);
      const stop = Effect.ignore(
        killing.kill({ ids: [id], by: "daemon", reason: "nobody waits for it", grace_ms: 0 }),
      );
      const row = yield* Effect.onInterrupt(ends.untilEnded(id), () => stop);
      const told = yield* attempt(() => this.told(row, skill.name));
      const secrets = secretsOf(skill, manifest, client_env).flatMap((name) => client_env[name] || []);
      const redact = makeRedactor(secrets);
      if (!told.ok) {
        const error = explained(told.error, network?.denials() ?? []);
        return failure(redactError(withJob(error, id, skill.name), redact));
      }
      const { runner, version: skill_version } = manifest;
      return {
        ok: true,
        value: { data: redact.value(told.value), run: { runner, workspace, job_id: id, skill_version } },
      };
    });
  }

  /** The end of a run: by its stdout, unless it was stopped or never began. */
  private told({ id, incarnation, error }: WorkerRow, name: string): SkillOutcome {
    const spool = join(this.core.services.workerDir(id), String(incarnation), "stdout");
    const size_bytes = statSync(spool, { throwIfNoEntry: false })?.size ?? 0;
    const stdout = readRegular(spool, CAPTURE_MAX_BYTES) ?? Buffer.alloc(0);
    const isOver = size_bytes > CAPTURE_MAX_BYTES;
    if (error !== null && error.code !== "AGENT_FAILED" && !isOver)
      return failure(
        error.code === "BUDGET_EXCEEDED"
          ? new HoldfastError("SKILL_OUTPUT_TOO_LARGE", `${name} printed more than its bound on stderr.`)
          : new HoldfastError(error.code, error.message),
      );
    if (error !== null && size_bytes === 0)
      return failure(new HoldfastError("SKILL_FAILED", `${name} printed no envelope: ${error.message}`));
    const answer = answerOf(name, stdout, size_bytes);
    return answer.ok && error !== null
      ? failure(
          new HoldfastError(
            "SKILL_FAILED",
            `${name} said that it went well, and then failed: ${error.message}`,
          ),
        )
      : answer;
  }

  private viewOf(found: FoundSkill): SkillView {
    const { name: skill, summary, origin, folder, manifest, problems, urls } = found;
    const {
      network = "none",
      files = "none",
      secrets: variables = [],
      state = false,
    } = manifest?.capabilities ?? {};
    const { version = null, runner = null } = manifest ?? {};
    const breaker = this.breakers.get(skill)?.state ?? "closed";
    return {
      skill,
      summary,
      version,
      runner,
      origin,
      folder,
      network: urls === undefined ? network : "asked",
      files,
      variables,
      state,
      breaker,
      problems,
    };
  }
}

/** Names of the client's variables that the run gets: a built-in skill has no list of its own, so the client's own choice counts. */
const secretsOf = (
  { folder }: FoundSkill,
  { capabilities }: SkillManifest,
  client_env: Readonly<Record<string, string>>,
): readonly string[] => (folder === null ? Object.keys(client_env) : capabilities.secrets);

/** A command has no network in a sandbox, unless its spec says so. */
const isOffline = ({ sandbox, kind }: WorkerSpec): boolean =>
  sandbox !== undefined && (sandbox.net ?? (kind === PROGRAM_KIND ? "none" : "host")) === "none";

const specOf = (
  { input = {}, workspace, timeout_ms, client_env = {} }: SkillAsked,
  skill: FoundSkill,
  manifest: SkillManifest,
  network: RunNetwork | undefined,
) => ({
  kind: SKILL_KIND,
  argv: [skill.name, skill.digest, ...(network === undefined ? [] : [network.name])],
  prompt: JSON.stringify(input),
  cwd: workspace,
  // The sandbox has no network of its own; hosts are reached through the proxy.
  sandbox: { net: network === undefined ? ("none" as const) : ("host" as const), writable: [] },
  restart: "temporary" as const,
  labels: { skill: skill.name },
  inherit_env: [...secretsOf(skill, manifest, client_env)],
  client_env: { ...client_env },
  timeout_ms: timeout_ms ?? manifest.limits.timeout_ms,
  stall_ms: 0,
  grace_ms: SKILL_GRACE_MS,
  budget: { output_bytes: SKILL_PRINTED_MAX_BYTES },
  on_breach: "stop" as const,
});

const isDown = (skill: string, wait_ms: number): HoldfastError =>
  new HoldfastError("SKILL_DOWN", `${skill} has failed too often, and is given a rest.`, {
    retry_after_s: Math.ceil(wait_ms / 1_000),
    details: { skill },
  });

const withJob = ({ code, message, info }: HoldfastError, job_id: string, skill: string): HoldfastError =>
  new HoldfastError(code, message, {
    ...info,
    suggestion: (info.suggestion ?? ERROR_CATALOGUE[code].next).replace("JOB", job_id),
    details: { ...info.details, skill, job_id },
  });
