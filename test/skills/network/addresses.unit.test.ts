/** Addresses to which no name may lead. */
import { expect, it } from "vitest";
import { kindOfAddress } from "../../../src/skills/network/addresses.ts";

it.each([
  ["127.0.0.1", "loopback"],
  ["127.255.0.9", "loopback"],
  ["0.0.0.0", "loopback"],
  ["::1", "loopback"],
  ["::", "loopback"],
  ["::ffff:127.0.0.1", "loopback"],
  ["::ffff:7f00:1", "loopback"],
  ["64:ff9b::7f00:1", "loopback"],
  ["169.254.169.254", "metadata"],
  ["::ffff:a9fe:a9fe", "metadata"],
  ["64:ff9b::a9fe:a9fe", "metadata"],
  ["fd00:ec2::254", "metadata"],
  ["100.100.100.200", "metadata"],
  ["169.254.3.4", "link_local"],
  ["fe80::1", "link_local"],
  ["fe80::1%eth0", "link_local"],
  ["224.0.0.1", "reserved"],
  ["255.255.255.255", "reserved"],
  ["ff02::1", "reserved"],
  ["2002:7f00:1::", "reserved"],
  ["::7f00:1", "reserved"],
  ["no address", "reserved"],
  ["192.0.2.7", "loopback"],
  ["::ffff:192.0.2.7", "loopback"],
  ["::ffff:c000:207", "loopback"],
  ["64:ff9b::c000:207", "loopback"],
  ["fd12:0::0:7", "loopback"],
  ["10.0.0.1", undefined],
  ["192.168.1.1", undefined],
  ["8.8.8.8", undefined],
  ["64:ff9b::808:808", undefined],
  ["2001:db8::1", undefined],
  ["fd12::1", undefined],
] as const)("%s is %s", (address, kind) => {
  // This machine has the addresses 192.0.2.7 and fd12::7.
  expect(kindOfAddress(address, ["192.0.2.7", "fd12::7", "fe80::7%eth0"])).toBe(kind);
});
