/**
 * The surroundings of one worker in a daemon (src/actors/worker/worker.ts), with the real machine inside: it launches, signals and
 * settles with delays, and dies with its daemon.
 */
import { type MachineStep, makeStepper, type Position } from "../../src/actors/machine/stepper.ts";
import type { MachineEvent, WorkerAction } from "../../src/actors/machine/worker-machine.ts";
import { MAILBOX_MAX_REPEATABLE } from "../../src/base/limits.ts";
import type { RunExit } from "../../src/protocol/incarnation.ts";
import type { WorkerError } from "../../src/protocol/records.ts";
import type { BootAction } from "../../src/supervisor/boot/reconcile.ts";
import { failedToStart, NOT_STARTED } from "../../src/supervisor/child/exits.ts";
import type { ChildCommand, ChildInput } from "../../src/supervisor/child/inputs.ts";
import { isPaused, wasPaused } from "../../src/supervisor/holds/pause.ts";
import type { Daemon } from "./daemon.ts";
import type { Process } from "./processes.ts";

const stepper = makeStepper();

const IDENTITY = { pid: 1, start_time: "1", boot_id: "sim", pid_ns: "1" };
export const SPAWNED = { pid: 1, pgid: 1, agent: IDENTITY, launcher: IDENTITY, argv: [] };
/** A pause takes a look at the process table; it is through before any signal that comes after it. */
const PAUSE_MS = 0;
const LOST: WorkerError = { code: "WORKER_LOST", message: "The agent was never started." };
const UNSTARTABLE: WorkerError = { code: "AGENT_FAILED", message: "There is no such program." };

export const exited = (exit: RunExit): Extract<ChildInput, { type: "exited" }> => ({
  type: "exited",
  exit,
  duration_ms: 1,
  outcome:
    exit.exit_code === 0
      ? { status: "completed", completion: { status: { code: 0, signal: null } } }
      : failedToStart({ code: "AGENT_FAILED", message: `It exited with ${exit.exit_code ?? exit.signal}.` }),
});

export class Shell {
  readonly id: string;
  readonly #daemon: Daemon;
  #position: Position;
  readonly mailbox: MachineEvent[] = [];
  #timers = new Map<string, object>();
  #process: Process | undefined;
  #error: WorkerError | undefined;
  #live = true;
  /** Messages wait until the machine has taken its first step. */
  #begun = false;

  constructor(daemon: Daemon, id: string, action: Exclude<BootAction, { type: "leave" }>, found?: Process) {
    this.id = id;
    this.#daemon = daemon;
    const { incarnation, stop } = daemon.childOf(id);
    const { context } = stepper.initial({ incarnation })[0];
    this.#position = stepper.initial({ incarnation })[0];
    const begin = (value: "starting" | "settling" | "pending", event: MachineEvent): void => {
      this.#begun = true;
      this.#take(stepper.step(stepper.at(value, context), event));
      for (const _ of this.mailbox) this.#deliver();
      // Stopped before the crash: told again.
      if (stop !== null)
        this.tell({
          type: "STOP",
          grace_ms: stop.kind === "kill" ? stop.grace_ms : 1_000,
          signal: "SIGTERM",
        });
    };
    if (action.type === "start") begin("pending", { type: "START" });
    if (action.type === "back_off") begin("settling", { type: "RESTART_AFTER", delay_ms: action.delay_ms });
    if (action.type === "settle") {
      this.#process = found;
      begin("starting", { type: "EXITED" });
    }
    // Not before every worker has its shell: a decision about this one may command another.
    if (action.type === "adopt" && found !== undefined) {
      const adopt = () =>
        this.#fact({ type: "adopted", spawned: SPAWNED }, () => {
          this.#attach(found);
          begin("starting", { type: "LAUNCHED", timeout_ms: 0 });
          this.#pauseAgain();
        });
      this.#soon(adopt, 0);
    }
  }

  /** Its daemon has died, or another shell has taken its place. */
  drop() {
    this.#live = false;
    if (this.#process !== undefined) this.#process.onExit = undefined;
  }

  get process(): Process | undefined {
    return this.#process;
  }

  order(command: ChildCommand) {
    switch (command.type) {
      case "start":
        return this.tell({ type: "START" });
      case "stop":
        return this.tell({ type: "STOP", grace_ms: command.grace_ms, signal: command.signal });
      case "restart_after":
        return this.tell({ type: "RESTART_AFTER", delay_ms: command.delay_ms });
      case "end":
        return this.tell({ type: "END", state: command.state });
      case "pause":
        return this.tell({ type: "PAUSE" });
      case "unpause":
        return this.tell({ type: "UNPAUSE" });
    }
  }

  tell(event: MachineEvent): void {
    if (event.type === "STOP" && this.mailbox.length >= MAILBOX_MAX_REPEATABLE) return;
    this.mailbox.push(event);
    if (this.#begun) this.#deliver();
  }

  #deliver() {
    this.#soon(() => {
      const next = this.mailbox.shift();
      if (next !== undefined) this.#take(stepper.step(this.#position, next));
    }, 0);
  }

  #soon(step: () => void, delay_ms = this.#daemon.latency()) {
    this.#daemon.after(delay_ms, () => this.#live, step);
  }

  #take([position, steps]: readonly [Position, readonly MachineStep[]]) {
    this.#position = position;
    for (const step of steps) {
      if (step.type === "disarm") this.#timers.delete(step.timer);
      else if (step.type === "arm") this.#arm(step.timer, step.delay_ms, step.event);
      else this.#act(step.action);
    }
    if (position.status !== "active") {
      this.#live = false;
      this.#daemon.leave(this);
    }
  }

  #arm(timer: string, delay_ms: number, event: MachineEvent) {
    const token = {};
    this.#timers.set(timer, token);
    this.#daemon.after(
      delay_ms,
      () => this.#live && this.#timers.get(timer) === token,
      () => {
        this.#timers.delete(timer);
        this.#take(stepper.step(this.#position, event));
      },
    );
  }

  #act(action: WorkerAction) {
    const { incarnation, signal } = this.#position.context;
    const process = this.#process;
    switch (action) {
      case "launch":
        return this.#soon(() => this.#launch(incarnation));
      case "terminate":
        return this.#soon(() => process !== undefined && this.#daemon.processes.signal(process, signal));
      case "killTree":
        return this.#soon(() => process !== undefined && this.#daemon.processes.signal(process, "SIGKILL"));
      case "settle":
        return this.#soon(() => this.#settle());
      case "applyPause":
        return process !== undefined && this.#applyPause(process);
      case "reportTimeout":
        return this.#soon(() =>
          this.#fact({ type: "limit", limit: "timeout", value: 1, bound: 1, grace_ms: 1_000 }),
        );
    }
  }

  #pauseAgain(): void {
    const child = this.#daemon.childOf(this.id);
    if (isPaused(child)) this.tell({ type: "PAUSE" });
    else if (wasPaused(child)) this.tell({ type: "UNPAUSE" });
  }

  /** The process does as the newest record says, after those before it. */
  #applyPause(process: Process): void {
    const paused = isPaused(this.#daemon.childOf(this.id));
    if (!paused) this.#watchReady(process);
    this.#soon(() => {
      process.paused = paused;
    }, PAUSE_MS);
  }

  #fact(input: ChildInput, done: () => void = () => undefined): void {
    this.#daemon.fact(this.id, input, () => this.#live, done);
  }

  #launch(incarnation: number): void {
    const daemon = this.#daemon;
    this.#error = undefined;
    this.#fact({ type: "begin", incarnation, reason: "restart" }, () => {
      // Killed before it began.
      if (!daemon.isOpen(this.id)) return;
      this.#soon(() => {
        if (daemon.childOf(this.id).stop !== null || daemon.isUnstartable()) {
          this.#error = UNSTARTABLE;
          return this.tell({ type: "EXITED" });
        }
        const process = daemon.launch(this.id, incarnation);
        if (process === undefined) return;
        this.#soon(() =>
          this.#fact({ type: "launched", spawned: SPAWNED }, () => {
            this.#attach(process);
            this.tell({ type: "LAUNCHED", timeout_ms: daemon.timeoutOf(this.id) });
            this.#pauseAgain();
          }),
        );
      });
    });
  }

  #attach(process: Process) {
    this.#process = process;
    const tell = () => this.tell({ type: "EXITED" });
    process.onExit = tell;
    if (!process.alive) this.#soon(tell);
    else this.#watchReady(process);
  }

  #watchReady(process: Process) {
    const daemon = this.#daemon;
    const { awaits_ready, ready } = daemon.childOf(this.id);
    const spec = daemon.specNow(this.id).ready;
    if (!awaits_ready || ready || spec === undefined) return;
    const wanted = () => this.#live && this.#process === process;
    const after_ms = daemon.readyAfter(spec.within_ms);
    if (after_ms < spec.within_ms)
      daemon.after(after_ms, wanted, () => this.#fact({ type: "ready", condition: "log", after_ms }));
    daemon.after(spec.within_ms, wanted, () => {
      if (!daemon.isOpen(this.id) || daemon.childOf(this.id).ready) return;
      const { within_ms } = spec;
      this.#fact({ type: "limit", limit: "ready", value: within_ms, bound: within_ms, grace_ms: 1_000 });
    });
  }

  #settle() {
    const process = this.#process;
    this.#process = undefined;
    if (process === undefined) {
      const error = this.#error ?? LOST;
      return this.#fact({
        type: "exited",
        exit: NOT_STARTED,
        outcome: failedToStart(error),
        duration_ms: 1,
        error,
      });
    }
    process.onExit = undefined;
    this.#fact(exited(this.#daemon.processes.exitOf(process)));
  }
}
