/**
 * A worker's life as a state machine. It decides nothing about restarts (the supervisor does) and has no effects: its
 * transition function is pure, and its actions are names that the living worker carries out.
 *
 *   pending ── START ──▶ starting ── LAUNCHED ──▶ running ── EXITED ──▶ settling ── END ──▶ completed │ failed │ …
 *                           ▲                        │ STOP                 ▲  │
 *                           │                        ▼                      │  └─ RESTART_AFTER ─▶ backing_off ──┐
 *                           │                     stopping (terminating ─ grace ─▶ killing) ── EXITED            │
 *                           └────────────────────────────────────────────────────────────────────────────────────┘
 *
 * WAIT leads from `settling` to `waiting`, where the worker has no process until START. `settling` is the time between the
 * process's exit and the supervisor's answer: the worker reads the last output and sweeps what the agent left behind. A stop
 * with a long grace is a state, so that a second stop is taken at once and means "now". END is accepted in every state: a
 * kill may overtake a start that has recorded nothing yet.
 */

import { assign, setup } from "xstate";
import { KILL_REPEAT_MS } from "../../base/limits.ts";
import type { WorkerEnd } from "../../supervisor/child/inputs.ts";

export interface WorkerContext {
  /** The incarnation that runs, or ran last; 0 before the first. */
  readonly incarnation: number;
  /** Milliseconds that are left of the timeout of this incarnation; 0 for no limit. */
  readonly timeout_ms: number;
  /** The grace of the current stop. */
  readonly grace_ms: number;
  readonly signal: string;
  /** A stop arrived while there was no process to signal: it is carried out as soon as there is one. */
  readonly stop_pending: boolean;
  readonly delay_ms: number;
}

export type MachineEvent =
  | { readonly type: "START" }
  /** The agent runs. `timeout_ms` is what is left of its timeout: less than in its spec if the agent was adopted. */
  | { readonly type: "LAUNCHED"; readonly timeout_ms: number }
  /** The timeout has passed on the clock, but some of the time does not count: `timeout_ms` is left. */
  | { readonly type: "TIME_LEFT"; readonly timeout_ms: number }
  /** The process has ended, or could not be started. */
  | { readonly type: "EXITED" }
  /** Pause or continue its processes, as its records say. */
  | { readonly type: "PAUSE" | "UNPAUSE" }
  | { readonly type: "STOP"; readonly grace_ms: number; readonly signal: string }
  | { readonly type: "RESTART_AFTER"; readonly delay_ms: number }
  /** Wait without a process until START. */
  | { readonly type: "WAIT" }
  | { readonly type: "END"; readonly state: WorkerEnd };

export interface WorkerInput {
  readonly incarnation: number;
}

/** The actions that a machine asks of its worker. */
export type WorkerAction = "launch" | "terminate" | "killTree" | "settle" | "reportTimeout" | "applyPause";

const unbound = (): void => undefined;

export const workerMachine = setup({
  types: { context: {} as WorkerContext, events: {} as MachineEvent, input: {} as WorkerInput },
  actions: {
    launch: unbound,
    terminate: unbound,
    killTree: unbound,
    settle: unbound,
    reportTimeout: unbound,
    applyPause: unbound,
    beginIncarnation: assign({ incarnation: ({ context }) => context.incarnation + 1, stop_pending: false }),
    rememberStop: assign({
      stop_pending: true,
      grace_ms: ({ context, event }) => (event.type === "STOP" ? event.grace_ms : context.grace_ms),
      signal: ({ context, event }) => (event.type === "STOP" ? event.signal : context.signal),
    }),
    rememberTimeout: assign({
      timeout_ms: ({ context, event }) =>
        event.type === "LAUNCHED" || event.type === "TIME_LEFT" ? event.timeout_ms : context.timeout_ms,
    }),
    rememberDelay: assign({
      delay_ms: ({ context, event }) => (event.type === "RESTART_AFTER" ? event.delay_ms : context.delay_ms),
    }),
  },
  guards: {
    stopPending: ({ context }) => context.stop_pending,
    hasTimeout: ({ context }) => context.timeout_ms > 0,
    endsCompleted: ({ event }) => event.type === "END" && event.state === "completed",
    endsFailed: ({ event }) => event.type === "END" && event.state === "failed",
    endsParked: ({ event }) => event.type === "END" && event.state === "parked",
    endsHeld: ({ event }) => event.type === "END" && event.state === "held",
  },
  delays: {
    timeout: ({ context }) => context.timeout_ms,
    grace: ({ context }) => context.grace_ms,
    backoff: ({ context }) => context.delay_ms,
    killRepeat: KILL_REPEAT_MS,
  },
}).createMachine({
  id: "worker",
  context: ({ input }) => ({
    incarnation: input.incarnation,
    timeout_ms: 0,
    grace_ms: 0,
    signal: "SIGTERM",
    stop_pending: false,
    delay_ms: 0,
  }),
  initial: "pending",
  on: {
    END: [
      { guard: "endsCompleted", target: ".completed" },
      { guard: "endsFailed", target: ".failed" },
      { guard: "endsParked", target: ".parked" },
      { guard: "endsHeld", target: ".held" },
      { target: ".cancelled" },
    ],
  },
  states: {
    pending: { on: { START: "starting" } },
    starting: {
      entry: ["beginIncarnation", "launch"],
      on: {
        LAUNCHED: [
          { guard: "stopPending", target: "stopping" },
          { target: "running", actions: "rememberTimeout" },
        ],
        EXITED: "settling",
        STOP: { actions: "rememberStop" },
      },
    },
    running: {
      on: {
        EXITED: "settling",
        STOP: { target: "stopping", actions: "rememberStop" },
        // A pause stops the timeout; the worker tells what is left when the agent continues.
        PAUSE: { target: ".unbounded", actions: "applyPause" },
        UNPAUSE: { actions: "applyPause" },
        TIME_LEFT: { target: ".timed", actions: "rememberTimeout" },
      },
      initial: "timed",
      states: {
        timed: { always: [{ guard: "hasTimeout", target: "bounded" }, { target: "unbounded" }] },
        bounded: { after: { timeout: { target: "unbounded", actions: "reportTimeout" } } },
        unbounded: {},
      },
    },
    stopping: {
      on: { EXITED: "settling" },
      initial: "terminating",
      states: {
        terminating: { entry: "terminate", after: { grace: "killing" }, on: { STOP: "killing" } },
        killing: { entry: "killTree", after: { killRepeat: { target: "killing", reenter: true } } },
      },
    },
    settling: {
      entry: "settle",
      on: {
        STOP: { actions: "rememberStop" },
        RESTART_AFTER: [{ target: "backing_off", actions: "rememberDelay" }],
        WAIT: "waiting",
      },
    },
    waiting: { on: { START: "starting" } },
    backing_off: {
      after: { backoff: "starting" },
      on: { START: "starting" },
    },
    completed: { type: "final" },
    failed: { type: "final" },
    cancelled: { type: "final" },
    parked: { type: "final" },
    held: { type: "final" },
  },
});
