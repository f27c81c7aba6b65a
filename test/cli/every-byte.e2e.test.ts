/**
 * The links of a watch of two hosts, cut after every byte that they can carry. The daemons, their sockets and the client are real;
 * the program that joins them is in this process, because there are thousands of links; they take some seconds.
 */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parseHost } from "../../src/base/host-address.ts";
import { follow } from "../../src/cli/commands/follow.ts";
import type { Context } from "../../src/cli/context.ts";
import { overHosts } from "../../src/cli/over-hosts.ts";
import { type Call, parse } from "../../src/cli/parse.ts";
import { type Client, makeClient, type Wire } from "../../src/daemon/client.ts";
import { readToken } from "../../src/daemon/token.ts";
import { Runtime } from "../../src/library/index.ts";

/** Few records, so that there are few bytes. */
const TYPES = ["worker_spawned", "worker_exited"];
/** Watches at once, in this process. */
const WATCHES = 16;
const NAMES = ["left", "right"] as const;
type Name = (typeof NAMES)[number];

interface Host {
  readonly stateDir: string;
  readonly runtime: Runtime;
}
let hosts: Readonly<Record<Name, Host>>;

const opened = async (): Promise<Host> => {
  const stateDir = mkdtempSync(join(tmpdir(), "holdfast-every-byte-"));
  const runtime = await Runtime.open({ stateDir, serve: true });
  const worker = await runtime.run({ kind: "command", name: "says", argv: ["sh", "-c", "echo a word"] });
  await worker.result;
  return { stateDir, runtime };
};

beforeAll(async () => {
  const [left, right] = await Promise.all([opened(), opened()]);
  hosts = { left, right };
});
afterAll(async () => {
  for (const { stateDir, runtime } of Object.values(hosts)) {
    await runtime.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
});

/** A link that ends after so many bytes of the answers; `carried` hears of each. */
const linkTo = async (
  { stateDir }: Host,
  most: number,
  carried: (bytes: number) => void,
): Promise<Client> => {
  const socket = createConnection(join(stateDir, "agent.sock"));
  await once(socket, "connect");
  const wire: Wire = {
    write: (text) => socket.write(text),
    destroy: () => socket.destroy(),
    async *[Symbol.asyncIterator]() {
      let left = most;
      for await (const chunk of left > 0 ? socket : []) {
        const part = (chunk as Buffer).subarray(0, left);
        left -= part.length;
        carried(part.length);
        yield part;
        if (left === 0) break;
      }
      socket.destroy();
    },
  };
  return makeClient(wire, readToken(stateDir));
};

interface Watched {
  readonly shown: readonly { readonly host: Name; readonly id: string }[];
  /** Bytes over the first link of each host. */
  readonly bytes: Readonly<Record<Name, number>>;
  readonly links: number;
}

/** `most`: bytes that the first link of each host carries; those after it carry all. */
const watched = async (most: Readonly<Record<Name, number>>): Promise<Watched> => {
  const parsed = parse(["watch", "left/says", "right/says"]);
  if (parsed.kind !== "call") throw new Error("no call");
  const address = parseHost("exec:in-this-process");
  const call: Call = { ...parsed.call, hosts: NAMES.map((name) => ({ name, address })) };
  const bytes = { left: 0, right: 0 };
  const shown: Watched["shown"][number][] = [];
  let links = 0;
  const context = {
    call,
    flags: call.flags,
    mode: "ndjson",
    line: (record: Watched["shown"][number]) => void shown.push(record),
    notice: () => undefined,
    retried: () => undefined,
    connectTo: ({ name }: { readonly name: Name }) => {
      let client: Client | undefined;
      let isFirst = true;
      return async () => {
        if (client !== undefined && !client.isBroken()) return client;
        const limit = isFirst ? most[name] : Number.POSITIVE_INFINITY;
        const count = isFirst ? (carried: number) => (bytes[name] += carried) : () => undefined;
        isFirst = false;
        links += 1;
        client = await linkTo(hosts[name], limit, count as (carried: number) => void);
        clients.push(client);
        return client;
      };
    },
  } as unknown as Context;
  const clients: Client[] = [];
  const ended = await overHosts(context, async (own) => {
    const value = await follow(own, { ids: [...own.call.args], follow: false, from: 0, types: TYPES });
    return { ok: true, value };
  });
  for (const client of clients) client.close();
  expect(ended.ok).toBe(true);
  return { shown, bytes, links };
};

const idsOf = ({ shown }: Watched, name: Name): readonly string[] =>
  shown.flatMap(({ host, id }) => (host === name ? [id] : []));

it("a watch of two hosts whose links are cut at any byte shows each record once, in its order", async () => {
  const whole = { left: Number.POSITIVE_INFINITY, right: Number.POSITIVE_INFINITY };
  const uncut = await watched(whole);
  const expected = NAMES.map((name) => idsOf(uncut, name));
  for (const ids of expected) expect(ids.length).toBe(TYPES.length);
  const bytes = Math.max(uncut.bytes.left, uncut.bytes.right);
  const half = Math.ceil(bytes / 2);
  const wrong: number[] = [];
  let next = 0;
  let links = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < half; at = next++) {
      // The left link is cut in the first half of its bytes, while the right one is cut in the second half of its own.
      const cut = await watched({ left: at, right: half + at });
      links += cut.links;
      if (JSON.stringify(NAMES.map((name) => idsOf(cut, name))) !== JSON.stringify(expected)) wrong.push(at);
    }
  };
  await Promise.all(Array.from({ length: WATCHES }, work));
  expect(wrong).toEqual([]);
  // Two links a watch if none were cut, and four if both were; a daemon's status varies by some bytes, so the last cuts may miss.
  expect(links).toBeGreaterThan(3.9 * half);
});
