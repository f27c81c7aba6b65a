/**
 * A watch over ssh whose link is killed after a byte of it: of the answers of the host, from the first line of its relay on, and of the
 * words of the client. The next link is killed in the answer of its relay, and the one after it holds. The program ssh, the relay and
 * the daemon are real. CI takes some bytes, and the full figures take each.
 */
import { once } from "node:events";
import { mkdirSync, symlinkSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import type ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HostAddress, parseHost } from "../../src/base/host-address.ts";
import { follow } from "../../src/cli/commands/follow.ts";
import type { Context } from "../../src/cli/context.ts";
import { hostConnector } from "../../src/cli/hosts.ts";
import { overHosts } from "../../src/cli/over-hosts.ts";
import { type Call, parse } from "../../src/cli/parse.ts";
import { AGENT, CACHE } from "../support/built.ts";
import { full } from "../support/figures.ts";
import { makeSshClient, makeSshServer, SSH, type SshCut } from "../support/ssh.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

/** Few records, so that there are few bytes. */
const TYPES = ["worker_spawned", "worker_exited"];
const STEP_BYTES = full ? 1 : 97;
/** Watches at once, each with programs of its own. */
const WATCHES = full ? 24 : 8;

let here: Commands;
let there: Commands;
let server: ssh2.Server;
let reach: (user: string) => HostAddress;
/** The links of each watch that are still to be cut, by its user. */
const cuts = new Map<string, SshCut[]>();
const links = new Map<string, number>();

beforeAll(async () => {
  [here, there] = [makeCommands(), makeCommands()];
  mkdirSync(join(there.home, "bin"));
  symlinkSync(AGENT, join(there.home, "bin/agent"));
  const ssh = makeSshClient(here.home);
  const PATH = `${join(there.home, "bin")}${delimiter}${process.env.PATH}`;
  server = makeSshServer({
    publicKey: ssh.publicKey,
    env: { ...CACHE, PATH, HOLDFAST_HOME: there.home },
    cut: (user) => {
      links.set(user, (links.get(user) ?? 0) + 1);
      return cuts.get(user)?.shift() ?? {};
    },
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  reach = (user) => {
    const address = parseHost(`ssh://${user}@127.0.0.1:${port}`) as HostAddress;
    return { ...address, reach: [join(ssh.bin, "ssh"), ...address.reach.slice(1)] };
  };
  await there.agent("spawn", "--name", "says", "--", "sh", "-c", "echo a word");
  await until(async () => (await there.agent("info", "says")).data.state === "completed");
});
afterAll(async () => {
  server?.close();
  await there?.close();
  await here?.close();
});

interface Watched {
  readonly isWhole: boolean;
  readonly code: string | undefined;
  readonly shown: readonly string[];
  readonly links: number;
}

/** As `agent --host ssh://… watch says`, in this process. */
const watched = async (user: string, some: readonly SshCut[]): Promise<Watched> => {
  cuts.set(user, [...some]);
  const parsed = parse(["watch", "far/says"]);
  if (parsed.kind !== "call") throw new Error("no call");
  const call: Call = { ...parsed.call, hosts: [{ name: "far", address: reach(user) }] };
  const shown: string[] = [];
  const cleanups: Context["cleanups"] = [];
  const context = {
    call,
    flags: call.flags,
    mode: "ndjson",
    host: "far",
    line: ({ id }: { readonly id: string }) => void shown.push(id),
    notice: () => undefined,
    retried: () => undefined,
    connectTo: () => hostConnector(reach(user), undefined, () => undefined, cleanups),
  } as unknown as Context;
  const ended = await overHosts(context, async (own) => {
    const value = await follow(own, { ids: [...own.call.args], follow: false, from: 0, types: TYPES });
    return { ok: true, value };
  });
  for (const cleanup of cleanups) await cleanup();
  const code = ended.ok ? undefined : ended.error.code;
  return { isWhole: ended.ok, code, shown, links: links.get(user) ?? 0 };
};

describe.skipIf(SSH === "")("a watch over ssh", () => {
  it("shows each record once, in its order, wherever its links are killed", async () => {
    const carried: { output: number; input: number }[] = [];
    const uncut = await watched("uncut", [{ carried: (bytes) => carried.push(bytes) }]);
    await until(() => carried.length === 1);
    expect([uncut.isWhole, uncut.shown.length, uncut.links]).toEqual([true, TYPES.length, 1]);
    const [{ output, input }] = carried as [{ output: number; input: number }];
    const cutsOf = (bytes: number, cut: (at: number) => SshCut) =>
      Array.from({ length: Math.ceil(bytes / STEP_BYTES) }, (_, nth) => cut(nth * STEP_BYTES));
    const asked = [...cutsOf(output, (at) => ({ output: at })), ...cutsOf(input, (at) => ({ input: at }))];
    const wrong: unknown[] = [];
    let [next, again] = [0, 0];
    const work = async (): Promise<void> => {
      for (let at = next++; at < asked.length; at = next++) {
        // The relay of the next link is killed in its first line.
        const seen = await watched(`at${at}`, [asked[at]!, { output: at % 100 }]);
        again += seen.links - 1;
        // The first link may not have come to be: then the command says so, and has shown nothing.
        const isRefused = seen.code === "UNAVAILABLE" && seen.shown.length === 0;
        const isSame = seen.isWhole && JSON.stringify(seen.shown) === JSON.stringify(uncut.shown);
        if (!isSame && !isRefused) wrong.push([asked[at], seen]);
      }
    };
    await Promise.all(Array.from({ length: WATCHES }, work));
    expect(wrong).toEqual([]);
    // Two further links for each that was cut after its first line.
    expect(again).toBeGreaterThan(asked.length);
  });
});
