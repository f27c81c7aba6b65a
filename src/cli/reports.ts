/** Results of commands that the client carries out itself. */

import type { DefaultValue } from "../protocol/defaults.ts";
import type { Level } from "../protocol/validate/finding.ts";
import type { EffectWord } from "../runtime/api.ts";

export interface InstallReply {
  readonly path: string;
  readonly text: string;
  /** The commands that were run, or that the user should run. */
  readonly commands: readonly string[];
  readonly ran: boolean;
  readonly effect: EffectWord;
}

export interface InitReply {
  readonly path: string;
  readonly text: string;
  readonly kind: string;
  /** Short names of the kinds whose CLI is on this machine. */
  readonly found: readonly string[];
  readonly effect: EffectWord;
}

export interface ConfigListReply {
  /** The user's file, whether it exists or not. */
  readonly user: string;
  readonly repository: string | null;
  readonly defaults: readonly {
    readonly key: string;
    readonly value: DefaultValue;
    readonly source: "environment" | "repository" | "user";
    readonly from: string;
  }[];
}

export interface UpgradeReply {
  readonly from: string;
  readonly to: string;
  readonly pid: number;
  readonly workers: number;
  /** How long no daemon answered. */
  readonly gap_ms: number;
  readonly effect: "updated" | "noop";
}

export interface Check {
  readonly name: string;
  /** `fail`: Holdfast cannot work here. `warn`: some of its features cannot. */
  readonly result: "ok" | "warn" | "fail";
  readonly finding: string;
  readonly fix?: string;
}

export interface DoctorReport {
  readonly checks: readonly Check[];
}

/** The result for valid input, and how it was checked. */
export interface Valid {
  readonly valid: true;
  /** The name of the input; - is stdin. */
  readonly input: string;
  readonly strict: boolean;
  readonly level?: Level;
  readonly stream?: boolean;
  readonly lines?: number;
  readonly command?: unknown;
  readonly status?: unknown;
}
