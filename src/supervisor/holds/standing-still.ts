/** Workers that stand still, why, and what lets them go on: for whoever asks `agent why`. Pure. */
import type { PauseCause } from "./pause.ts";

export interface Standing {
  /** As the commands take it: its name, else its id. */
  readonly ref: string;
  readonly causes: readonly PauseCause[];
}

/** The pauses of all that run below a supervisor; undefined where nobody is paused. */
export const pausedBelow = (running: readonly Standing[]): string | undefined => {
  const paused = running.filter(({ causes }) => causes.length > 0);
  if (paused.length === 0) return undefined;
  const all = new Set(paused.flatMap(({ causes }) => causes.map(({ reason, detail }) => detail || reason)));
  const [first = "", ...more] = all;
  const rest =
    more.length === 0 ? "" : `, and for ${more.length} other reason${more.length === 1 ? "" : "s"}`;
  return `${paused.length} of the ${running.length} that run below it ${paused.length === 1 ? "is" : "are"} paused: ${first}${rest}`;
};

/** The way on from a budget that is spent. */
export const grantStep = (ref: string): string => `grant more, or end it: agent answer ${ref} continue|stop`;

/**
 * A person's next step for those that are paused. `ref` is who was asked about; `asks`, where a question of its own budget
 * stands.
 */
export const pauseSuggestion = (
  ref: string,
  asks: boolean,
  running: readonly Standing[],
): string | undefined => {
  const of = (reason: PauseCause["reason"]) =>
    running.find(({ causes }) => causes.some((cause) => cause.reason === reason));
  const asked = of("budget");
  const steps = [
    ...(asked === undefined ? [] : [grantStep(asks ? ref : asked.ref)]),
    ...(of("operator") === undefined ? [] : [`let go on: agent unpause ${ref}`]),
    ...(of("output") === undefined ? [] : ["it goes on by itself when enough of its output is read"]),
    ...(of("disk") === undefined
      ? []
      : ["it goes on by itself when the disk has room: agent doctor says how much it has"]),
  ];
  return steps.length === 0 ? undefined : steps.join("; ");
};
