/**
 * A proof that nothing leaves this machine: a network namespace in which only the loopback interface is up. It comes up
 * by one ioctl from perl, which every Debian has; `ip` and `ifconfig` it may lack.
 */
import { spawnSync } from "node:child_process";

const SIOCSIFFLAGS = 0x8914;
const IFF_UP_RUNNING = 0x41;
/** `struct ifreq`: 16 bytes of name, then the flags; 40 bytes in all. */
const LOOPBACK_UP = `
socket(my $any, 2, 1, 0) or die $!;
my $up = pack("a16 s x22", "lo", ${IFF_UP_RUNNING});
ioctl($any, ${SIOCSIFFLAGS}, $up) or die $!;
exec(@ARGV) or die $!;`;

/** With the rights of root, or by a user namespace where the kernel allows one. */
const WAYS = [
  ["unshare", "--net"],
  ["unshare", "--map-root-user", "--net"],
];

/** The words before a command so that it runs in such a namespace; undefined where none can be made. */
export const loopbackOnly = (): readonly string[] | undefined =>
  WAYS.map((way) => [...way, "perl", "-e", LOOPBACK_UP]).find(
    ([program, ...args]) => spawnSync(program!, [...args, "true"], { stdio: "ignore" }).status === 0,
  );
