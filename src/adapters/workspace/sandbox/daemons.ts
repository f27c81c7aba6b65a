/**
 * State directories of other daemons on this machine: a sandboxed agent that reached their sockets and tokens could start what is in no
 * sandbox. A daemon that is started later, in a directory of its own, is not among them (docs/security.md).
 */
import { readFileSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";

const SOCKET = "agent.sock";

/** Directories in which a daemon listens, as /proc/net/unix names its sockets (proc_net_unix(5)). Pure. */
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

/** The default one is among them, whether its daemon runs or not. */
export const otherStateDirectories = (env: Readonly<Record<string, string>>): readonly string[] => {
  const { XDG_STATE_HOME: state, HOME: home } = env;
  const base = state !== undefined && isAbsolute(state) ? state : home && join(home, ".local", "state");
  const known = [...socketDirectories(listening()), ...(base ? [join(base, "holdfast")] : [])];
  return known.filter(isOwnDirectory);
};
