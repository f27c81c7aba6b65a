/** The reader of each kind, and where its recorded runs are. */
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import type { Reader } from "./expected.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";

export interface Recorded {
  /** Name of the kind for `adapterFor`. */
  readonly kind: string;
  readonly read: Reader;
  /** Folders of transcripts, by CLI and version. */
  readonly versions: readonly string[];
  /** Folder of our own recordings below test/recordings. */
  readonly recordings: string;
}

export const RECORDED: readonly Recorded[] = [
  {
    kind: "claude",
    read: claude,
    versions: ["claude-2.1.329", "claude-2.1.197"],
    recordings: "claude-code",
  },
  { kind: "codex", read: codex, versions: ["codex-0.169.0"], recordings: "codex" },
  { kind: "gemini", read: gemini, versions: ["gemini-0.61.0"], recordings: "gemini" },
  { kind: "opencode", read: opencode, versions: ["opencode-1.18.33"], recordings: "opencode" },
  { kind: "copilot", read: copilot, versions: ["copilot-1.0.102"], recordings: "copilot" },
];
