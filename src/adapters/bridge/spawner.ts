/**
 * A runtime behind a bridge (runtime-architecture.txt, Runtime boundaries): another program, such as a BEAM, that executes
 * workers. It owns no truth. The log and the files of a run say what is; the bridge is asked, and looked at to reconcile.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { crashPoint } from "../../base/crash-point.ts";
import {
  BRIDGE_ANSWER_MS,
  BRIDGE_LAUNCH_MS,
  BRIDGE_PAGES_MAX,
  BRIDGE_START_MS,
  BRIDGE_STATE_PERIOD_MS,
  BRIDGE_STATE_RUNS_MAX,
  BRIDGE_UP_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ProcessIdentity } from "../../protocol/records.ts";
import { runOf } from "../process/living.ts";
import { markerOf } from "../process/marker.ts";
import { Releaser } from "../process/release.ts";
import type {
  LaunchRequest,
  LivingRun,
  ObservedRun,
  ObserveRequest,
  Run,
  RunId,
  RuntimeAbility,
  RuntimeSpawner,
} from "../spawner.ts";
import type { BridgeFailure } from "./connection.ts";
import { BridgeLink, LINK_TIMES, type LinkPorts, type LinkTimes } from "./link.ts";
import { BRIDGE_PROTOCOL, type BridgeResult, type PluginConfig } from "./messages.ts";
import { isGone } from "./program.ts";
import { BridgedRun, type BridgedRunGround } from "./run.ts";
import { type RunClaim, RunFiles } from "./run-files.ts";

const BRIDGE_KIND = "bridge";

/** A daemon as the runs of a bridge ask it. */
export interface AskedDaemon {
  /** Absolute path of its own socket. */
  readonly socket: string;
  /** Absolute path of the `agent` command. */
  readonly binary: string;
}

export interface BridgeSpawnerOptions
  extends Pick<LinkPorts, "name" | "socket" | "store_id" | "program" | "peerPid" | "report"> {
  /** Absolute path. */
  readonly runsDir: string;
  /** By the configuration. */
  readonly abilities: ReadonlySet<RuntimeAbility>;
  /** The daemon that runs may ask; undefined in a program without one. */
  readonly daemon: AskedDaemon | undefined;
  readonly times?: Partial<LinkTimes & { readonly state_period_ms: number; readonly launch_ms: number }>;
}

export class BridgeSpawner implements RuntimeSpawner {
  readonly backend_kind = BRIDGE_KIND;
  readonly abilities: ReadonlySet<RuntimeAbility>;
  private readonly options: BridgeSpawnerOptions;
  private readonly link: BridgeLink;
  private readonly ground: BridgedRunGround;
  /** Runs that are supervised, by their markers. */
  private readonly runs = new Map<string, BridgedRun>();
  /** Ended runs that the bridge may forget. */
  private readonly forgettable = new Set<string>();
  private readonly sweeping: NodeJS.Timeout;
  private isSweeping = false;
  private readonly upMs: number;
  private lastHost: ProcessIdentity | undefined;

  constructor(options: BridgeSpawnerOptions) {
    this.options = options;
    this.abilities = options.abilities;
    this.upMs = options.program === undefined ? BRIDGE_UP_MS : BRIDGE_START_MS;
    const { answer_ms = BRIDGE_ANSWER_MS, state_period_ms = BRIDGE_STATE_PERIOD_MS } = options.times ?? {};
    this.link = new BridgeLink({
      ...options,
      times: { ...LINK_TIMES, ...options.times },
      onUp: ({ instance, host }) => {
        this.lastHost = host;
        for (const run of this.runs.values()) run.meet(instance);
      },
      onDown: () => {
        for (const run of this.runs.values()) run.lookForHost();
      },
    });
    this.ground = {
      link: this.link,
      releaser: new Releaser(options.report),
      report: options.report,
      answer_ms,
      onEnd: (run) => {
        this.runs.delete(run.marker);
        this.forgettable.add(run.marker);
      },
    };
    this.sweeping = setInterval(() => this.sweepStates(), state_period_ms);
    this.sweeping.unref();
    this.link.open();
  }

  trouble(): ReturnType<NonNullable<RuntimeSpawner["trouble"]>> {
    return this.link.trouble();
  }

  /** The last one that was connected: its runs may ask the daemon also while the link is down. */
  host(): ReturnType<NonNullable<RuntimeSpawner["host"]>> {
    return this.lastHost;
  }

  async check(): Promise<void> {
    await this.link.up(this.upMs);
  }

  async launch(request: LaunchRequest): Promise<Run> {
    const session = await this.link.up(this.upMs);
    const files = this.filesOf(request);
    files.claim(session);
    crashPoint("bridge-claimed");
    const ref = await this.begin(request, files, session);
    crashPoint("bridge-started");
    return this.follow(request, ref, session, files);
  }

  async observe(id: ObserveRequest): Promise<ObservedRun> {
    const files = this.filesOf(id);
    const claim = files.claimed();
    if (claim === undefined) return { kind: "never_started" };
    const known = this.runs.get(this.markerOf(id)) ?? this.runFor(id, id.ref, claim, files);
    if (known.exit() === undefined) {
      if (isGone(claim.host)) known.lose();
      else await this.reconcile(known, claim);
    }
    const exit = known.exit();
    if (exit === undefined) return { kind: "running", run: this.kept(known) };
    return exit.reason === "unknown" ? { kind: "lost", run: known } : { kind: "finished", exit, run: known };
  }

  async living(): Promise<readonly LivingRun[]> {
    const { store_id } = this.options;
    const found: LivingRun[] = [];
    // With a bridge that is down there is nothing that could be ended.
    if (this.link.current() === undefined) return found;
    let after: string | null = null;
    for (let pages = 0; pages < BRIDGE_PAGES_MAX; pages += 1) {
      const asked = { store_id, parent: null, after, limit: BRIDGE_STATE_RUNS_MAX };
      const page: BridgeResult<"runtime.get_children"> = await this.asked(
        this.link.request("runtime.get_children", asked),
      );
      const { runs, next } = page;
      found.push(...runs.flatMap(({ run }) => runOf(run, store_id) ?? []).map((id) => ({ ...id, pids: [] })));
      if (next === null || (after !== null && next <= after)) break;
      after = next;
    }
    return found;
  }

  async end(id: RunId): Promise<{ readonly survivors: readonly number[] }> {
    await this.asked(this.link.request("runtime.signal", { run: this.markerOf(id), signal: "SIGKILL" }));
    return { survivors: [] };
  }

  async close(): Promise<void> {
    clearInterval(this.sweeping);
    if (this.runs.size === 0) this.options.program?.stop();
    for (const run of this.runs.values()) run.dispose();
    this.runs.clear();
    this.link.close();
  }

  private markerOf({ worker_id, incarnation }: RunId): string {
    return markerOf(this.options.store_id, worker_id, incarnation);
  }

  private filesOf(id: RunId): RunFiles {
    return new RunFiles(this.options.runsDir, id);
  }

  private runFor(id: RunId, ref: string | undefined, claim: RunClaim, files: RunFiles): BridgedRun {
    return new BridgedRun(id, { marker: this.markerOf(id), ref, claim }, files, this.ground);
  }

  private kept(run: BridgedRun): BridgedRun {
    this.runs.set(run.marker, run);
    run.follow();
    return run;
  }

  private follow(id: RunId, ref: string, claim: RunClaim, files: RunFiles): BridgedRun {
    return this.kept(this.runFor(id, ref, claim, files));
  }

  /**
   * Asks for the start until there is an answer: a start that is repeated in one life of the bridge starts nothing. The search
   * for orphans ends a run whose answer came too late.
   */
  private async begin(request: LaunchRequest, files: RunFiles, { instance }: RunClaim): Promise<string> {
    const deadline = performance.now() + (this.options.times?.launch_ms ?? BRIDGE_LAUNCH_MS);
    const parent = this.parentOf(request);
    for (;;) {
      try {
        const start = this.startOf(request);
        const { ref } =
          parent === undefined
            ? await this.link.request("runtime.start_agent", start)
            : await this.link.request("runtime.spawn_child", { ...start, parent });
        return ref;
      } catch (cause) {
        const { kind, message } = cause as BridgeFailure;
        if (kind === "refused") files.disclaim();
        if (kind === "refused" || performance.now() > deadline) throw this.notStarted(message);
        const left = Math.max(1, deadline - performance.now());
        const back = await this.link.up(left).catch(() => undefined);
        if (back?.instance !== instance) throw this.notStarted(message);
      }
    }
  }

  private notStarted(message: string): HoldfastError {
    return new HoldfastError(
      "EXEC_FAILED",
      `The bridge ${this.options.name} did not start the run: ${message}.`,
      {
        suggestion: "See its own log, and `agent daemon status` for its standing.",
      },
    );
  }

  /** The marker of the parent's run, if it lives in this bridge too. */
  private parentOf({ parent }: LaunchRequest): string | undefined {
    if (parent === undefined) return undefined;
    return [...this.runs.values()].find(({ worker_id }) => worker_id === parent)?.marker;
  }

  private startOf(request: LaunchRequest) {
    const { worker_id, incarnation, argv, cwd, env, stdin } = request;
    const { daemon } = this.options;
    return {
      run: this.markerOf(request),
      worker_id,
      incarnation,
      argv,
      cwd,
      env,
      stdin: stdin.kind === "empty" ? "" : stdin.text,
      ...(daemon && { daemon_socket: daemon.socket, plugin_config: pluginConfig(daemon, request) }),
    };
  }

  /** A run that the log has as running, as the bridge has it. */
  private async reconcile(run: BridgedRun, claim: RunClaim): Promise<void> {
    const { instance } = await this.link.up(this.upMs);
    const [found] = instance === claim.instance ? await this.statesOf([run]) : [];
    if (found === undefined || found.state === "unknown") run.lose();
    else if (found.state === "ended") await this.fetchEnd(run);
    else run.seen(found.state);
  }

  private async fetchEnd(run: BridgedRun): Promise<void> {
    this.kept(run);
    await Promise.race([run.exited, sleep(this.ground.answer_ms, undefined, { ref: false })]);
    if (run.exit() === undefined) throw this.link.down();
  }

  private async statesOf(runs: readonly BridgedRun[], forget: readonly string[] = []) {
    const { store_id } = this.options;
    const asked = { protocol: BRIDGE_PROTOCOL, store_id, runs: runs.map(({ marker }) => marker), forget };
    const { runs: states } = await this.asked(this.link.request("runtime.state", asked));
    const told = new Map(states.map(({ run, state }) => [run, state]));
    return runs.flatMap((run) => {
      const state = told.get(run.marker);
      return state === undefined ? [] : [{ run, state }];
    });
  }

  /** Heartbeats, in bulk. A request that fails leaves them to age. */
  private sweepStates(): void {
    if (this.isSweeping || this.link.current() === undefined) return;
    this.isSweeping = true;
    this.askStates()
      .catch(() => undefined)
      .finally(() => {
        this.isSweeping = false;
      });
  }

  private async askStates(): Promise<void> {
    const runs = [...this.runs.values()];
    const forget = [...this.forgettable].slice(0, BRIDGE_STATE_RUNS_MAX);
    for (let from = 0; from === 0 || from < runs.length; from += BRIDGE_STATE_RUNS_MAX) {
      const some = runs.slice(from, from + BRIDGE_STATE_RUNS_MAX);
      const forgotten = from === 0 ? forget : [];
      for (const { run, state } of await this.statesOf(some, forgotten)) {
        if (state === "unknown") run.lose();
        // The answer to its `await` brings the end, behind its output.
        else if (state !== "ended") run.seen(state);
      }
      for (const marker of forgotten) this.forgettable.delete(marker);
    }
  }

  private async asked<A>(answer: Promise<A>): Promise<A> {
    try {
      return await answer;
    } catch (cause) {
      const { name } = this.options;
      const { suggestion } = this.link.down();
      throw new HoldfastError(
        "UNAVAILABLE",
        `The bridge ${name} did not answer: ${(cause as Error).message}.`,
        {
          cause,
          suggestion,
        },
      );
    }
  }
}

const pluginConfig = ({ binary }: AskedDaemon, { cwd, tools }: LaunchRequest): PluginConfig => ({
  binary,
  workspace: cwd,
  transport: "daemon_rpc",
  daemon: true,
  tool_command: {
    profile: tools?.profile ?? "worker",
    allowed_tools: tools?.allowed ?? [],
    default_timeout_ms: tools?.timeout_ms ?? 0,
  },
});
