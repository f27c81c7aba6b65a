/** A failure of something that is tried again and again: told once, and not each time. */
import { Cause } from "effect";
import { ClusterError } from "../../cluster/errors.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** An effect wraps what a promise was rejected with. */
const innermost = (cause: unknown): unknown => {
  let error = Cause.isCause(cause) ? Cause.squash(cause) : cause;
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  return error instanceof AggregateError && error.message === "" ? innermost(error.errors[0]) : error;
};

/** The sentence of what a database or a network said. Neither says the address of the database. */
export const sentenceOf = (cause: unknown): string => {
  const error = innermost(cause);
  return error instanceof Error ? error.message : String(error);
};

/** The next step of a person, where there is one. */
const stepOf = (cause: unknown): string => {
  const error = innermost(cause);
  if (error instanceof ClusterError) return ` ${error.next}`;
  return error instanceof HoldfastError ? ` ${error.suggestion}` : "";
};

export class Trouble {
  /** The newest failure; null if all is well. */
  failing: string | null = null;
  private readonly told = new Set<string>();
  private readonly tell: (sentence: string) => void;

  constructor(tell: (sentence: string) => void) {
    this.tell = tell;
  }

  readonly report = (what: string, cause: unknown): void => {
    const sentence = `${what}: ${sentenceOf(cause)}${stepOf(cause)}`;
    this.failing = sentence;
    if (this.told.has(sentence)) return;
    this.told.add(sentence);
    this.tell(sentence);
  };

  readonly isWell = (): void => {
    this.failing = null;
    this.told.clear();
  };
}
