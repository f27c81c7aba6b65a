/** The parts of sentences about records. */
import type { RecordPayloads, RecordType } from "../../protocol/records.ts";
import { oneLine, type Tone } from "./terminal.ts";

export interface Sentence {
  readonly text: string;
  readonly tone: Tone;
  /** The agent's own words: shown unchanged beside a bar. */
  readonly spoken?: boolean;
  /** Shown only with --verbose, because another record says the same. */
  readonly quiet?: boolean;
}

export type Payload<T extends RecordType> = RecordPayloads[T];

export const plain = (text: string): Sentence => ({ text, tone: "plain" });
export const dim = (text: string): Sentence => ({ text, tone: "dim" });
export const good = (text: string): Sentence => ({ text, tone: "good" });
export const warn = (text: string): Sentence => ({ text, tone: "warn" });
export const bad = (text: string): Sentence => ({ text, tone: "bad" });
export const quiet = (sentence: Sentence): Sentence => ({ ...sentence, quiet: true });

export const because = (reason: string | undefined): string =>
  reason ? ` (${oneLine(reason.replaceAll("_", " "))})` : "";

/** Names a caller with a name. A record of most callers needs no such words. */
export const bySomebody = (by: string | undefined): string =>
  by?.startsWith("user:") === true ? ` by ${oneLine(by)}` : "";
