/**
 * The contracts, sentence by sentence, each with its test: docs/reference/conformance.md is generated from here (`npm run docs`), and a
 * test finds every name and title. `done` names a declaration and its file in src, `held` a test's title and its file in test.
 */
export interface Sentence {
  /** The document's rule, in our words. */
  readonly says: string;
  readonly done?: readonly [name: string, file: string];
  readonly held?: readonly [title: string, file: string];
  /** Why it is not so, or has no test. */
  readonly open?: string;
  /** Why it is no matter of ours. */
  readonly apart?: string;
}

export interface Contract {
  readonly title: string;
  readonly intro: string;
  /** By section, in the document's order. */
  readonly sentences: Readonly<Record<string, readonly Sentence[]>>;
  /** Deviations and open points, each a paragraph. */
  readonly deviations: readonly string[];
}
