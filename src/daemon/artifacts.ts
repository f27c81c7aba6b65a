/**
 * The artifacts of a state directory, for the daemon and for `agent cas` alike: plain files, which both use beside each
 * other (decision 0026). Loaded by the command when it is asked for.
 */
import { join } from "node:path";
import { diskFreeBytes } from "../adapters/process/machine.ts";
import { CAS_REPLIES_MAX_BYTES, CAS_REPLIES_OBJECTS_MAX } from "../base/limits.ts";
import { type CollectReport, collectArtifacts } from "../store/cas/collect.ts";
import {
  type ArtifactBounds,
  type ArtifactOptions,
  type Artifacts,
  openArtifacts,
} from "../store/cas/store.ts";
import { limitsOf } from "./limits.ts";
import { referenced, type referencedAside } from "./offline.ts";
import type { Environment } from "./paths.ts";
import { ensurePrivateDirectory } from "./private-directory.ts";

const directoryOf = (stateDir: string): string => join(stateDir, "cas");

export const artifactsIn = (
  stateDir: string,
  env: Environment,
  how: Pick<ArtifactOptions, "bounds" | "referenced"> = {},
): Artifacts =>
  openArtifacts({
    directory: directoryOf(stateDir),
    freeBytes: () => diskFreeBytes(stateDir),
    floor_bytes: limitsOf(env).disk_min_bytes,
    ...how,
  });

/** For results, which can be asked for once more: they fill only a part. */
export const REPLIES: ArtifactBounds = { objects: CAS_REPLIES_OBJECTS_MAX, bytes: CAS_REPLIES_MAX_BYTES };

/** For what the daemon answers: its loop does not wait while the log is read. */
export const artifactsOfReplies = (
  stateDir: string,
  env: Environment,
  { referenced }: Pick<ReturnType<typeof referencedAside>, "referenced">,
): Artifacts => artifactsIn(stateDir, env, { bounds: REPLIES, referenced });

/** The same for who puts something where no daemon may ever have been. */
export const artifactsToPut = (stateDir: string, env: Environment, bounds?: ArtifactBounds): Artifacts => {
  ensurePrivateDirectory(stateDir);
  return artifactsIn(stateDir, env, {
    referenced: () => referenced(stateDir),
    ...(bounds && { bounds }),
  });
};

/** Without the daemon: what its records name is read from the log beside it. */
export const collectIn = (
  stateDir: string,
  how: { readonly older_than_ms: number; readonly dry_run: boolean },
): Promise<CollectReport> =>
  collectArtifacts({
    directory: directoryOf(stateDir),
    referenced: () => referenced(stateDir),
    ...how,
  });
