/**
 * The image of the Dockerfile, built on a base of this machine's own programs, because a test has no network: a daemon in a
 * container, used through `exec`, and what a stop and a start of the container do to its workers.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stageImage } from "../../scripts/image.ts";
import { API_PORT_DEFAULT } from "../../src/base/limits.ts";
import { assertBuilt } from "../support/built.ts";

const PODMAN = "/usr/bin/podman";
const BUSYBOX = "/usr/bin/busybox";
const PERL = "/usr/bin/perl";
const TOOLS = ["cat", "ls", "sleep", "mkdir", "mv", "rm", "id", "true"];
const BASE = `localhost/holdfast-base-${process.pid}`;
const IMAGE = `localhost/holdfast-image-${process.pid}`;
const CONTAINER = `holdfast-container-${process.pid}`;
const root = resolve(import.meta.dirname, "../..");

const missing = [PODMAN, BUSYBOX, PERL].filter((path) => !existsSync(path));
if (missing.length > 0)
  process.stderr.write(`SKIPPED: the image of the Dockerfile. Not installed: ${missing.join(", ")}\n`);

/** Its own store: an import of hundreds of megabytes holds the lock of the store, and tests of containers would wait for it. */
const store = join(tmpdir(), `holdfast-store-${process.pid}`);
const STORE = ["--root", join(store, "root"), "--runroot", join(store, "run")];
const tryPodman = (...words: readonly string[]) =>
  spawnSync(PODMAN, [...STORE, ...words], { encoding: "utf8" });
const podman = (...words: readonly string[]): string =>
  execFileSync(PODMAN, [...STORE, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Each way to start a container; the second one for a machine whose cgroups crun does not take and whose limits are low. */
const WAYS: readonly (readonly string[])[] = [
  [],
  ["--runtime", "runc", "--ulimit", "nofile=4096:4096", "--ulimit", "nproc=1024:1024"],
];
let way: readonly string[] | undefined;

const copyProgram = (into: string, from: string, to = from): void => {
  const libraries = spawnSync("ldd", [from], { encoding: "utf8" }).stdout.match(/\/\S+/g) ?? [];
  for (const [path, at] of [[from, to], ...libraries.map((library) => [library, library])]) {
    mkdirSync(join(into, dirname(at!)), { recursive: true });
    if (!existsSync(join(into, at!))) copyFileSync(path!, join(into, at!));
  }
};

const makeBase = (): void => {
  const files = mkdtempSync(join(tmpdir(), "holdfast-base-"));
  try {
    for (const dir of ["bin", "usr/bin", "tmp", "proc", "dev", "etc", "run", "var/lib"])
      mkdirSync(join(files, dir), { recursive: true });
    copyFileSync(BUSYBOX, join(files, "bin/busybox"));
    for (const tool of TOOLS) symlinkSync("busybox", join(files, "bin", tool));
    symlinkSync("/bin/busybox", join(files, "usr/bin/env"));
    copyProgram(files, "/bin/dash", "/bin/sh");
    copyProgram(files, PERL);
    copyProgram(files, process.execPath, "/usr/local/bin/node");
    for (const modules of execFileSync(PERL, ["-e", 'print join("\\n", @INC)'], { encoding: "utf8" }).split(
      "\n",
    ))
      if (modules.endsWith("/perl-base")) cpSync(modules, join(files, modules), { recursive: true });
    execFileSync("chmod", ["1777", join(files, "tmp")]);
    execFileSync("tar", ["-C", files, "-cf", `${files}.tar`, "."]);
    podman("import", `${files}.tar`, BASE);
  } finally {
    rmSync(files, { recursive: true, force: true });
    rmSync(`${files}.tar`, { force: true });
  }
};

const agent = (...words: readonly string[]) => {
  const { status, stdout } = tryPodman("exec", CONTAINER, "agent", ...words);
  return { exit: status, data: JSON.parse(stdout || "null")?.data };
};

const until = (isSo: () => boolean): void => {
  while (!isSo()) spawnSync("sleep", ["0.1"]);
};
const isServing = (): boolean => agent("daemon", "status").exit === 0;

describe.skipIf(missing.length > 0)("the image", () => {
  beforeAll(() => {
    assertBuilt();
    makeBase();
    stageImage();
    podman("build", "--quiet", "--build-arg", `BASE=${BASE}`, "--tag", IMAGE, root);
    const run = ["run", "--rm", "--network", "none", "--entrypoint", "/bin/true"];
    way = WAYS.find((words) => tryPodman(...run, ...words, IMAGE).status === 0);
    expect(way, "podman runs no container here").toBeDefined();
    podman("run", "--detach", "--init", "--network", "none", "--name", CONTAINER, ...way!, IMAGE);
    until(isServing);
  });
  afterAll(() => {
    tryPodman("rm", "--force", "--volumes", CONTAINER);
    tryPodman("image", "rm", "--force", "--all");
    rmSync(store, { recursive: true, force: true });
  });

  it("serves HTTP, as a user that is not root", () => {
    const asks = `fetch("http://127.0.0.1:${API_PORT_DEFAULT}/healthz").then(async (r) => console.log(await r.text()))`;
    expect(podman("exec", CONTAINER, "node", "-e", asks)).toBe('{"status":"ok"}\n\n');
    expect(podman("exec", CONTAINER, "id", "-u").trim()).toBe("1000");
  });

  it("keeps the state in a volume: after a stop and a start of the container its workers run again", () => {
    expect(agent("spawn", "--name", "server", "--restart", "permanent", "--", "sleep", "1000").exit).toBe(0);
    expect(agent("spawn", "--name", "job", "--", "true").exit).toBe(0);
    expect(agent("wait", "job").exit).toBe(0);
    podman("stop", "--time", "30", CONTAINER);
    expect(podman("inspect", "--format", "{{.State.ExitCode}}", CONTAINER).trim()).toBe("0");
    podman("start", CONTAINER);
    until(isServing);
    until(() => agent("info", "server").data.state === "running");
    expect(agent("info", "server").data).toMatchObject({ incarnation: 2 });
    expect(agent("info", "job").data).toMatchObject({ state: "completed", incarnation: 1 });
  });
});
