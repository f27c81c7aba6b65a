/** Registered agents and their rights: a registration gives a name, and a person gives rights to the key that has it. */
import { createHash } from "node:crypto";
import type { AlgorithmName, SigningProfile } from "../../protocol/words.ts";
import { ALGORITHMS } from "../identity/algorithms.ts";
import type { ServerFiles } from "./files.ts";

export interface RegisteredAgent {
  readonly name: string;
  /** 32 hex digits. */
  readonly agent_id: string;
  readonly algorithm: AlgorithmName;
  readonly public_key: string;
  /** The one in which it signed its manifest; answers to it are signed in it. */
  readonly profile: SigningProfile;
  readonly url: string;
  readonly type: string;
  /** Capabilities that its manifest names. */
  readonly asked: readonly string[];
  /** Tasks at a time, 0 for no bound; 1 where it is not there. */
  readonly max_concurrent?: number;
  /** SHA-256 in hex of its one token that holds. */
  readonly token_digest: string;
  /** Epoch seconds. */
  readonly registered_at: number;
  readonly expires_at: number;
}

interface Grant {
  /** The key to which it was given: another key of the same name has no rights. */
  readonly public_key: string;
  readonly capabilities: readonly string[];
}

/** Undefined if no agent of this name is registered. */
export const registered = (files: ServerFiles, name: string): RegisteredAgent | undefined =>
  files.read<RegisteredAgent>("agents", name);

/** SHA-256 of the bytes of its public key, for people who compare two of them. */
export const fingerprintOf = ({ algorithm, public_key }: RegisteredAgent): string => {
  const { bytesOf, publicKeyBytes } = ALGORITHMS[algorithm];
  return createHash("sha256").update(bytesOf(public_key, publicKeyBytes)!).digest("hex");
};

/** Capabilities that a person has given to this key. */
export const grantedTo = (
  files: ServerFiles,
  { name, public_key }: Pick<RegisteredAgent, "name" | "public_key">,
): readonly string[] => {
  const grant = files.read<Grant>("grants", name);
  return grant?.public_key === public_key ? grant.capabilities : [];
};

/** Undefined if no agent of this name is registered. No capabilities take all rights away. */
export const grant = (
  files: ServerFiles,
  name: string,
  capabilities: readonly string[],
): RegisteredAgent | undefined => {
  const agent = registered(files, name);
  if (agent === undefined) return undefined;
  if (capabilities.length === 0) files.remove("grants", name);
  else files.write("grants", name, { public_key: agent.public_key, capabilities });
  return agent;
};
