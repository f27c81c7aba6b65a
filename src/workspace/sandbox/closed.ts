/**
 * A sandbox that starts from nothing: the programs and libraries of the system, what its plan names, and no more. No home, no
 * configuration of the machine, no socket, no network, no process but its own. It fails closed. For skills; an agent needs
 * more of the machine (plan.ts).
 */
import { HoldfastError } from "../../protocol/errors.ts";
import { OWN_PROC } from "./bubblewrap.ts";
import { isIn } from "./plan.ts";
import { bubblewrapProgram, tried } from "./sandbox.ts";

export interface ClosedPlan {
  /** Inside. */
  readonly cwd: string;
  /** Files and directories that it sees, read-only. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  /** A socket outside, and its path inside. */
  readonly socket?: { readonly outside: string; readonly inside: string } | undefined;
  /** Read-only below the writable ones. */
  readonly guarded: readonly string[];
  /** Empty, wherever they are: the state directories of daemons. */
  readonly hidden: readonly string[];
  /** Names of variables that it gets. */
  readonly variables: readonly string[];
  readonly limits: {
    readonly file_bytes: number;
    readonly memory_bytes: number;
    readonly processes: number;
  };
}

/** Directories of a system's programs and libraries. */
const OF_SYSTEM = [
  "/usr",
  "/bin",
  "/sbin",
  "/lib",
  "/lib32",
  "/lib64",
  "/nix/store",
  "/run/current-system/sw",
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/ld.so.conf",
  "/etc/ld.so.conf.d",
  "/etc/localtime",
  "/etc/ssl/certs",
  "/etc/pki/tls/certs",
  "/etc/ca-certificates",
];
/** Whether a directory holds one that the sandbox shows of the system: both cannot be mounted. */
export const holdsSystem = (path: string): boolean =>
  OF_SYSTEM.some((dir) => dir !== path && isIn(dir, path));

/** The PATH inside, on which a program without a slash is looked for. */
export const CLOSED_PATH = "/usr/local/bin:/usr/bin:/bin:/run/current-system/sw/bin";

/** Hard limits that the program cannot raise, because it has no capabilities. Shells call the one for processes u or p. */
const limitScript = ({ file_bytes, memory_bytes, processes }: ClosedPlan["limits"]): string =>
  [
    "ulimit -c 0",
    `ulimit -f ${Math.ceil(file_bytes / 512)}`,
    `ulimit -d ${Math.ceil(memory_bytes / 1024)}`,
    `ulimit -p ${processes} 2>/dev/null || ulimit -u ${processes}`,
    'exec "$@"',
  ].join("\n");

const depthOf = (path: string): number => path.split("/").filter(Boolean).length;

/** A process that may write to a socket may connect to it, even if its mount is read-only. */
const bound = ({ outside, inside }: NonNullable<ClosedPlan["socket"]>) => ({
  path: inside,
  words: ["--ro-bind", outside, inside],
});

/** Pure. `set`: names of all variables of the process that becomes the sandbox. */
const closedArguments = (
  plan: ClosedPlan,
  set: readonly string[],
  argv: readonly string[],
): readonly string[] => {
  const mounts = [
    ...OF_SYSTEM.map((path) => ({ path, words: ["--ro-bind-try", path, path] })),
    { path: "/tmp", words: ["--tmpfs", "/tmp"] },
    ...plan.readable.map((path) => ({ path, words: ["--ro-bind", path, path] })),
    ...(plan.socket === undefined ? [] : [bound(plan.socket)]),
    ...plan.writable.map((path) => ({ path, words: ["--bind", path, path] })),
    // A later mount of the same depth wins.
    ...plan.hidden
      .filter((path) => [...plan.readable, ...plan.writable].some((dir) => path !== dir && isIn(path, dir)))
      .map((path) => ({ path, words: ["--tmpfs", path] })),
    ...plan.guarded.map((path) => ({ path, words: ["--ro-bind-try", path, path] })),
  ].sort((a, b) => depthOf(a.path) - depthOf(b.path));
  return [
    ...mounts.flatMap(({ words }) => words),
    ...[...OWN_PROC, "--dev", "/dev", "--remount-ro", "/"],
    ...["--unshare-user-try", "--unshare-pid", "--unshare-ipc", "--unshare-net", "--unshare-uts"],
    ...["--unshare-cgroup-try", "--cap-drop", "ALL"],
    ...set.filter((name) => !plan.variables.includes(name)).flatMap((name) => ["--unsetenv", name]),
    ...["--chdir", plan.cwd, "--", "/bin/sh", "-c", limitScript(plan.limits), "sh"],
    ...argv,
  ];
};

const HOW = "Install bubblewrap (apt install bubblewrap, dnf install bubblewrap); `agent doctor` tries it.";

export interface ClosedCommand {
  readonly argv: readonly string[];
  readonly program: string;
}

/** Rejects with SANDBOX_UNAVAILABLE where it cannot be made here: nothing is started then. */
export const closed = async (
  plan: ClosedPlan,
  set: readonly string[],
  argv: readonly string[],
): Promise<ClosedCommand> => {
  const program = bubblewrapProgram();
  if (program === undefined)
    throw new HoldfastError(
      "SANDBOX_UNAVAILABLE",
      "A skill runs in a sandbox alone, and bubblewrap is not installed on this machine.",
      { suggestion: HOW },
    );
  await tried(program, "bubblewrap", closedArguments(plan, set, ["/bin/true"]));
  return { argv: [program, ...closedArguments(plan, set, argv)], program };
};
