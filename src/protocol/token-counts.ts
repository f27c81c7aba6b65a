/** Tokens and dollars of a turn: in the meaning of the agent's CLI, and in one meaning for all kinds. */

/** Tokens as the agent's CLI counts them, in its own meaning. `ModelUsage` has them in one meaning for all kinds. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_tokens: number;
  readonly reasoning_tokens: number;
  /** Dollars as the agent reports them; null if it reports none. */
  readonly cost_usd: number | null;
  /** Dollars by the price list, for usage without a reported cost; absent if nothing was estimated. */
  readonly estimated_usd?: number;
}

/** Tokens in one meaning for all kinds (`protocol/usage.ts`): each token is in exactly one of the first four counts. */
export interface TokenCounts {
  /** Neither read from the provider's cache nor written to it. */
  readonly input_tokens: number;
  /** Read from the provider's cache. */
  readonly cached_tokens: number;
  /** Written to the provider's cache; 0 if the CLI counts them as input. */
  readonly cache_write_tokens: number;
  /** Includes the reasoning tokens, which are charged as output. */
  readonly output_tokens: number;
  readonly reasoning_tokens: number;
}

/** The tokens of one model in a turn. */
export interface ModelUsage extends TokenCounts {
  /** As the agent's CLI names it, or else as the spec does; null if neither does. */
  readonly model: string | null;
  readonly cost_usd: number | null;
  readonly estimated_usd?: number;
  /** The date of the price that was used: the day on which it was looked up. */
  readonly price_as_of?: string;
}
