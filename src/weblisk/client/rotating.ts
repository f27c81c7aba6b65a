/**
 * Another key of an identity of this side at the orchestrators where it is registered (weblisk.txt, Identity). Both keys sign a
 * statement for each of them, while there are both; it is kept until its orchestrator knows of the new key.
 */
import { asHoldfastError, type HoldfastError } from "../../protocol/errors.ts";
import { remotePlace } from "../../protocol/weblisk-lines.ts";
import { ORCHESTRATOR } from "../identity/opened.ts";
import type { KeyRotation } from "../identity/rotation.ts";
import type { ServerFiles } from "../server/files.ts";
import { knownOf, writeKnown } from "./known.ts";
import { type ClientGround, OrchestratorClient } from "./orchestrator.ts";

const clientsOf = (ground: ClientGround, identity: string): readonly OrchestratorClient[] => {
  const as = identity === ORCHESTRATOR ? undefined : identity;
  return knownOf(ground.files, identity).map(
    ({ url }) => new OrchestratorClient(ground, remotePlace(url, as)),
  );
};

/** The old key gets a token wherever it has none that holds: a change is told with one. */
export const readyToRotate = async (ground: ClientGround, identity: string): Promise<void> => {
  await Promise.allSettled(clientsOf(ground, identity).map((client) => client.renew()));
};

/** `statement`: says that the name belongs to the new key, signed by both. */
export const noteRotation = (
  files: ServerFiles,
  identity: string,
  statement: (name: string) => KeyRotation,
): void => {
  for (const known of knownOf(files, identity))
    writeKnown(files, { ...known, rotation: statement(known.name) });
};

export interface ToldRotation {
  readonly url: string;
  /** The name of this side there. */
  readonly name: string;
  /** It does not know the new key yet; the next request tells it once more. */
  readonly error?: HoldfastError;
}

/** Tells all of them at once. */
export const tellRotation = (ground: ClientGround, identity: string): Promise<readonly ToldRotation[]> =>
  Promise.all(
    clientsOf(ground, identity).map(async (client) => {
      const error = await client.renew().then(
        () => undefined,
        (cause: unknown) => asHoldfastError(cause),
      );
      return { url: client.url, name: client.name, ...(error !== undefined && { error }) };
    }),
  );
