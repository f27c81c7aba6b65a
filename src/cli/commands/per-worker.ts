/** Commands for several workers: the workers that are chosen, and the results by id. */
import { HoldfastError } from "../../protocol/errors.ts";
import { type Outcome, success } from "../../protocol/outcome.ts";
import type { PerWorker } from "../../runtime/api.ts";
import type { CommandResult, Context } from "../context.ts";
import type { Call } from "../parse.ts";

/**
 * The results by id. If all failed, the error is that of the first; if some failed, PARTIAL_FAILURE. `effect` is
 * the effect on all together.
 */
export const perWorker = (results: readonly PerWorker[]): CommandResult => {
  const failed = results.filter((result) => !result.ok);
  const value = {
    effect: results.find((result) => result.ok && result.effect !== "noop")?.effect ?? "noop",
    results,
  };
  const [first] = failed;
  if (first === undefined) return success(value);
  if (failed.length === results.length && first.error !== null)
    return { ok: false, error: errorOf(first.error), value };
  const names = failed.map((result) => result.name ?? result.id).join(", ");
  const suggestion = "The result of each id is above; in JSON it is in meta.partial, in ndjson in data.";
  return {
    ok: false,
    error: new HoldfastError("PARTIAL_FAILURE", `${failed.length} of ${results.length} failed: ${names}.`, {
      suggestion,
    }),
    value,
  };
};

const errorOf = ({ code, message, suggestion }: NonNullable<PerWorker["error"]>): HoldfastError =>
  new HoldfastError(code, message, suggestion === undefined ? {} : { suggestion });

/** A failure may carry the results of workers for which the command succeeded; they are shown too. */
export const withResults = async (
  context: Context,
  what: string,
  ask: () => Promise<Outcome<{ readonly results: readonly PerWorker[] }>>,
  soFar?: () => string,
): Promise<CommandResult> => {
  const done = context.progress(what, soFar);
  const outcome = await ask().finally(done);
  return outcome.value?.results ? perWorker(outcome.value.results) : outcome;
};

/** A command is for the workers that are named, for those with a label, or for all. */
export const chosenProblems = ({ command, args, flags }: Call): readonly string[] => {
  const words = `agent ${command.words.join(" ")}`;
  const ways = [args.length > 0, flags.label !== undefined, flags.all === true].filter(Boolean).length;
  const takesAll = command.flags.some(({ name }) => name === "all");
  if (ways === 0) return [`${words} needs an ID${takesAll ? ", --label or --all" : " or --label"}`];
  return ways === 1
    ? []
    : [`${words} takes ${takesAll ? "IDs, --label or --all: one of them" : "IDs or --label, not both"}`];
};
