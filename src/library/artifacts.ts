/** The bytes of artifacts: from the files of the state directory, as `agent cas get` reads them, or over HTTP. */
import { Effect } from "effect";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { RuntimeCalls } from "./calls.ts";

const bytesOf = async (api: RuntimeCalls, digest: string, stateDir: string): Promise<Uint8Array> => {
  if (api.artifact !== undefined) return api.artifact(digest);
  const { artifactsIn } = await import("../daemon/artifacts.ts");
  return artifactsIn(stateDir, process.env).get(digest);
};

/** The runtime says where its directory is; only a program of the same user can read there. */
export const artifactOf = (api: RuntimeCalls, digest: string): Effect.Effect<Uint8Array, HoldfastError> =>
  Effect.flatMap(api.status(), ({ state_dir }) =>
    Effect.tryPromise({ try: () => bytesOf(api, digest, state_dir), catch: asHoldfastError }),
  );
