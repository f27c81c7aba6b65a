/** The outcome of a command, before it is rendered as any envelope (architecture §6). Handlers return outcomes, never envelopes. */
import type { HoldfastError } from "./errors.ts";

/** How a skill made the value: members of `meta` (protocol-v1.txt, Field descriptions). */
export interface RunMeta {
  readonly runner: "exec" | "wasi" | "oci";
  readonly workspace: string;
  readonly job_id: string;
  readonly skill_version: string;
}

export type Outcome<T> =
  | {
      readonly ok: true;
      readonly value: T;
      readonly warnings?: readonly string[];
      /** The value is the answer of a skill. */
      readonly run?: RunMeta;
    }
  | {
      readonly ok: false;
      readonly error: HoldfastError;
      readonly value?: T;
      readonly warnings?: readonly string[];
    };

export const success = <T>(value: T, warnings: readonly string[] = []): Outcome<T> => ({
  ok: true,
  value,
  warnings,
});
export const failure = <T = never>(error: HoldfastError, warnings: readonly string[] = []): Outcome<T> => ({
  ok: false,
  error,
  warnings,
});
