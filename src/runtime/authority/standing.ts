/**
 * Decides whether a caller may act on other workers (decision 0033): by its relation to them, its rights, and whether its
 * run is being ended. Pure: all three are passed in.
 */
import { byOf, type Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** A worker and its ancestors by spawn, itself first. */
export type Lineage = readonly string[];

/** The relation of a target to the caller. A relative has the same topmost worker. */
export type Relation = "self" | "below" | "above" | "relative" | "stranger";

export const kinOf = (caller: Lineage, target: Lineage): Relation => {
  if (caller[0] === target[0]) return "self";
  if (target.includes(caller[0] ?? "")) return "below";
  if (caller.includes(target[0] ?? "")) return "above";
  return caller.at(-1) === target.at(-1) ? "relative" : "stranger";
};

/**
 * Actions on workers: the verb for sentences, and the relations for which the action is never allowed, whatever rights the
 * caller has.
 */
const DEEDS = {
  kill: { said: "kill", never: [] },
  restart: { said: "restart", never: [] },
  pause: { said: "pause", never: [] },
  cancel: { said: "end the turn of", never: [] },
  remove: { said: "remove the worktree of", never: [] },
  archive: { said: "archive", never: [] },
  rename: { said: "rename", never: [] },
  // Only the worker itself reads its messages.
  poll: {
    said: "read the mailbox of",
    never: ["below", "above", "relative", "stranger"],
  },
  // A paused worker must not unpause itself.
  unpause: { said: "unpause", never: ["self", "above"] },
  answer: { said: "answer a question about", never: ["self", "above"] },
  // Relatives could otherwise grant each other's requests.
  approve: {
    said: "answer a request for permission of",
    never: ["self", "below", "above", "relative"],
  },
} as const satisfies Readonly<Record<string, { readonly said: string; readonly never: readonly Relation[] }>>;
export type Deed = keyof typeof DEEDS;

/** The facts about a caller that decide. */
export interface CallerStanding {
  readonly caller: Caller;
  readonly line: Lineage;
  /** The worker or one of its ancestors has reduced rights. */
  readonly isReduced: boolean;
  /** The worker or one of its ancestors has reduced rights or limits. */
  readonly isBounded: boolean;
  /** Why its run may start nothing more: it is being stopped, was killed, or has ended. Undefined if it may. */
  readonly ending: string | undefined;
}

const denied = (message: string, suggestion: string, details: Readonly<Record<string, string>>) =>
  new HoldfastError("POLICY_VIOLATION", message, { suggestion, details });

const ASK_A_PERSON = "Ask the person who runs the daemon to do it.";

/** The refusal of an action; undefined if it is allowed. `isDone`: the target was killed or is being stopped. */
export const refusalOf = (
  standing: CallerStanding,
  deed: Deed,
  target: { readonly line: Lineage; readonly isDone: boolean },
): HoldfastError | undefined => {
  const { caller, line, ending } = standing;
  if (caller.type !== "worker") return undefined;
  const kin = kinOf(line, target.line);
  const starts = deed === "restart" || deed === "unpause";
  if (starts && ending !== undefined) return over(ending);
  if (deed === "restart" && target.isDone && (kin === "self" || kin === "above"))
    return over(`Worker ${target.line[0]} was killed or is being stopped`);
  const details = { by: byOf(caller), worker_id: target.line[0] ?? "", kin };
  const { said, never }: { readonly said: string; readonly never: readonly Relation[] } = DEEDS[deed];
  if (never.includes(kin))
    return denied(`Worker ${caller.worker_id} may not ${said} ${whom(kin)}.`, ASK_A_PERSON, details);
  const isOwn = kin === "self" || kin === "below";
  return isOwn || !standing.isReduced
    ? undefined
    : denied(
        `Worker ${caller.worker_id} runs with reduced rights: it may not ${said} a worker that it did not spawn.`,
        ASK_A_PERSON,
        details,
      );
};

/** The refusal of an action that concerns all workers (trees of files, the daemon, its log); undefined if it is allowed. */
export const refusalOfAll = (standing: CallerStanding, what: string): HoldfastError | undefined => {
  const { caller, isBounded, ending } = standing;
  if (caller.type !== "worker") return undefined;
  if (ending !== undefined) return over(ending);
  return isBounded
    ? denied(
        `Worker ${caller.worker_id} runs with reduced rights or a budget: it may not ${what}.`,
        ASK_A_PERSON,
        { by: byOf(caller) },
      )
    : undefined;
};

/** A run that is being ended may start nothing. */
export const refusalOfStart = ({ caller, ending }: CallerStanding): HoldfastError | undefined =>
  caller.type === "worker" && ending !== undefined ? over(ending) : undefined;

/**
 * An unknown caller may belong to a run with reduced rights. A program that the daemon runs itself never acts for the user.
 */
export const refusalOfUnknown = (
  caller: Caller,
  isAnybodyBounded: () => boolean,
): HoldfastError | undefined => {
  if (caller.type !== "unknown") return undefined;
  if (caller.of_daemon)
    return denied(
      "A program that the daemon itself runs, such as a filter of git, asks for this. It may change nothing.",
      "Ask from a terminal, or from inside a worker.",
      { by: byOf(caller) },
    );
  return isAnybodyBounded()
    ? denied(
        "It is unknown who asks for this: the process that made the connection has ended, and workers run with reduced rights or a budget.",
        "Ask from a process that waits for the answer.",
        { by: byOf(caller) },
      )
    : undefined;
};

const over = (why: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `${why}: nothing may be started from inside it.`, {
    suggestion: "Start it from outside its run: agent restart ID",
  });

const WHOM: Readonly<Record<Relation, string>> = {
  self: "itself",
  below: "a worker that it spawned",
  above: "a worker above it",
  relative: "a worker of its own family",
  stranger: "another worker",
};
const whom = (kin: Relation): string => WHOM[kin];
