/** A flag of the command line as plain data: its name, the type of its value, and its help. */

/**
 * The type of a flag's or argument's value. `restarts` is `3/60s`, `backoff` `1s..60s`, `budget` `usd=5,turns=40`, `pair`
 * `KEY=VALUE`, `json-pair` `KEY=JSON`, `cursor` `SEQ` or `EPOCH:SEQ`, `name` a name that the user gives, `time` a point in time. Durations are parsed to
 * milliseconds, sizes to bytes, times to ISO texts in UTC.
 */
export type ValueType =
  | "bool"
  | "string"
  | "int"
  | "duration"
  | "time"
  | "size"
  | "enum"
  | "list"
  | "pair"
  | "json-pair"
  | "restarts"
  | "backoff"
  | "budget"
  | "number"
  | "signal"
  | "cursor"
  | "name";

export interface FlagDef {
  readonly name: string;
  readonly short?: string;
  readonly type: ValueType;
  readonly help: string;
  /** The word for the value in help: `DIR`, `10s`. */
  readonly value?: string;
  readonly values?: readonly string[];
  /** Values that the shell completes, for a flag that also takes others. */
  readonly suggests?: readonly string[];
  readonly repeatable?: boolean;
  /** Inclusive bounds of a number. */
  readonly min?: number;
  readonly max?: number;
  /** For help only; the schemas hold the defaults. */
  readonly default?: string;
  readonly complete?: "worker";
  /** The section of a long help that lists the flag. */
  readonly topic?: string;
  /** The value is optional and follows `=`: `--worktree`, `--worktree=BRANCH`. */
  readonly optional?: boolean;
}
