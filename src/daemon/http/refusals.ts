/** Tells refused requests in the log of the daemon: the first ones of a period, and then how many more there were. Pure. */
import { API_REFUSALS_PERIOD_MS, API_REFUSALS_TOLD_MAX } from "../../base/limits.ts";
import type { HoldfastError } from "../../protocol/errors.ts";

/** Nothing of the request itself but its peer: a path or a header may hold a secret. */
export interface RefusedRequest {
  readonly code: string;
  readonly door?: unknown;
  readonly peer: string | undefined;
  /** Refusals before this one that were not told. */
  readonly untold?: number;
}

/** Calls `tell` for a refusal if the period has room. */
export const makeRefusals = (tell: (refused: RefusedRequest) => void, now: () => number) => {
  let since = Number.NEGATIVE_INFINITY;
  let told = 0;
  let untold = 0;
  return (error: HoldfastError, peer: string | undefined): void => {
    if (now() - since >= API_REFUSALS_PERIOD_MS) {
      since = now();
      told = 0;
    }
    if (told >= API_REFUSALS_TOLD_MAX) {
      untold += 1;
      return;
    }
    told += 1;
    const { door } = error.info.details ?? {};
    tell({
      code: error.code,
      peer,
      ...(door === undefined ? {} : { door }),
      ...(untold === 0 ? {} : { untold }),
    });
    untold = 0;
  };
};
