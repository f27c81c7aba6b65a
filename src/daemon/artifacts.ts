/**
 * The artifacts of a state directory, for the daemon and for `agent cas` alike: plain files, which both use beside each
 * other (decision 0026). Loaded by the command when it is asked for.
 */
import { join } from "node:path";
import { diskFreeBytes } from "../adapters/process/machine.ts";
import { type CollectReport, collectArtifacts } from "../store/cas/collect.ts";
import { referencedDigests } from "../store/cas/references.ts";
import { type Artifacts, openArtifacts } from "../store/cas/store.ts";
import { limitsOf } from "./limits.ts";
import type { Environment } from "./paths.ts";
import { ensurePrivateDirectory } from "./private-directory.ts";

const directoryOf = (stateDir: string): string => join(stateDir, "cas");

export const artifactsIn = (stateDir: string, env: Environment): Artifacts =>
  openArtifacts({
    directory: directoryOf(stateDir),
    freeBytes: () => diskFreeBytes(stateDir),
    floor_bytes: limitsOf(env).disk_min_bytes,
  });

/** The same for who puts something where no daemon may ever have been. */
export const artifactsToPut = (stateDir: string, env: Environment): Artifacts => {
  ensurePrivateDirectory(stateDir);
  return artifactsIn(stateDir, env);
};

/** Without the daemon: what its records name is read from the log beside it. */
export const collectIn = (
  stateDir: string,
  how: { readonly older_than_ms: number; readonly dry_run: boolean },
): Promise<CollectReport> =>
  collectArtifacts({
    directory: directoryOf(stateDir),
    referenced: async () => new Set(referencedDigests(join(stateDir, "holdfast.db"))),
    ...how,
  });
