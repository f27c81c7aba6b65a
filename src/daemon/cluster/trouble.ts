/** A failure of something that is tried again and again: told once, and not each time. */
import { Cause } from "effect";

/** The sentence of what a database or a network said. Neither says the address of the database. */
export const sentenceOf = (cause: unknown): string => {
  let error = Cause.isCause(cause) ? Cause.squash(cause) : cause;
  // An effect wraps what a promise was rejected with.
  while (error instanceof Error && error.cause instanceof Error) error = error.cause;
  if (error instanceof AggregateError && error.message === "") return sentenceOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
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
    const sentence = `${what}: ${sentenceOf(cause)}`;
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
