/** The expected telling of a run, whatever decodes it. */
import type { Asked } from "./dialogue.ts";
import type { Printed } from "./printed.ts";

/** A message of the model, or its reasoning: as a whole, in pieces, or first in pieces and then as a whole. */
export interface Said {
  readonly channel: "assistant" | "reasoning";
  /** Text that is said together; messages may be printed interleaved. */
  readonly message: string;
  readonly whole: readonly string[];
  readonly pieces: readonly string[];
}

export interface Used {
  readonly input: number;
  readonly output: number;
  readonly cached: number;
  readonly reasoning: number;
  /** Dollars, to a billionth; null where the CLI tells none. */
  readonly cost: number | null;
}

/** How the lines end: with a turn that went well or badly, or in the middle of one, or with nothing that says how. */
export type Ending = "well" | "badly" | "open";

export interface Expected {
  /** Provider's sessions in the order in which they are named. */
  readonly sessions: readonly string[];
  readonly said: readonly Said[];
  /** `id name`, as often as they are called. */
  readonly calls: readonly string[];
  /** `id ok` or `id failed`. */
  readonly results: readonly string[];
  /** Permissions that somebody is asked for. */
  readonly asks: number;
  /** Turns that ended. */
  readonly turns: number;
  readonly used: Used;
  readonly ending: Ending;
  /** The code of a failure, where the lines say it by a number or a name and not in words. */
  readonly code?: string;
  /** The last words of the agent, where the run went well. */
  readonly final: string | null;
  /** Lines and blocks that the mapping has no row for. */
  readonly unknown: number;
}

/** Reads the lines of one CLI. It never throws: lines that were spoilt are read, too. */
export type Reader = (lines: readonly Printed[], asked?: Asked) => Expected;

export const NOTHING_USED: Used = { input: 0, output: 0, cached: 0, reasoning: 0, cost: null };

/** A billionth of a dollar is finer than any price, and sums of binary fractions drift. */
export const dollars = (usd: number): number => Math.round(usd * 1e9) / 1e9;

/**
 * Each text once. A message that came in pieces and as a whole was told by one of both; the longer one is the message: of one
 * that was interrupted there are more pieces than whole, or no whole at all.
 */
export const textOf = (said: readonly Said[], channel: Said["channel"]): string =>
  said
    .filter((one) => one.channel === channel)
    .map(({ whole, pieces }) => longer(whole.join(""), pieces.join("")))
    .join("");

const longer = (one: string, other: string): string => (other.length > one.length ? other : one);

export interface Bit {
  readonly channel: Said["channel"];
  readonly message: string;
  readonly whole?: string;
  readonly piece?: string;
}

/** Bits of text by their message, in the order in which each was first heard of. */
export const gathered = (bits: readonly Bit[]): readonly Said[] => {
  const by = new Map<string, { whole: string[]; pieces: string[] } & Pick<Said, "channel" | "message">>();
  for (const { channel, message, whole, piece } of bits) {
    const key = `${channel} ${message}`;
    const one = by.get(key) ?? { channel, message, whole: [], pieces: [] };
    by.set(key, one);
    if (whole !== undefined) one.whole.push(whole);
    if (piece !== undefined) one.pieces.push(piece);
  }
  return [...by.values()];
};
