/**
 * Decides whether a caller may do something to others (decision 0033), by their kinship, its rights, and whether its run is being ended. Pure: all three
 * are passed in.
 */
import { byOf, type Caller } from "../../protocol/caller.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** A worker and those above it, itself first: who asked for whom. */
export type Line = readonly string[];

/** How a target stands to the caller. A relative shares the worker at the top with it. */
export type Kin = "self" | "below" | "above" | "relative" | "stranger";

export const kinOf = (caller: Line, target: Line): Kin => {
  if (caller[0] === target[0]) return "self";
  if (target.includes(caller[0] ?? "")) return "below";
  if (caller.includes(target[0] ?? "")) return "above";
  return caller.at(-1) === target.at(-1) ? "relative" : "stranger";
};

export type Deed = "kill" | "restart" | "pause" | "unpause" | "cancel" | "remove" | "answer" | "approve";

/** The caller, as far as its worker is on record. */
export interface Standing {
  readonly caller: Caller;
  readonly line: Line;
  /** It, or one above it, may do less than its user. */
  readonly isReduced: boolean;
  /** Or may spend or start only so much. */
  readonly isBounded: boolean;
  /** Why its run may start nothing more: it is being stopped, was killed, or is over. */
  readonly ending: string | undefined;
}

/** Kin to whom a deed is never allowed, whatever rights the caller has. */
const NEVER: Readonly<Record<Deed, readonly Kin[]>> = {
  kill: [],
  restart: [],
  pause: [],
  cancel: [],
  remove: [],
  // A worker that stands still is not to go on by its own word.
  unpause: ["self", "above"],
  answer: ["self", "above"],
  // A request of one of them could be answered by the others.
  approve: ["self", "below", "above", "relative"],
};

const denied = (message: string, suggestion: string, details: Readonly<Record<string, string>>) =>
  new HoldfastError("POLICY_VIOLATION", message, { suggestion, details });

const ASK_A_PERSON = "Ask the person who runs the daemon to do it.";

/** Why it may not; undefined where it may. `isDone`: the target was killed, or is being stopped. */
export const refusalOf = (
  standing: Standing,
  deed: Deed,
  target: { readonly line: Line; readonly isDone: boolean },
): HoldfastError | undefined => {
  const { caller, line, ending } = standing;
  if (caller.type !== "worker") return undefined;
  const kin = kinOf(line, target.line);
  const starts = deed === "restart" || deed === "unpause";
  if (starts && ending !== undefined) return over(ending);
  if (deed === "restart" && target.isDone && (kin === "self" || kin === "above"))
    return over(`Worker ${target.line[0]} was killed or is being stopped`);
  const details = { by: byOf(caller), worker_id: target.line[0] ?? "", kin };
  if (NEVER[deed].includes(kin))
    return denied(`Worker ${caller.worker_id} may not ${said(deed)} ${whom(kin)}.`, ASK_A_PERSON, details);
  const isOwn = kin === "self" || kin === "below";
  return isOwn || !standing.isReduced
    ? undefined
    : denied(
        `Worker ${caller.worker_id} runs with reduced rights: it may not ${said(deed)} a worker that it has not asked for.`,
        ASK_A_PERSON,
        details,
      );
};

/** Decides about deeds that concern all workers: trees of files, the daemon, its log. */
export const refusalOfAll = (standing: Standing, what: string): HoldfastError | undefined => {
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

/** Nothing begins from within what is being ended. */
export const refusalOfStart = ({ caller, ending }: Standing): HoldfastError | undefined =>
  caller.type === "worker" && ending !== undefined ? over(ending) : undefined;

/** It may be anybody's, also of a run that may do less. A program that the daemon runs itself is never the user's. */
export const refusalOfUnknown = (
  caller: Caller,
  isAnybodyBounded: () => boolean,
): HoldfastError | undefined => {
  if (caller.type !== "unknown") return undefined;
  if (caller.of_daemon)
    return denied(
      "A program that the daemon runs itself, such as a filter of git, asks for this; it may change nothing.",
      "Ask from a terminal, or from inside a worker.",
      { by: byOf(caller) },
    );
  return isAnybodyBounded()
    ? denied(
        "Nobody can say who asks for this: the process that made the connection has ended, and workers run with reduced rights or a budget.",
        "Ask from a process that stays until it is answered.",
        { by: byOf(caller) },
      )
    : undefined;
};

const over = (why: string): HoldfastError =>
  new HoldfastError("INVALID_STATE", `${why}: nothing from inside it starts anything.`, {
    suggestion: "Start it from outside of its run: agent restart ID",
  });

const SAID: Readonly<Record<Deed, string>> = {
  kill: "kill",
  restart: "restart",
  pause: "pause",
  unpause: "unpause",
  cancel: "end the turn of",
  remove: "remove the worktree of",
  answer: "answer a question about",
  approve: "answer a request for permission of",
};
const said = (deed: Deed): string => SAID[deed];

const WHOM: Readonly<Record<Kin, string>> = {
  self: "itself",
  below: "a worker that it has asked for",
  above: "a worker above it",
  relative: "a worker of its own family",
  stranger: "another worker",
};
const whom = (kin: Kin): string => WHOM[kin];
