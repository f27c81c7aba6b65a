/** Paused workers, the reasons, and how to continue them; for `agent why`. Pure. */
import type { PauseCause } from "./pause.ts";

export interface PausedWorker {
  /** Its name, else its id, as commands take it. */
  readonly ref: string;
  readonly causes: readonly PauseCause[];
}

/** The pauses of all workers below a supervisor; undefined if none is paused. */
export const pausedBelow = (running: readonly PausedWorker[]): string | undefined => {
  const paused = running.filter(({ causes }) => causes.length > 0);
  if (paused.length === 0) return undefined;
  const all = new Set(paused.flatMap(({ causes }) => causes.map(({ reason, detail }) => detail || reason)));
  const [first = "", ...more] = all;
  const rest =
    more.length === 0 ? "" : `, and for ${more.length} other reason${more.length === 1 ? "" : "s"}`;
  return `${paused.length} of the ${running.length} that run below it ${paused.length === 1 ? "is" : "are"} paused: ${first}${rest}`;
};

/** The next step after a spent budget. */
export const grantStep = (ref: string): string => `grant more, or end it: agent answer ${ref} continue|stop`;

/**
 * The next step for a person, for paused workers. `ref` is the worker or supervisor in question; `asks` says whether its own
 * budget has an open question.
 */
export const pauseSuggestion = (
  ref: string,
  asks: boolean,
  running: readonly PausedWorker[],
): string | undefined => {
  const of = (reason: PauseCause["reason"]) =>
    running.find(({ causes }) => causes.some((cause) => cause.reason === reason));
  const asked = of("budget");
  const steps = [
    ...(asked === undefined ? [] : [grantStep(asks ? ref : asked.ref)]),
    ...(of("operator") === undefined ? [] : [`continue: agent unpause ${ref}`]),
    ...(of("output") === undefined ? [] : ["it continues by itself once enough of its output is read"]),
    ...(of("disk") === undefined
      ? []
      : ["it continues by itself once the disk has room: agent doctor shows how much it has"]),
  ];
  return steps.length === 0 ? undefined : steps.join("; ");
};
