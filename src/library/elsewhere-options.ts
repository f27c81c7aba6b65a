/** The argument of `Runtime.elsewhere`; beside no import, because the promise door needs no types of Effect. */

/** A placed worker is listed if it agrees with each of these. */
export interface ElsewhereOptions {
  /** One alone, wherever it runs: its name, or its id in the log of its node. */
  readonly worker?: string;
  /** Also those that have ended. Default: false. */
  readonly all?: boolean;
  /** It has each of these labels with this value. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly kinds?: string[];
  /** Only those of this tree. */
  readonly tree?: string;
  /** The `next` of the page before. */
  readonly after?: string;
  /** At most so many in one page. */
  readonly limit?: number;
}
