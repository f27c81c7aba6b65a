/**
 * Builds the arguments of bubblewrap for a sandbox. Pure. The system is visible but read-only. /tmp, /run and /dev are
 * private, so that no socket of the user's session is in reach. The sandbox has its own process namespace. It does not use
 * --die-with-parent, because agents outlive the process that started them.
 */
import type { SandboxPlan } from "./plan.ts";

interface Mount {
  readonly path: string;
  readonly words: readonly string[];
}

/** Paths below /run that stay visible, read-only: files for name resolution, and the programs of NixOS. */
const OF_RUN = ["/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager", "/run/current-system"];

/**
 * The sandbox's own /proc. bubblewrap leaves the settings of the kernel in it writable for root, with which a program would
 * leave the sandbox (`/proc/sys/kernel/core_pattern`); these are the places that runc makes read-only.
 */
export const OWN_PROC: readonly string[] = [
  "--proc",
  "/proc",
  ...["bus", "fs", "irq", "sys", "sysrq-trigger"].flatMap((name) => {
    const path = `/proc/${name}`;
    return ["--ro-bind-try", path, path];
  }),
];

const depthOf = (path: string): number => path.split("/").filter(Boolean).length;

/** Outer paths first: a later mount covers what is below it, so no mount may come after a deeper one. */
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
    ...["--ro-bind", "/", "/", "--dev", "/dev", ...OWN_PROC],
    ...inOrder(mounts),
    ...["--unshare-pid", "--unshare-ipc", ...(net === "none" ? ["--unshare-net"] : [])],
    ...["--cap-drop", "ALL", "--setenv", "TMPDIR", "/tmp", "--chdir", cwd],
    "--",
    ...argv,
  ];
};
