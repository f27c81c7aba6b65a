/**
 * The guard of addresses that a configuration names: a name is resolved once, all its addresses are judged, and the connection
 * goes to the one that was judged. So a name that leads elsewhere at a second look opens nothing of this machine.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { isPublicAddress, kindOfAddress } from "./addresses.ts";

export interface PinnedAddress {
  readonly address: string;
  readonly family: number;
}

/** Resolves a name to all its addresses. */
type ResolveName = (host: string) => Promise<readonly PinnedAddress[]>;

const resolveName: ResolveName = (host) => lookup(host, { all: true, verbatim: true });

const ownAddresses = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address));

export interface PinRules {
  /** Addresses of this machine and of private networks may be meant. Those that give out credentials never are. */
  readonly isPrivateAllowed: boolean;
  /** The setting that would allow them, for the sentence of a refusal. */
  readonly allowedBy: string;
  /** The addresses of the machine's interfaces. */
  readonly own?: readonly string[];
}

const isAllowed = (
  address: string,
  { isPrivateAllowed, own = ownAddresses() }: Pick<PinRules, "isPrivateAllowed" | "own">,
): boolean => {
  if (!isPrivateAllowed) return isPublicAddress(address, own);
  const kind = kindOfAddress(address);
  return kind === undefined || kind === "loopback";
};

/** The reason why nothing may connect there. */
export class ForbiddenAddressError extends Error {}

/** The address to connect to. Rejects with ForbiddenAddressError if the host has one to which nothing may connect. */
export const pinnedAddress = async (
  { hostname }: Pick<URL, "hostname">,
  rules: PinRules,
  resolve: ResolveName = resolveName,
): Promise<PinnedAddress> => {
  const host = hostname.replace(/^\[|\]$/g, "");
  const family = isIP(host);
  const found = family === 0 ? await resolve(host) : [{ address: host, family }];
  const [first] = found;
  if (first === undefined) throw new Error(`${host} has no address.`);
  const forbidden = found.find(({ address }) => !isAllowed(address, rules));
  if (forbidden !== undefined) {
    const told = family === 0 ? `${host} leads to ${forbidden.address},` : `${host} is`;
    throw new ForbiddenAddressError(
      rules.isPrivateAllowed
        ? `${told} an address to which nothing may connect.`
        : `${told} an address of this machine or of a private network; ${rules.allowedBy} allows it.`,
    );
  }
  return first;
};
