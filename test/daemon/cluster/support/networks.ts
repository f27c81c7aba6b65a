/**
 * Machines with a network each: namespaces of the kernel, which a bridge in one more joins. A cut is silent, may go one way, and what
 * was sent before it arrives after it, as on a real network. All of it is gone with the process of the tests.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { readlinkSync } from "node:fs";
import { until } from "../../../cli/support/commands.ts";

/** A cut loses all packets, those that the machine sends, or those that it is sent. */
export const CUTS = ["both", "out", "in"] as const;
export type Cut = (typeof CUTS)[number];

/** For measurements between networks, 198.18.0.0/15 (RFC 2544, C.2.2), which no real network has: a part of 16 addresses a process. */
const PART = 16;
const PARTS = 2 ** 17 / PART;
const MASK = "/28";
const address = (nth: number): string => {
  const at = (process.pid % PARTS) * PART + nth;
  return [198, 18 + (at >> 16), (at >> 8) & 255, at & 255].join(".");
};
const HERE = address(1);
/** Nobody has it. */
const NOWHERE = "02:00:00:00:00:01";

/** A network namespace that lasts as long as its process, which ends with ours. */
class Namespace {
  readonly pid: number;
  private readonly holder: ChildProcess;

  constructor() {
    this.holder = spawn("unshare", ["--net", "cat"], { stdio: ["pipe", "ignore", "ignore"] });
    this.pid = this.holder.pid!;
  }

  get isMade(): boolean {
    const of = (process: number | "self"): string => readlinkSync(`/proc/${process}/ns/net`);
    return of(this.pid) !== of("self");
  }

  get enter(): readonly string[] {
    return ["nsenter", `--net=/proc/${this.pid}/ns/net`];
  }

  ip(...words: readonly string[]): void {
    const [program, ...more] = [...this.enter, "ip", ...words];
    execFileSync(program!, more);
  }

  close(): void {
    this.holder.kill("SIGKILL");
  }
}

/** The bridge's end of the link of a machine. */
const linkTo = (name: string): string => `to-${name}`;

const ipHere = (...words: readonly string[]): void => void execFileSync("ip", words);

export class Networks {
  /** This process, and a server that it starts, can be reached there. */
  readonly address = HERE;
  /** Its side of the link to the bridge. */
  private readonly link = `hf${process.pid}`;
  private readonly bridge = new Namespace();
  private readonly machines = new Map<string, Namespace>();

  /** Root can, on Linux, with `ip` and `nsenter`. */
  static get canBeMade(): boolean {
    const script = "ip link add type bridge && ip link add type veth && nsenter --version";
    return spawnSync("unshare", ["--net", "sh", "-c", script], { stdio: "ignore" }).status === 0;
  }

  static async make(names: readonly string[]): Promise<Networks> {
    const made = new Networks();
    for (const name of names) made.machines.set(name, new Namespace());
    const all = [made.bridge, ...made.machines.values()];
    await until(() => all.every(({ isMade }) => isMade));
    made.join();
    return made;
  }

  /** The words before a program that runs on that machine. */
  enter(name: string): readonly string[] {
    return this.of(name).enter;
  }

  cut(name: string, cut: Cut): void {
    if (cut === "both") this.bridge.ip("link", "set", linkTo(name), "nomaster");
    const lost = ["lladdr", NOWHERE, "nud", "permanent"];
    if (cut === "out") this.of(name).ip("neigh", "replace", HERE, "dev", "eth0", ...lost);
    if (cut === "in") ipHere("neigh", "replace", this.addressOf(name), "dev", this.link, ...lost);
  }

  mend(name: string, cut: Cut): void {
    if (cut === "both") this.bridge.ip("link", "set", linkTo(name), "master", "bridge");
    if (cut === "out") this.of(name).ip("neigh", "del", HERE, "dev", "eth0");
    if (cut === "in") ipHere("neigh", "del", this.addressOf(name), "dev", this.link);
  }

  close(): void {
    for (const namespace of [this.bridge, ...this.machines.values()]) namespace.close();
  }

  private join(): void {
    const { bridge } = this;
    bridge.ip("link", "add", "bridge", "type", "bridge");
    bridge.ip("link", "set", "bridge", "up");
    const plug = (end: string): void => bridge.ip("link", "set", end, "master", "bridge", "up");
    ipHere("link", "add", this.link, "type", "veth", "peer", "name", "here", "netns", String(bridge.pid));
    plug("here");
    ipHere("addr", "add", HERE + MASK, "dev", this.link);
    ipHere("link", "set", this.link, "up");
    for (const [name, machine] of this.machines) {
      const link = linkTo(name);
      const peer = ["peer", "name", "eth0", "netns", String(machine.pid)];
      bridge.ip("link", "add", link, "type", "veth", ...peer);
      plug(link);
      machine.ip("link", "set", "lo", "up");
      machine.ip("addr", "add", this.addressOf(name) + MASK, "dev", "eth0");
      machine.ip("link", "set", "eth0", "up");
    }
  }

  private of(name: string): Namespace {
    return this.machines.get(name)!;
  }

  private addressOf(name: string): string {
    return address(2 + [...this.machines.keys()].indexOf(name));
  }
}
