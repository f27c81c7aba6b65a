/** An image of one static program, made here without a network. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { podmanProgram } from "../../src/adapters/process/containers.ts";
import { lookForContainers } from "../../src/workspace/sandbox/container.ts";
import type { SkillPlace } from "./support.ts";

const BUSYBOX = ["/usr/bin/busybox", "/bin/busybox"].find((path) => existsSync(path));

const found = await lookForContainers();
/** Without podman, a runtime that makes containers, and a busybox there is nothing to try. */
export const hasContainers = found !== undefined && "program" in found && BUSYBOX !== undefined;
if (!hasContainers)
  process.stderr.write(
    `SKIPPED: skills in containers. ${found === undefined ? "podman is not installed" : "why" in found ? found.why : "busybox is not installed (apt install busybox-static)"}\n`,
  );

export const podman = (...words: readonly string[]): string =>
  execFileSync(podmanProgram() ?? "podman", words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });

const NAME = `localhost/holdfast-test-${process.pid}`;

/** `more` puts further files below the root of the image. Gives its reference, pinned by its digest. */
export const makeImage = (more: (root: string) => void = () => undefined): string => {
  const root = mkdtempSync(join(tmpdir(), "holdfast-image-"));
  try {
    for (const dir of ["bin", "etc", "volume"]) mkdirSync(join(root, dir));
    copyFileSync(BUSYBOX!, join(root, "bin/busybox"));
    for (const name of PROGRAMS) symlinkSync("busybox", join(root, "bin", name));
    more(root);
    execFileSync("tar", ["-C", root, "-cf", `${root}.tar`, "."]);
    podman("import", "--change", "ENV OF_IMAGE=yes", "--change", "VOLUME /volume", `${root}.tar`, NAME);
    const digest = podman("image", "inspect", "--format", "{{.Digest}}", NAME).trim();
    pinned = `${NAME}@${digest}`;
    return pinned;
  } finally {
    rmSync(root, { recursive: true, force: true });
    rmSync(`${root}.tar`, { force: true });
  }
};
let pinned = "";

export const removeImage = (): void => {
  podman("image", "rm", "--force", NAME);
};

/** A skill of the state directory whose program is a shell script in the image. */
export const addContainerSkill = (
  { stateDir }: Pick<SkillPlace, "stateDir">,
  name: string,
  script: string,
  more = "",
  image = pinned,
  shell = "/bin/sh",
): void => {
  const folder = join(stateDir, "skills", name.replace("/", "-"));
  mkdirSync(folder, { recursive: true });
  const run = JSON.stringify([shell, "-c", script]);
  writeFileSync(
    join(folder, "skill.yaml"),
    `name: ${name}\nsummary: A test.\nrunner: oci\nimage: ${image}\nrun: ${run}\n${more}`,
  );
};

/** Names of containers of this test's own image. */
export const containersLeft = (): readonly string[] =>
  podman("ps", "--all", "--filter", `ancestor=${NAME}`, "--format", "{{.Names}}").split("\n").filter(Boolean);

const PROGRAMS = [
  ...["sh", "cat", "ls", "env", "cut", "sort", "tr", "sleep", "head", "wc", "ln", "touch", "mkdir", "id"],
  ...[
    "grep",
    "find",
    "nc",
    "nslookup",
    "wget",
    "ps",
    "kill",
    "setsid",
    "dd",
    "true",
    "mount",
    "yes",
    "tail",
    "chmod",
    "mknod",
  ],
];
