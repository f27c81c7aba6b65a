/** Counts as a screen reader says them. Pure. */

const counted = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`;

export const spokenCounts = (waiting: number, live: number): string =>
  `${counted(waiting, "question waits", "questions wait")} for you. ${counted(live, "worker is", "workers are")} live.`;
