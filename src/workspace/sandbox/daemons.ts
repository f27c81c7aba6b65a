/**
 * Finds state directories of other daemons on this machine: with access to their sockets and tokens, a sandboxed agent could
 * start unsandboxed processes. A daemon that starts later in another directory is not found (docs/explanation/security.md).
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

const SOCKET = "agent.sock";

/** Directories in which a daemon listens, by the names of sockets in /proc/net/unix (proc_net_unix(5)). Pure. */
export const socketDirectories = (sockets: string): readonly string[] => [
  ...new Set(
    sockets.split("\n").flatMap((line) => {
      const path = line.slice(line.indexOf("/"));
      return line.includes("/") && path.endsWith(`/${SOCKET}`) ? [dirname(path)] : [];
    }),
  ),
];

const isOwnDirectory = (path: string): boolean => {
  try {
    const stats = statSync(path);
    return stats.isDirectory() && stats.uid === process.getuid?.();
  } catch {
    return false;
  }
};

const listening = (): string => {
  try {
    return readFileSync("/proc/net/unix", "utf8");
  } catch {
    return "";
  }
};

/** Includes the default directory, whether its daemon runs or not. */
export const otherStateDirectories = (env: Readonly<Record<string, string>>): readonly string[] => {
  const { XDG_STATE_HOME: state, HOME: home } = env;
  const base = state !== undefined && isAbsolute(state) ? state : home && join(home, ".local", "state");
  const known = [...socketDirectories(listening()), ...(base ? [join(base, "holdfast")] : [])];
  return known.filter(isOwnDirectory);
};
