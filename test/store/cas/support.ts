/** A store of artifacts in a directory of its own, on a clock that the test moves. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { CAS_FRESH_MS } from "../../../src/base/limits.ts";
import { type CollectOptions, collectArtifacts } from "../../../src/store/cas/collect.ts";
import { type ArtifactOptions, openArtifacts } from "../../../src/store/cas/store.ts";

const newDirectory = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-cas-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "cas");
};

export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** `later` moves the clock past the time in which nothing is collected. */
export const newStore = (options: Partial<ArtifactOptions> = {}) => {
  const directory = newDirectory();
  let now_ms = Date.now();
  const now = () => now_ms;
  const artifacts = openArtifacts({ directory, freeBytes: () => undefined, now, ...options });
  return {
    directory,
    artifacts,
    later: (ms = 2 * CAS_FRESH_MS) => {
      now_ms += ms;
    },
    collect: (how: Partial<CollectOptions> = {}) =>
      collectArtifacts({
        directory,
        older_than_ms: 0,
        dry_run: false,
        referenced: async () => new Set<string>(),
        now,
        ...how,
      }),
  };
};
