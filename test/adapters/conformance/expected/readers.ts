/** The reader of each kind, and where its recorded runs are. */
import { claude } from "./claude.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import type { Reader } from "./expected.ts";
import { gemini } from "./gemini.ts";
import { opencode } from "./opencode.ts";
import type { Printed } from "./printed.ts";

export interface Recorded {
  /** Name of the kind for `adapterFor`. */
  readonly kind: string;
  readonly read: Reader;
  /** Folders of transcripts, by CLI and version. */
  readonly versions: readonly string[];
  /** Folder of our own recordings below test/recordings. */
  readonly recordings: string;
  /** A line that says how a turn ended; without all of them nothing says that it went well. */
  readonly isTerminal: (line: Printed["value"]) => boolean;
  /** Members that make of such a line one that says it did not go well. */
  readonly failing: object;
  /** The CLI has no word for a good end but its exit code 0. */
  readonly byExit?: true;
}

const isOf =
  (...types: readonly string[]) =>
  (line: Printed["value"]): boolean =>
    types.includes(String(line?.type));

export const RECORDED: readonly Recorded[] = [
  {
    kind: "claude",
    read: claude,
    versions: ["claude-2.1.329", "claude-2.1.197"],
    recordings: "claude-code",
    isTerminal: isOf("result"),
    failing: { is_error: true },
  },
  {
    kind: "codex",
    read: codex,
    versions: ["codex-0.169.0"],
    recordings: "codex",
    isTerminal: isOf("turn.completed", "turn.failed"),
    failing: { type: "turn.failed" },
  },
  {
    kind: "gemini",
    read: gemini,
    versions: ["gemini-0.61.0"],
    recordings: "gemini-cli",
    isTerminal: isOf("result"),
    failing: { status: "error" },
  },
  {
    kind: "opencode",
    read: opencode,
    versions: ["opencode-1.18.33"],
    recordings: "opencode",
    isTerminal: isOf("step_finish"),
    failing: { part: { reason: "length" } },
    byExit: true,
  },
  {
    kind: "copilot",
    read: copilot,
    versions: ["copilot-1.0.102"],
    recordings: "copilot",
    isTerminal: isOf("result"),
    failing: { exitCode: 1 },
  },
];
