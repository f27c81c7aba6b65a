/**
 * Decides where a run of a skill may connect. Pure: names are resolved by the caller. A host is allowed by its name and port,
 * and every address of it is judged then, so that an allowed name opens nothing of this machine.
 */
import { isIP } from "node:net";
import { kindOfAddress } from "../../base/addresses.ts";
import { PROXY_HOST_MAX_CHARS } from "../../base/limits.ts";
import { coversHost } from "../policy.ts";

/** The rule of a denial: `rule` of the record `skill_connection`, and `details.rule` of an error. */
export type NetworkRule =
  | "network_host"
  | "network_address"
  | "network_form"
  | "network_connections"
  | "network_bytes"
  | "network_name"
  | "network_unreachable";

export interface NetworkDenial {
  readonly rule: NetworkRule;
  /** One sentence. */
  readonly reason: string;
}

/** A host in lower case, an address of IPv6 in brackets, and its port. */
export interface Target {
  readonly host: string;
  readonly port: number;
}

/** The hosts of one run. */
export interface HostLists {
  /** By the manifest, or by the caller's own words: these may be addresses of this machine. */
  readonly named: readonly string[];
  /** By the document that the caller named: never an address of this machine. */
  readonly declared: readonly string[];
}

const AUTHORITY = /^(?:\[[0-9a-f:.]+\]|[^\s:/@?#[\]\\]+):(\d{1,5})$/i;

/** `HOST:PORT` as URLs write it: 2130706433 and 0x7f.1 are 127.0.0.1. Undefined for anything else. */
export const targetOf = (authority: string): Target | undefined => {
  const [, digits] = AUTHORITY.exec(authority) ?? [];
  const url = digits === undefined ? null : URL.parse(`http://${authority}`);
  return url === null ? undefined : targetAt(url, Number(digits));
};

const targetAt = ({ hostname }: URL, port: number): Target | undefined =>
  port < 1 || port > 65_535 || hostname.length > PROXY_HOST_MAX_CHARS
    ? undefined
    : { host: hostname.replace(/\.$/, ""), port };

/** The target of a URL of HTTP, with the port of its scheme where it names none. */
export const targetOfUrl = (text: string): Target | undefined => {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  return targetAt(url, url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port));
};

export const authorityOf = ({ host, port }: Target): string => `${host}:${port}`;

/** The address, if the host is one; without brackets. */
const addressIn = ({ host }: Target): string | undefined => {
  const plain = host.replace(/^\[|\]$/g, "");
  return isIP(plain) === 0 ? undefined : plain;
};

/** Never asked of a name service: it means this machine. */
const LOCALHOST = "localhost";
const LOOPBACK = ["127.0.0.1", "::1"] as const;

/** Addresses that need no name service. Undefined for a name. */
export const fixedAddresses = (target: Target): readonly string[] | undefined => {
  const address = addressIn(target);
  if (address !== undefined) return [address];
  return target.host === LOCALHOST ? LOOPBACK : undefined;
};

/** The entry of a list that allows the target. */
export const entryFor = (target: Target, { named, declared }: HostLists): string | undefined => {
  const authority = authorityOf(target);
  return [...named, ...declared].find((entry) => coversHost(entry, authority));
};

/** By its name alone; no name service is asked before. */
export const hostDenial = (target: Target, lists: HostLists): NetworkDenial | undefined =>
  entryFor(target, lists) === undefined
    ? { rule: "network_host", reason: `${authorityOf(target)} is not among the hosts of this run.` }
    : undefined;

/** By all its addresses. One of them is enough: nobody chooses which of them is connected. */
export const addressDenial = (
  target: Target,
  addresses: readonly string[],
  { named }: HostLists,
  own: readonly string[],
): NetworkDenial | undefined => {
  const isExact = (address: string): boolean => {
    const host = isIP(address) === 6 ? `[${address}]` : address;
    return named.includes(authorityOf({ host, port: target.port }));
  };
  const isLocal = target.host === LOCALHOST && named.includes(authorityOf(target));
  const refused = addresses.find((address) => {
    const kind = kindOfAddress(address, own);
    return kind !== undefined && !isExact(address) && !(isLocal && kind === "loopback");
  });
  if (refused === undefined) return undefined;
  return {
    rule: "network_address",
    reason: `${authorityOf(target)} leads to ${refused}, an address of this machine or its network (${kindOfAddress(refused, own)}), which nobody named.`,
  };
};
