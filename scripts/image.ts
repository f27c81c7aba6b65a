/**
 * `npm run image [-- ARGUMENTS OF THE BUILD]`: the image of the Dockerfile, by docker or podman. It copies what this clone has
 * built, with the native dependencies of its lock file, so that the build asks nothing of the network but the base image.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stage = join(root, ".cache", "image");

/** Everything else is in the bundles. koffi has the library of this machine in a package beside it. */
const NATIVE = ["better-sqlite3", "koffi", "@koromix"];
/** Without the library in `dist`, which programs import. */
const PARTS = ["bin", "dist", "man", "package.json", "LICENSE"];
const isWanted = (path: string): boolean =>
  !path.startsWith(join(root, "dist", "lib")) && !path.endsWith(".map") && !path.endsWith("sources.sha256");

/** Fills the folder that the Dockerfile copies. */
export const stageImage = (): void => {
  rmSync(stage, { recursive: true, force: true });
  const program = join(stage, "opt", "holdfast");
  for (const part of PARTS)
    cpSync(join(root, part), join(program, part), { recursive: true, filter: isWanted });
  for (const name of NATIVE) {
    const from = join(root, "node_modules", name);
    const isSource = (path: string): boolean => /^(?:deps|src)(?:\/|$)/.test(path.slice(from.length + 1));
    cpSync(from, join(program, "node_modules", name), {
      recursive: true,
      filter: (path) => name !== "better-sqlite3" || !isSource(path),
    });
  }
  mkdirSync(join(stage, "bin"), { recursive: true });
  for (const name of ["agent", "holdfast"]) symlinkSync("/opt/holdfast/bin/agent", join(stage, "bin", name));
  mkdirSync(join(stage, "state"), { mode: 0o700 });
};

const builder = (): string | undefined =>
  ["docker", "podman"].find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const program = builder();
  if (program === undefined || !existsSync(join(root, "dist", "daemon.js"))) {
    const why =
      program === undefined
        ? "Neither docker nor podman is installed."
        : "This clone is not built: run `npm ci`.";
    process.stderr.write(`error: ${why}\n`);
    process.exit(1);
  }
  stageImage();
  const words = ["build", "--tag", "holdfast", ...process.argv.slice(2), root];
  process.exit(spawnSync(program, words, { stdio: "inherit" }).status ?? 1);
}
