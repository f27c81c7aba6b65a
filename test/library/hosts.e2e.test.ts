/** `Runtime.connect({ hosts })`: state directories of this machine, each behind a program, as a host is. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type HostRecord, type HostRuntimes, Runtime } from "../../src/library/index.ts";
import { AGENT, assertBuilt } from "../support/built.ts";
import { agent } from "./support.ts";

const CUTS = 5;
/** Far more than it takes, on a machine that does much else. */
const TOLD_WITHIN_MS = 60_000;
const CUTTER = join(import.meta.dirname, "../fixtures/hosts/cuts.mjs");
const root = mkdtempSync(join(tmpdir(), "holdfast-hosts-"));
const addresses: { readonly name: string; readonly host: string }[] = [];
const GONE = { name: "gone", host: "exec:/nonexistent" };
const reachOf = (stateDir: string): string =>
  `exec:env HOLDFAST_HOME=${stateDir} PATH=${join(root, "bin")}:${process.env.PATH}`;

beforeAll(async () => {
  assertBuilt();
  mkdirSync(join(root, "bin"));
  symlinkSync(AGENT, join(root, "bin/agent"));
  for (const name of ["build", "box"]) {
    const stateDir = join(root, name);
    await agent(stateDir, "daemon", "start");
    addresses.push({ name, host: reachOf(stateDir) });
    const runtime = await Runtime.connect({ stateDir });
    await (await runtime.run({ kind: "command", name: "counts", argv: ["sh", "-c", "seq 20"] })).result;
    await runtime.close();
  }
});
afterAll(async () => {
  for (const { name } of addresses) await agent(join(root, name), "daemon", "stop", "--kill-agents");
  rmSync(root, { recursive: true });
});

const connected = async (...hosts: readonly { readonly name: string; readonly host: string }[]) => {
  const reports: string[] = [];
  const all = await Runtime.connect({ hosts, report: (message) => reports.push(message) });
  onTestFinished(() => all.close());
  return { all, reports };
};

const taken = async (
  all: HostRuntimes<Runtime>,
  count: number,
  from: 0 | string,
): Promise<readonly HostRecord[]> => {
  const records: HostRecord[] = [];
  for await (const record of all.watch({ from })) {
    records.push(record);
    if (records.length === count) break;
  }
  return records;
};
const heads = async (all: HostRuntimes<Runtime>): Promise<number> =>
  (await all.status()).rows.reduce((sum, { head }) => sum + head, 0);
const idsOf = (records: readonly HostRecord[], host: string) =>
  records.flatMap((record) => (record.host === host ? [record.id] : []));

describe("several hosts", () => {
  test("answer with the host in each row, beside those that fail", async () => {
    const { all } = await connected(...addresses, GONE);
    const { rows, failed } = await all.list({ all: true });
    expect(rows).toMatchObject([
      { host: "build", name: "counts", state: "completed" },
      { host: "box", name: "counts", state: "completed" },
    ]);
    expect(failed).toMatchObject([{ host: "gone", error: { code: "UNAVAILABLE" } }]);
    for (const reply of [await all.status(), await all.tree(), await all.usage({ by: "kind" })])
      expect(reply.rows.map(({ host }) => host)).toEqual(["build", "box"]);
    expect((await all.inbox()).rows).toEqual([]);
  });

  test("have every call each", async () => {
    const { all } = await connected(...addresses);
    const box = await all.of("box");
    const { id } = await box.spawn({ kind: "command", argv: ["sleep", "600"], name: "sleeps" });
    expect((await all.list()).rows).toMatchObject([{ host: "box", id, name: "sleeps" }]);
    await box.kill(id);
    await expect(all.of("far")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });

  test("are watched as one, and by the cursor of any record again", async () => {
    const { all, reports } = await connected(...addresses, GONE);
    const total = await heads(all);
    const whole = await taken(all, total, 0);
    expect(new Set(whole.map(({ id }) => id)).size).toBe(total);
    const middle = Math.floor(total / 3);
    const rest = await taken(all, total - middle - 1, whole[middle]!.cursor);
    for (const { name } of addresses)
      expect([...idsOf(whole.slice(0, middle + 1), name), ...idsOf(rest, name)]).toEqual(idsOf(whole, name));
    expect(reports[0]).toContain("gone: ");
  });

  test(`are watched on where they were after a link is cut ${CUTS} times`, async () => {
    const [build, box] = addresses as [(typeof addresses)[0], (typeof addresses)[0]];
    const dir = join(root, "cutting");
    mkdirSync(dir);
    const reach = `${process.execPath} ${CUTTER} ${dir} ${CUTS} ${box.host.slice("exec:".length)}`;
    const { all } = await connected(build, { name: "box", host: `exec:${reach}` });
    const total = await heads(all);
    const records = await taken(all, total, 0);
    expect(new Set(records.map(({ id }) => id)).size).toBe(total);
    const seqs = records.flatMap(({ host, seq }) => (host === "box" ? [seq] : []));
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(readFileSync(join(dir, "cuts"), "utf8").trimEnd().split("\n").length).toBeGreaterThan(2);
  });

  test("are joined by one that was away, whose records come since the watch began", async () => {
    const [build] = addresses as [(typeof addresses)[0]];
    const stateDir = join(root, "late");
    const late = { name: "late", host: reachOf(stateDir) };
    const { all, reports } = await connected(build, late);
    const giveUp = new AbortController();
    const seqs: number[] = [];
    const watching = (async () => {
      for await (const { host, seq, type } of all.watch({ signal: giveUp.signal })) {
        if (host === "late") seqs.push(seq);
        if (type === "daemon_started") giveUp.abort();
      }
    })();
    await vi.waitFor(() => expect(reports[0]).toContain("late: "), { timeout: TOLD_WITHIN_MS });
    await agent(stateDir, "daemon", "start");
    await watching;
    expect(seqs).toEqual(seqs.map((_, at) => at + 1));
    expect(reports.at(-1)).toBe("late: it answers, and its records follow.");
    await agent(stateDir, "daemon", "stop", "--kill-agents");
  });

  test("are read without one that is away", async () => {
    const { all, reports } = await connected(...addresses, GONE);
    const hosts = new Set<string>();
    for await (const { host } of all.watch({ from: 0, follow: false })) hosts.add(host);
    expect([...hosts].sort()).toEqual(["box", "build"]);
    expect(reports).toHaveLength(1);
  });

  test("end their watch with the signal, and with close", async () => {
    const { all } = await connected(...addresses);
    const giveUp = new AbortController();
    const live = all.watch({ signal: giveUp.signal })[Symbol.asyncIterator]();
    const waiting = live.next();
    giveUp.abort();
    expect(await waiting).toMatchObject({ done: true });
    const other = all.watch({ from: 0 })[Symbol.asyncIterator]();
    expect((await other.next()).done).toBe(false);
    await all.close();
    for (let next = await other.next(); next.done !== true; next = await other.next());
  });

  test.each([
    ["none", []],
    ["one twice", ["local", "local"]],
    ["every", ["all"]],
    ["no address", ["local", "build"]],
    ["no list", 5],
    ["nothing", null],
    ["a number among them", [5]],
    ["nothing among them", [null]],
    ["a name alone", [{ name: "build" }]],
  ])("are refused: %s", async (_, hosts) => {
    await expect(Runtime.connect({ hosts: hosts as never })).rejects.toMatchObject({
      code: "INVALID_REQUEST",
    });
  });

  test("are refused if none can be reached, and with two names of one", async () => {
    await expect(Runtime.connect({ hosts: [GONE] })).rejects.toMatchObject({ code: "UNAVAILABLE" });
    const [build] = addresses as [(typeof addresses)[0]];
    const { all } = await connected(build, { ...build, name: "twin" });
    await expect(taken(all, 1, 0)).rejects.toMatchObject({ code: "INVALID_REQUEST" });
    await expect(taken(all, 1, "x")).rejects.toMatchObject({ code: "INVALID_REQUEST" });
  });
});
