/**
 * Builds a profile of macOS's sandbox-exec. Pure, and not tested on a Mac yet. It has no process namespace. /tmp is shared
 * with the user's other programs, so it is not writable.
 */
import type { SandboxPlan } from "./plan.ts";

const quoted = (path: string): string => `"${path.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
const below = (paths: readonly string[]): string =>
  paths.map((path) => `(subpath ${quoted(path)})`).join(" ");

/** Later rules win. */
export const seatbeltProfile = ({ net, writable, protected: guarded, hidden }: SandboxPlan): string =>
  [
    "(version 1)",
    "(allow default)",
    "(deny file-write*)",
    `(deny file-read* ${below(hidden)})`,
    `(allow file-read* file-write* ${below(writable)} (literal "/dev/null") (literal "/dev/tty"))`,
    `(deny file-write* ${below(guarded)})`,
    ...(net === "none"
      ? ["(deny network*)"]
      : hidden.map((path) => `(deny network-outbound (subpath ${quoted(path)}))`)),
    "",
  ].join("\n");

export const seatbeltArguments = (plan: SandboxPlan, argv: readonly string[]): readonly string[] => [
  "-p",
  seatbeltProfile(plan),
  ...argv,
];
