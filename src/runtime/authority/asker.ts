/** Returns the `by` of records once the caller is permitted to act. */
import { Effect } from "effect";
import { USER } from "../../protocol/caller.ts";
import type { HoldfastError } from "../../protocol/errors.ts";
import type { CallerOptions } from "../api.ts";
import type { Authority } from "./authority.ts";
import type { Deed } from "./standing.ts";

/** A program that embeds the runtime names the caller itself. */
export const asker = <Target>(
  permit: (
    caller: NonNullable<CallerOptions["caller"]>,
    deed: Deed,
    target: Target,
  ) => Effect.Effect<string, HoldfastError>,
  { by, caller = USER }: CallerOptions,
  deed: Deed,
  target: Target,
): Effect.Effect<string, HoldfastError> =>
  Effect.map(permit(caller, deed, target), (established) => by ?? established);

export const askerOfAll = (
  authority: Pick<Authority, "permitAll">,
  { by, caller = USER }: CallerOptions,
  what: string,
): Effect.Effect<string, HoldfastError> =>
  Effect.map(authority.permitAll(caller, what), (established) => by ?? established);
