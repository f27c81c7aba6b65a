/**
 * A sandbox as arguments of bubblewrap. Pure. The system is there, read-only; /tmp, /run and /dev are its own, so that no socket of the
 * user's session is in reach; it has a namespace of processes of its own. Without --die-with-parent: agents outlive what started them.
 */
import type { SandboxPlan } from "./plan.ts";

interface Mount {
  readonly path: string;
  readonly words: readonly string[];
}

/** Files that resolve names, and the programs of NixOS: below /run, and read-only. */
const OF_RUN = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/current-system"];

const depthOf = (path: string): number => path.split("/").filter(Boolean).length;

/** Outer ones first: what is mounted later lies over what is there, and nothing covers what is deeper. */
const inOrder = (mounts: readonly Mount[]): readonly string[] =>
  [...mounts].sort((a, b) => depthOf(a.path) - depthOf(b.path)).flatMap(({ words }) => words);

export const bubblewrapArguments = (
  { net, cwd, readable, writable, protected: guarded, hidden }: SandboxPlan,
  argv: readonly string[],
): readonly string[] => {
  const isWritable = (path: string): boolean => writable.includes(path);
  const empty = ["/tmp", "/run", ...hidden].filter((path) => !isWritable(path));
  const mounts: readonly Mount[] = [
    ...empty.map((path) => ({ path, words: ["--tmpfs", path] })),
    ...[...OF_RUN, ...readable].map((path) => ({ path, words: ["--ro-bind-try", path, path] })),
    ...writable.map((path) => ({ path, words: ["--bind-try", path, path] })),
    ...guarded.map((path) => ({ path, words: ["--ro-bind-try", path, path] })),
  ];
  return [
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    ...inOrder(mounts),
    ...["--unshare-pid", "--unshare-ipc", ...(net === "none" ? ["--unshare-net"] : [])],
    ...["--cap-drop", "ALL", "--setenv", "TMPDIR", "/tmp", "--chdir", cwd],
    "--",
    ...argv,
  ];
};
