/** The bytes of artifacts, from the files of the state directory, as `agent cas get` reads them. */
import { Effect } from "effect";
import { asHoldfastError, type HoldfastError } from "../protocol/errors.ts";
import type { RuntimeCalls } from "./calls.ts";

/** The runtime says where its directory is; only a program of the same user can read there. */
export const artifactOf = (api: RuntimeCalls, digest: string): Effect.Effect<Uint8Array, HoldfastError> =>
  Effect.flatMap(api.status(), ({ state_dir }) =>
    Effect.tryPromise({
      try: async () => {
        const { artifactsIn } = await import("../daemon/artifacts.ts");
        return artifactsIn(state_dir, process.env).get(digest);
      },
      catch: asHoldfastError,
    }),
  );
