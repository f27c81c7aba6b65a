/**
 * Loads the runtimes that the configuration names, and checks their shape. A runtime is code with the daemon's own rights:
 * whether it keeps the promises of the port is shown by `runtimeConformance` of holdfast/testing, not here.
 */
import { isAbsolute } from "node:path";
import type { RuntimeSpawner } from "./spawner.ts";
import { importDefault, inTime } from "./user-adapters.ts";

/** The runtime that a runtime is opened for: the log, by its id, and the directory of its state. */
export interface RuntimeHome {
  readonly store_id: string;
  /** Absolute path. */
  readonly state_dir: string;
}

/** Called once the log is open. Rejects with the reason for which it cannot be used. */
export type MakeRuntime = (home: RuntimeHome) => Promise<RuntimeSpawner>;

export interface UserRuntime {
  /**
   * Absolute path of an ES module. Its default export is a runtime, or a function that makes one from
   * `options` and a `RuntimeHome`.
   */
  readonly module: string;
  readonly options?: unknown;
}

const FUNCTIONS = ["check", "launch", "observe", "living", "end", "close"] as const;

/** True for an object with the members of `RuntimeSpawner`. */
export const isRuntime = (given: unknown): given is RuntimeSpawner => {
  if (typeof given !== "object" || given === null) return false;
  const { backend_kind, abilities } = given as Partial<RuntimeSpawner>;
  return (
    typeof backend_kind === "string" &&
    backend_kind !== "" &&
    abilities instanceof Set &&
    FUNCTIONS.every((name) => typeof (given as Partial<RuntimeSpawner>)[name] === "function")
  );
};

export const NO_RUNTIME = `it is not a runtime: it has a backend_kind, a Set of abilities, and the functions ${FUNCTIONS.join(", ")}`;

export const makerOf =
  (
    { module, options }: UserRuntime,
    load: (module: string) => Promise<unknown> = importDefault,
  ): MakeRuntime =>
  async (home) => {
    if (!isAbsolute(module)) throw new Error("its path is not absolute");
    const made = await inTime(
      load(module).then((exported) =>
        typeof exported === "function" ? exported(options ?? {}, home) : exported,
      ),
    );
    if (!isRuntime(made)) throw new Error(NO_RUNTIME);
    return made;
  };
