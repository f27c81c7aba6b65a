/**
 * The artifacts of a state directory, for the daemon and for `agent cas`: plain files that both use at the
 * same time (decision 0026). The command loads this file only when it needs it.
 */
import { join } from "node:path";
import { diskFreeBytes } from "../adapters/process/machine-readings.ts";
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

/**
 * The bounds of artifacts with replies: these can be requested again, so they fill only a part of the store.
 */
export const REPLIES: ArtifactBounds = { objects: CAS_REPLIES_OBJECTS_MAX, bytes: CAS_REPLIES_MAX_BYTES };

/** The store for the daemon's replies. The daemon's loop does not block while the log is read. */
export const artifactsOfReplies = (
  stateDir: string,
  env: Environment,
  { referenced }: Pick<ReturnType<typeof referencedAside>, "referenced">,
): Artifacts => artifactsIn(stateDir, env, { bounds: REPLIES, referenced });

/** The store for a command that puts an artifact, perhaps before any daemon has run. */
export const artifactsToPut = (stateDir: string, env: Environment, bounds?: ArtifactBounds): Artifacts => {
  ensurePrivateDirectory(stateDir);
  return artifactsIn(stateDir, env, {
    referenced: () => referenced(stateDir),
    ...(bounds && { bounds }),
  });
};

/** Collects garbage without a daemon: the digests that records name are read from the log's file. */
export const collectIn = (
  stateDir: string,
  how: { readonly older_than_ms: number; readonly dry_run: boolean },
): Promise<CollectReport> =>
  collectArtifacts({
    directory: directoryOf(stateDir),
    referenced: () => referenced(stateDir),
    ...how,
  });
