/**
 * Addresses that a name must not lead to: the machine itself, its links, and the services that give out credentials of a
 * cloud's machine. A network of private addresses is not among them, because names of an organisation lead there. Pure.
 */
import { BlockList, isIP, isIPv4 } from "node:net";

export type AddressKind = "loopback" | "link_local" | "metadata" | "reserved";

/** The first row that holds an address says its kind. */
const RANGES: readonly (readonly [AddressKind, readonly string[]])[] = [
  // AWS, Google, Azure, Alibaba, Oracle.
  [
    "metadata",
    [
      ...[
        "169.254.169.254/32",
        "169.254.170.2/32",
        "168.63.129.16/32",
        "100.100.100.200/32",
        "192.0.0.192/32",
      ],
      ...["fd00:ec2::254/128", "fd20:ce::254/128"],
    ],
  ],
  ["loopback", ["0.0.0.0/8", "127.0.0.0/8", "::/127"]],
  ["link_local", ["169.254.0.0/16", "fe80::/10", "fec0::/10"]],
  // The last of them stand for addresses of IPv4, each way in its own form: 6to4, Teredo, SIIT, and NAT64 of a network's own.
  [
    "reserved",
    ["224.0.0.0/3", "ff00::/8", "::/96", "2002::/16", "2001::/32", "::ffff:0:0:0/96", "64:ff9b:1::/48"],
  ],
];

/** RFC 6052: the last 32 bits are an address of IPv4, which NAT64 connects to. */
const NAT64 = "64:ff9b::";
const NAT64_BITS = 96;

const blockOf = (ranges: readonly string[]): BlockList => {
  const block = new BlockList();
  for (const range of ranges) {
    const [address = "", bits = ""] = range.split("/");
    if (isIPv4(address)) {
      block.addSubnet(address, Number(bits), "ipv4");
      block.addSubnet(`${NAT64}${address}`, NAT64_BITS + Number(bits), "ipv6");
    } else block.addSubnet(address, Number(bits), "ipv6");
  }
  return block;
};

const BLOCKS = RANGES.map(([kind, ranges]) => [kind, blockOf(ranges)] as const);

/**
 * Undefined: anybody may connect to it. `own` are the addresses of the machine's interfaces. An IPv4 address that is written
 * as one of IPv6 is judged as IPv4.
 */
export const kindOfAddress = (address: string, own: readonly string[] = []): AddressKind | undefined => {
  const [plain = ""] = address.split("%");
  const family = isIP(plain);
  if (family === 0) return "reserved";
  const name = family === 4 ? "ipv4" : "ipv6";
  const found = BLOCKS.find(([, block]) => block.check(plain, name))?.[0];
  if (found !== undefined) return found;
  // A block knows all spellings of an address: ::ffff:c000:207 is 192.0.2.7.
  const machine = blockOf(own.map((one) => `${one.split("%")[0]}/${isIPv4(one) ? 32 : 128}`));
  return machine.check(plain, name) ? "loopback" : undefined;
};

/** Addresses of networks that are nobody else's: those of a house, an office, a provider's NAT. */
const PRIVATE = blockOf(["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7"]);

/** Whether an address is reached over the public internet; IPv4 written as IPv6 is judged as IPv4. */
export const isPublicAddress = (address: string, own: readonly string[] = []): boolean => {
  const [plain = ""] = address.split("%");
  if (kindOfAddress(plain, own) !== undefined) return false;
  return !PRIVATE.check(plain, isIPv4(plain) ? "ipv4" : "ipv6");
};
