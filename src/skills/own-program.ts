/** Programs of ours that run inside a sandbox, `child.ts` for built-in skills among them, and the files that they need there. */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));

/** Their names in a build, beside their sources. */
const SOURCES = {
  "skill-child": "child.ts",
  "skill-tunnel": "network/tunnelled.ts",
  "skill-wasi": "wasi.ts",
} as const;

/** From sources, Node runs the file directly. */
const root = dirname(dirname(here));
const isSource = import.meta.url.endsWith(".ts");

const found = (name: keyof typeof SOURCES) => {
  if (!isSource) {
    const program = join(here, `${name}.js`);
    // That of the built-in skills shares files with other programs, and package.json says what they are.
    const files = name === "skill-child" ? [here, join(here, "../package.json")] : [program];
    return { program, files };
  }
  const files = ["src", "node_modules", "package.json"].map((file) => join(root, file));
  return { program: join(here, SOURCES[name]), files };
};

export interface OwnProgram {
  readonly argv: readonly string[];
  /** The sandbox shows them read-only. */
  readonly files: readonly string[];
}

const ownProgram = (
  name: keyof typeof SOURCES,
  words: readonly string[],
  flags: readonly string[] = [],
): OwnProgram => {
  const { program, files } = found(name);
  const quiet = "--disable-warning=ExperimentalWarning";
  return {
    argv: [process.execPath, quiet, ...flags, realpathSync(program), ...words],
    files: [process.execPath, ...files].map((path) => realpathSync(path)),
  };
};

/** The words that run a built-in skill. */
export const builtinProgram = (skill: string): OwnProgram => ownProgram("skill-child", [skill]);

/** The words that run a program behind the tunnel to its proxy. */
export const tunnelledProgram = (argv: readonly string[]): OwnProgram => ownProgram("skill-tunnel", argv);

/** A page of WebAssembly has 64 KiB, and a memory at most 65,536 of them. */
const WASM_PAGES_MAX = 65_536;
const PAGES_OF_MB = 16;

/** The words that run a module of WebAssembly, whose memory is bounded. */
export const wasiProgram = (argv: readonly string[], memory_mb: number): OwnProgram =>
  ownProgram("skill-wasi", argv, [
    `--wasm-max-mem-pages=${Math.min(memory_mb * PAGES_OF_MB, WASM_PAGES_MAX)}`,
  ]);
