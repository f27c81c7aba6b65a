/**
 * Containers of runs. podman starts a container's processes apart from itself, so a container is found by its
 * name, which follows from the run's marker: any later daemon knows it without a file.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CONTAINER_REMOVE_TRIES, PODMAN_CALL_MAX_MS, PODMAN_OUTPUT_MAX_BYTES } from "../../base/limits.ts";
import { MARKER } from "./marker.ts";
import { systemProgram } from "./programs.ts";
import { CONTAINER_CONFIGURATION, FILE_MODE } from "./run-directory.ts";

export const podmanProgram = (): string | undefined => systemProgram("podman");

/** podman looks there for its runtimes and, without root, for the programs that map its user's ids. */
const PODMAN_PATH = [
  ...["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"],
  ...["/run/wrappers/bin", "/run/current-system/sw/bin"],
].join(":");

/** Variables that say where podman keeps this user's images. */
const OF_USER = ["HOME", "XDG_RUNTIME_DIR", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "DBUS_SESSION_BUS_ADDRESS"];

const NO_CONFIGURATION = "/dev/null";

/** The whole environment of podman. A volume or a variable that its own configuration adds is in no manifest, so that does not count. */
export const podmanEnvironment = (configuration = NO_CONFIGURATION): Record<string, string> => ({
  ...Object.fromEntries(
    OF_USER.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  ),
  PATH: PODMAN_PATH,
  CONTAINERS_CONF: configuration,
});

export interface PodmanAnswer {
  /** Null if it was not started, or was ended. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Never rejects. */
export const call = (program: string, words: readonly string[]): Promise<PodmanAnswer> =>
  new Promise((told) => {
    const how = {
      env: podmanEnvironment(),
      cwd: "/",
      timeout: PODMAN_CALL_MAX_MS,
      killSignal: "SIGKILL" as const,
      maxBuffer: PODMAN_OUTPUT_MAX_BYTES,
    };
    const child = execFile(program, words, how, (failure, stdout, stderr) =>
      told({ code: child.exitCode, stdout, stderr: stderr || (failure?.message ?? "") }),
    );
    child.stdin?.end();
  });

const NAME_CHARS = 32;

export const containerName = (marker: string): string =>
  `holdfast-${createHash("sha256").update(marker).digest("hex").slice(0, NAME_CHARS)}`;

/** For people: `podman ps --filter label=holdfast.run`. */
const LABEL = "holdfast.run";

/** `podman run …` with the names of its run. */
export const namedContainer = (
  [program = "", run = "", ...flags]: readonly string[],
  marker: string,
): readonly string[] => [
  ...[program, run, "--name", containerName(marker), "--label", `${LABEL}=${marker}`, "--env", MARKER],
  ...flags,
];

/** The configuration of podman for one run: it marks the process that watches over the container, which descends from nobody. */
export const writeContainerConfiguration = (dir: string, marker: string): string => {
  const path = join(dir, CONTAINER_CONFIGURATION);
  const variables = [`PATH=${PODMAN_PATH}`, `${MARKER}=${marker}`];
  writeFileSync(path, `[engine]\nconmon_env_vars = ${JSON.stringify(variables)}\n`, { mode: FILE_MODE });
  return path;
};

/** The container of one run. */
export class RunContainer {
  readonly name: string;
  /** Its id and its runtime, once podman has told them. */
  private known: readonly string[] = [];

  constructor(marker: string) {
    this.name = containerName(marker);
  }

  /**
   * Ends and removes it, with all that it has on the disk. Resolves to false if it is still there, or if nobody can know,
   * because podman was uninstalled meanwhile. Never rejects.
   */
  async remove(): Promise<boolean> {
    const podman = podmanProgram();
    if (podman === undefined) return false;
    const format = "{{.Id}} {{.OCIRuntime}}";
    const { code, stdout } = await call(podman, ["container", "inspect", "--format", format, this.name]);
    if (code === 0) this.known = stdout.trim().split(" ");
    for (let attempt = 1; attempt <= CONTAINER_REMOVE_TRIES; attempt += 1) {
      const removed = await call(podman, ["rm", "--force", "--ignore", "--time", "0", this.name]);
      if (removed.code === 0) return this.forgetWithRuntime();
    }
    return false;
  }

  /** A podman or a watcher that was killed in between has not told the runtime, which keeps a state and a cgroup. */
  private async forgetWithRuntime(): Promise<true> {
    const [id, runtime] = this.known;
    if (id !== undefined && runtime?.startsWith("/")) await call(runtime, ["delete", "--force", id]);
    return true;
  }
}

export const containerOf = (isContainer: boolean | undefined, marker: string): RunContainer | undefined =>
  isContainer === true ? new RunContainer(marker) : undefined;
