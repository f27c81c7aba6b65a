/** The errors of schedules. */
import { SCHEDULES_MAX } from "../../base/limits.ts";
import { didYouMean } from "../../base/suggest.ts";
import { HoldfastError } from "../../protocol/errors.ts";

export const noSchedule = (name: string, known: readonly string[] = []): HoldfastError =>
  new HoldfastError("SCHEDULE_NOT_FOUND", `There is no schedule "${name}"${didYouMean(name, known) || "."}`);

export const scheduleTaken = (name: string, tree: string | null): HoldfastError =>
  new HoldfastError(
    "ALREADY_EXISTS",
    `A schedule is called "${name}" already${tree === null ? "" : `: it stands in the file of the tree ${tree}`}.`,
    {
      suggestion:
        tree === null
          ? `Choose another name, or remove that one first: agent schedule remove ${name}`
          : "Choose another name: names of schedules are unique over all files of a daemon.",
    },
  );

export const schedulesFull = (): HoldfastError =>
  new HoldfastError(
    "QUEUE_FULL",
    `There are ${SCHEDULES_MAX} schedules, which is all that a daemon may have.`,
    { suggestion: "Remove some of them first: agent schedule list" },
  );

export const heldByFile = (name: string, tree: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `The schedule "${name}" stands in the file of the tree ${tree}.`, {
    suggestion: `Take it out of the file and run \`agent up\`, or pause it: agent schedule pause ${name}`,
  });

export const neverDue = (name: string, cron: string): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `${name}: cron "${cron}" has no time that ever comes.`, {
    phase: "validation",
    suggestion: "See the next times of a line with: agent schedule next CRON",
  });

export const stillRunning = (name: string, running: readonly string[]): HoldfastError =>
  new HoldfastError(
    "INVALID_STATE",
    `The run before it goes on (${running.join(", ") || "it is about to start"}), and overlap of the schedule "${name}" does not allow another one.`,
    { suggestion: "Wait for its end with `agent wait`, or end it with `agent kill`." },
  );
