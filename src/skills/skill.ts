/** A skill that is part of Holdfast: its schemas, and the function that carries it out (protocol-v1.txt, Reserved commands). */
import type * as z from "zod";

/**
 * The change that a run makes: none; the same one if the run is repeated; or any. A model's engine runs a call of the first
 * two again after a crash, and one of the first without a permission.
 */
export const SKILL_EFFECTS = ["none", "idempotent", "any"] as const;
export type SkillEffect = (typeof SKILL_EFFECTS)[number];

/** The part of the world that a run of a skill may use. */
export interface SkillContext {
  /** An absolute directory. The skill reads and writes no file outside it and `state`. */
  readonly workspace: string;
  /** Aborted at the end of the run's time, or once somebody cancels it. */
  readonly signal: AbortSignal;
  /** The only way to the network. */
  readonly fetch: typeof fetch;
  /**
   * Asks, once, that the host of a URL may be reached, which the input did not name itself. Rejects with POLICY_VIOLATION,
   * whose `details.rule` names the rule.
   */
  readonly reach: (url: string) => Promise<void>;
  /** The value of a secret by its name; undefined if the caller has none of this name. */
  readonly secret: (name: string) => string | undefined;
  /** A private directory of this workspace that lasts from run to run. */
  readonly state: string;
}

export interface BuiltinSkill<I, O> {
  /** `namespace/verb`. */
  readonly name: string;
  /** One line for lists. */
  readonly summary: string;
  /** A semantic version; goes into `meta.skill_version`. */
  readonly version: string;
  readonly effect: SkillEffect;
  readonly input: z.ZodType<I>;
  readonly output: z.ZodType<O>;
  /** `declared`: it uses `context.fetch`. */
  readonly network: "none" | "declared";
  /** The URLs that an unchecked input names itself; their hosts may be reached. */
  urls?(input: unknown): readonly string[];
  /** The input is checked before the call. Rejects with a HoldfastError. */
  run(input: I, context: SkillContext): Promise<O>;
}
