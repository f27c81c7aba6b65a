/**
 * The process of a skill with the runner wasi, inside its sandbox: it runs one WebAssembly module. Node's WASI is no sandbox by
 * itself, so the one around this process is what holds. The module has the directories that its manifest declares, its own
 * variables, and no sockets.
 */
import { readFileSync } from "node:fs";
import { WASI } from "node:wasi";
import { SKILL_STATE, SKILL_WORKSPACE } from "./variables.ts";

/** Names of the directories inside the module. */
const WORKSPACE = "/workspace";
const STATE = "/state";

/** The machine's own variables of this process, which say nothing to a module. */
const OF_PROCESS: ReadonlySet<string> = new Set(["PATH", "HOME", "TMPDIR", "PWD", "LANG", "HOLDFAST_RUN"]);

/** The types of Node name WebAssembly without its functions. */
const { WebAssembly: WASM } = globalThis as unknown as {
  readonly WebAssembly: {
    instantiate(bytes: Uint8Array, imports: object): Promise<{ readonly instance: object }>;
  };
};

const [file = "", ...args] = process.argv.slice(2);

const { [SKILL_WORKSPACE]: workspace, [SKILL_STATE]: state, ...others } = process.env;
const wasi = new WASI({
  version: "preview1",
  args: [file, ...args],
  env: {
    ...Object.fromEntries(Object.entries(others).filter(([name]) => !OF_PROCESS.has(name))),
    ...(workspace !== undefined && { [SKILL_WORKSPACE]: WORKSPACE }),
    ...(state !== undefined && { [SKILL_STATE]: STATE }),
  },
  preopens: {
    ...(workspace !== undefined && { [WORKSPACE]: workspace }),
    ...(state !== undefined && { [STATE]: state }),
  },
  returnOnExit: true,
});

try {
  const { instance } = await WASM.instantiate(readFileSync(file), {
    wasi_snapshot_preview1: wasi.wasiImport,
  });
  process.exitCode = wasi.start(instance);
} catch (cause) {
  process.stderr.write(`${file}: ${(cause as Error).message}\n`);
  process.exitCode = 1;
}
