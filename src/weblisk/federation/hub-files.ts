/** Files of federation: this hub as it is told, and the tokens that other hubs have given it. */
import { createHash } from "node:crypto";
import { HoldfastError } from "../../protocol/errors.ts";
import { issueToken, TOKEN_LIFETIMES_S } from "../signing/tokens.ts";
import type { HubGround, OwnHub } from "./ports.ts";

const OWN = "own";

/** A token that another hub has given this one. */
export interface HubToken {
  readonly hub_id: string;
  readonly token: string;
  /** Epoch seconds. */
  readonly expires_at: number;
}

/** The name of a hub may have dots and any length; that of a file has neither. */
const fileOf = (hub_id: string): string => createHash("sha256").update(hub_id).digest("hex");

export const keepOwnHub = ({ files }: Pick<HubGround, "files">, own: OwnHub): void =>
  files.write("federation", OWN, own);

/** Fails with INVALID_STATE if no gateway of this state directory has ever served. */
export const ownHub = ({ files }: Pick<HubGround, "files">): OwnHub => {
  const own = files.read<OwnHub>("federation", OWN);
  if (own !== undefined) return own;
  throw new HoldfastError("INVALID_STATE", "This state directory is no hub yet.", {
    suggestion: "Give it a name and an address: agent weblisk serve --federation PORT --hub NAME",
  });
};

export const keepToken = ({ files }: Pick<HubGround, "files">, token: HubToken): void =>
  files.write("federation", fileOf(token.hub_id), token);

export const dropToken = ({ files }: Pick<HubGround, "files">, hub_id: string): void =>
  files.remove("federation", fileOf(hub_id));

export const keptToken = ({ files }: Pick<HubGround, "files">, hub_id: string): HubToken | undefined =>
  files.read<HubToken>("federation", fileOf(hub_id));

/** A token for a peer. It holds for 72 hours, and as long as the acquaintance whose session it has. */
export const tokenFor = (
  { key, now }: Pick<HubGround, "key" | "now">,
  iss: string,
  { hub_id, session }: { readonly hub_id: string; readonly session: string },
  cap: readonly string[],
): Pick<HubToken, "token" | "expires_at"> => {
  const iat = Math.floor(now() / 1_000);
  const exp = iat + TOKEN_LIFETIMES_S.federation;
  return { token: issueToken(key, { sub: hub_id, iss, iat, exp, cap, cid: session }), expires_at: exp };
};
