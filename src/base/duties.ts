/** The frame of a conformance kit: a case for each duty, and for a declared lack the check that the lack is true. Pure. */

/** A check rejects with an AssertionError if its duty is broken. */
type DutyCheck<Bench> = (bench: Bench) => Promise<void>;

export interface DutyCase {
  readonly title: string;
  /** Rejects with an AssertionError if the duty is broken. */
  readonly check: () => Promise<void>;
}

export interface Duties<Bench, Lack extends string> {
  /** The words of each duty, its check, and the lack that excuses it. */
  readonly cases: readonly (readonly [string, DutyCheck<Bench>, Lack?])[];
  /** The words of each lack, and the check that it is one. */
  readonly lacks: Readonly<Record<Lack, readonly [string, DutyCheck<Bench>]>>;
}

/** A check with the lack that its duty may be excused by, and whether that is declared. */
export interface DueCheck<Bench, Lack extends string> {
  readonly check: DutyCheck<Bench>;
  readonly needs: Lack | undefined;
  readonly isLacked: boolean;
}

/** `lead` runs a check on a bench of its own. */
export const dutyCases = <Bench, Lack extends string>(
  { cases, lacks }: Duties<Bench, Lack>,
  declared: readonly Lack[],
  lead: (due: DueCheck<Bench, Lack>) => Promise<void>,
): readonly DutyCase[] =>
  cases.map(([duty, check, needs]) => {
    const lack = needs !== undefined && declared.includes(needs) ? lacks[needs] : undefined;
    return {
      title: lack === undefined ? duty : `${duty} (declared lack: ${lack[0]})`,
      check: () => lead({ check: lack?.[1] ?? check, needs, isLacked: lack !== undefined }),
    };
  });
