/** The program in which built-in skills run, `child.ts`, and the files that it needs in a sandbox. */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** From sources, Node runs the file directly. A build has one bundle, beside the daemon's and above the library's. */
const root = dirname(dirname(here));
const found = import.meta.url.endsWith(".ts")
  ? {
      program: join(here, "child.ts"),
      files: ["src", "node_modules", "package.json"].map((name) => join(root, name)),
    }
  : /\/skills\/own-program\.js$/.test(import.meta.url)
    ? bundle(join(root, "..", "skill-child.js"))
    : bundle(join(here, "skill-child.js"));

function bundle(program: string) {
  return { program, files: [program] };
}

export interface OwnProgram {
  readonly argv: readonly string[];
  /** The sandbox shows them read-only. */
  readonly files: readonly string[];
}

/** The words that run a built-in skill. */
export const ownProgram = (skill: string): OwnProgram => ({
  argv: [process.execPath, "--disable-warning=ExperimentalWarning", realpathSync(found.program), skill],
  files: [process.execPath, ...found.files].map((path) => realpathSync(path)),
});
