/**
 * The closed sandbox as a container of podman: the same plan, and the programs of an image in place of the system's. It fails
 * closed: an image that is not here, a runtime that makes no such container, and limits that nobody holds are refused before
 * anything starts.
 */
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { call, podmanEnvironment, podmanProgram } from "../../adapters/process/containers.ts";
import { systemProgram } from "../../adapters/process/programs.ts";
import {
  CONTAINER_FILES_MAX,
  CONTAINER_TMP_MAX_BYTES,
  CONTAINER_ULIMIT_PROCESSES,
  SKILL_MEMORY_DEFAULT_MB,
  SKILL_PROCESSES_MAX,
  SKILL_WRITE_MAX_BYTES,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ClosedPlan } from "./closed.ts";
import { isIn } from "./plan.ts";

export interface ContainerPlan extends ClosedPlan {
  /** Variables with values that anybody may see. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of variables whose values podman takes from its own environment. */
  readonly secrets: readonly string[];
  /** The program and its arguments, in the image. */
  readonly run: readonly string[];
}

/** podman reads a mount as a line of CSV. */
const csv = (field: string): string => `"${field.replaceAll('"', '""')}"`;

const mount = (type: "bind" | "tmpfs", path: string, how: readonly string[]): readonly string[] => [
  "--mount",
  [`type=${type}`, csv(`dst=${path}`), ...how].join(","),
];

/** A bind shows what is mounted below it only where its own mode holds for that, too: so it shows nothing of it. */
const bind = (path: string, mode: "ro" | "rw", outside = path): readonly string[] =>
  mount("bind", path, [
    csv(`src=${outside}`),
    `${mode === "ro" ? "ro=true" : "ro=false"}`,
    "bind-nonrecursive",
  ]);

const depthOf = (path: string): number => path.split("/").filter(Boolean).length;

/** Outer paths first, as a later mount covers what is below it. */
const mountsOf = ({ readable, writable, guarded, hidden, socket }: ContainerPlan): readonly string[] => {
  const shown = [...readable, ...writable];
  return [
    ...readable.map((path) => ({ path, words: bind(path, "ro") })),
    ...writable.map((path) => ({ path, words: bind(path, "rw") })),
    ...(socket === undefined
      ? []
      : [{ path: socket.inside, words: bind(socket.inside, "ro", socket.outside) }]),
    ...hidden
      .filter((path) => shown.some((dir) => path !== dir && isIn(path, dir)))
      .map((path) => ({ path, words: mount("tmpfs", path, ["ro=true"]) })),
    ...guarded.filter((path) => existsSync(path)).map((path) => ({ path, words: bind(path, "ro") })),
  ]
    .sort((a, b) => depthOf(a.path) - depthOf(b.path))
    .flatMap(({ words }) => words);
};

/** Bounds of the cgroup, which hold for root too, and of each process. */
const limitsOf = ({ file_bytes, memory_bytes, processes }: ClosedPlan["limits"]): readonly string[] => [
  ...["--pids-limit", String(processes)],
  ...["--memory", `${memory_bytes}b`, "--memory-swap", `${memory_bytes}b`],
  ...["--ulimit", "core=0:0", "--ulimit", `fsize=${file_bytes}:${file_bytes}`],
  ...["--ulimit", `nofile=${CONTAINER_FILES_MAX}:${CONTAINER_FILES_MAX}`],
  ...["--ulimit", `nproc=${CONTAINER_ULIMIT_PROCESSES}:${CONTAINER_ULIMIT_PROCESSES}`],
];

/**
 * The words of `podman run` after the names of the run. Pure but for the paths that are there. Its user is the container's root
 * without a capability, which is the daemon's own user: so the files that it writes are that user's.
 */
export const containerArguments = (
  plan: ContainerPlan,
  runtime: string,
  image: readonly string[],
): readonly string[] => {
  const [program = "", ...args] = plan.run;
  return [
    ...[
      "--rm",
      "--runtime",
      runtime,
      "--pull",
      "never",
      "--log-driver",
      "passthrough",
      "--sdnotify",
      "ignore",
    ],
    ...["--network", "none", "--cap-drop", "all", "--user", "0:0", "--systemd", "false", "--no-healthcheck"],
    ...["--security-opt", "no-new-privileges", "--security-opt", "label=disable"],
    ...["--read-only", "--read-only-tmpfs=false", "--image-volume", "ignore"],
    ...["--tmpfs", `/tmp:rw,nosuid,nodev,mode=1777,size=${CONTAINER_TMP_MAX_BYTES}`],
    ...[
      "--no-hosts",
      "--passwd=false",
      "--http-proxy=false",
      "--unsetenv",
      "TERM",
      "--unsetenv",
      "container",
    ],
    ...limitsOf(plan.limits),
    ...mountsOf(plan),
    ...Object.entries(plan.env).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...plan.secrets.flatMap((name) => ["--env", name]),
    ...["--workdir", plan.cwd, "--entrypoint", JSON.stringify([program])],
    ...image,
    ...args,
  ];
};

const HOW = "Install podman (apt install podman, dnf install podman); `agent doctor` tries it.";

const unavailable = (message: string, suggestion: string, details = {}): HoldfastError =>
  new HoldfastError("SANDBOX_UNAVAILABLE", message, { suggestion, details });

/** Fails with SANDBOX_UNAVAILABLE where podman is not installed. */
export const engineProgram = (): string => {
  const program = podmanProgram();
  if (program !== undefined) return program;
  throw unavailable("A skill with the runner oci needs podman, which is not installed on this machine.", HOW);
};

/** The parts of `podman info` that say whether limits are held. */
interface EngineInfo {
  readonly host?: {
    readonly cgroupVersion?: string;
    readonly cgroupControllers?: readonly string[] | null;
    readonly security?: { readonly rootless?: boolean };
  };
}

/** Why podman would run a container without its limits, which it only warns of. Pure; undefined: they hold. */
export const unlimitedBy = (info: EngineInfo | undefined): string | undefined => {
  const { cgroupVersion, cgroupControllers, security } = info?.host ?? {};
  if (cgroupVersion === undefined) return "podman info has no word about its cgroups";
  if (security?.rootless !== false && cgroupVersion !== "v2")
    return `podman without root holds no limit on cgroups ${cgroupVersion}`;
  const missing = ["memory", "pids"].filter((name) => cgroupControllers?.includes(name) !== true);
  return missing.length === 0 ? undefined : `no cgroup controller for ${missing.join(" and ")} is there`;
};

const LIMITS =
  "Delegate the controllers memory and pids to your user (systemd: Delegate=yes), on cgroups v2.";

const infoOf = (text: string): EngineInfo | undefined => {
  try {
    return JSON.parse(text) as EngineInfo;
  } catch {
    return undefined;
  }
};

/** Directories that a dynamic program of the system needs. */
const OF_PROGRAMS = ["/usr", "/bin", "/lib", "/lib64", "/nix/store"];

/** A container with the flags of every run, in which the system's own `true` is the program. */
const trial = (): ContainerPlan => ({
  cwd: "/tmp",
  readable: OF_PROGRAMS.filter((path) => existsSync(path)),
  writable: [],
  guarded: [],
  hidden: [],
  variables: [],
  env: {},
  secrets: [],
  run: ["/bin/true"],
  limits: {
    file_bytes: SKILL_WRITE_MAX_BYTES,
    memory_bytes: SKILL_MEMORY_DEFAULT_MB * 1024 * 1024,
    processes: SKILL_PROCESSES_MAX,
  },
});

const RUNTIMES = ["crun", "runc"];
const TRIAL_BYTES = 8;

/** Undefined: it made the container. Else its own words. */
const complaintOf = async (podman: string, runtime: string): Promise<string | undefined> => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-container-"));
  const name = `holdfast-trial-${randomBytes(TRIAL_BYTES).toString("hex")}`;
  try {
    const words = containerArguments(trial(), runtime, ["--rootfs", root]);
    const { code, stderr } = await call(podman, ["run", "--name", name, ...words]);
    if (code === 0) return undefined;
    await call(podman, ["rm", "--force", "--ignore", "--time", "0", name]);
    return stderr.trim().split("\n").at(-1) || `it ended with ${code}`;
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
};

/** The first runtime that makes a container here. Rejects with SANDBOX_UNAVAILABLE. */
export const workingRuntime = async (podman: string): Promise<string> => {
  const { stdout } = await call(podman, ["info", "--format", "json"]);
  const unlimited = unlimitedBy(infoOf(stdout));
  if (unlimited !== undefined) throw unavailable(`A container has no limits here: ${unlimited}.`, LIMITS);
  const complaints: string[] = [];
  for (const name of RUNTIMES) {
    const path = systemProgram(name);
    if (path === undefined) continue;
    const why = await complaintOf(podman, path);
    if (why === undefined) return path;
    complaints.push(`with ${name}: ${why}`);
  }
  throw unavailable(
    `podman cannot make a container here: ${complaints.join("; ") || "no runtime is installed"}`,
    "Install crun or runc, or put the cause right; `agent doctor` tries it.",
  );
};

export interface ContainerCommand {
  readonly argv: readonly string[];
  readonly program: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The containers of one daemon: it tries the runtimes once, and looks for the image before each start. */
export class Containers {
  private runtime: Promise<string> | undefined;

  /** Rejects with SANDBOX_UNAVAILABLE where it cannot be made here. `env` has the values of the secrets. */
  async command(
    plan: ContainerPlan,
    image: string,
    env: Readonly<Record<string, string>>,
  ): Promise<ContainerCommand> {
    const podman = engineProgram();
    const id = await imageId(podman, image);
    const runtime = await this.workingRuntime(podman);
    const secrets = Object.fromEntries(plan.secrets.map((name) => [name, env[name] ?? ""]));
    return {
      argv: [podman, "run", ...containerArguments(plan, runtime, [id])],
      program: podman,
      env: { ...secrets, ...podmanEnvironment() },
    };
  }

  /** A failure is tried again by the next run, as somebody may have put it right. */
  private workingRuntime(podman: string): Promise<string> {
    this.runtime ??= workingRuntime(podman).catch((cause) => {
      this.runtime = undefined;
      throw cause;
    });
    return this.runtime;
  }
}

/** The id of an image, which no tag can lead elsewhere until the start. */
const imageId = async (podman: string, image: string): Promise<string> => {
  const { code, stdout } = await call(podman, ["image", "inspect", "--format", "{{.Id}}", image]);
  const [, id] = /^(?:sha256:)?([0-9a-f]{64})$/.exec(stdout.trim()) ?? [];
  if (code === 0 && id !== undefined) return id;
  throw unavailable(
    `The image ${image} is not on this machine, and a run pulls none.`,
    `Pull it with: podman pull ${image} (or make it with podman build), as the user of the daemon.`,
    { image },
  );
};

/** For `agent doctor`: undefined without podman, which only the runner oci needs. */
export const lookForContainers = async (): Promise<
  | { readonly program: string; readonly runtime: string }
  | { readonly why: string; readonly fix: string }
  | undefined
> => {
  const program = podmanProgram();
  if (program === undefined) return undefined;
  try {
    return { program, runtime: await workingRuntime(program) };
  } catch (cause) {
    const { message, suggestion } = cause as HoldfastError;
    return { why: message, fix: suggestion };
  }
};
