import { mkdtempSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { makePeers } from "../../src/daemon/peer.ts";
import type { Peer } from "../../src/protocol/caller.ts";
import { type Caller, UNKNOWN, USER } from "../../src/protocol/caller.ts";

let dir: string;
let server: Server;
let ends: readonly Socket[];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "holdfast-peer-"));
  const accepted = Promise.withResolvers<Socket>();
  server = createServer(accepted.resolve).listen(join(dir, "s"));
  const client = connect(join(dir, "s"));
  ends = [await accepted.promise, client];
});
afterEach(() => {
  for (const end of ends) end.destroy();
  server.close();
  rmSync(dir, { recursive: true });
});

const reported: string[] = [];
const peersWith = (answer: (peer: Peer) => Caller, load?: () => (fd: number) => number | undefined) => {
  reported.length = 0;
  return makePeers(answer, (reason) => reported.push(reason), ...(load === undefined ? [] : [load]));
};

it("the kernel says which process has made a connection, and it is asked once", () => {
  const asked: Peer[] = [];
  const peers = peersWith((peer) => {
    asked.push(peer);
    return USER;
  });
  const callerOf = peers.callerOf(ends[0] as Socket);
  expect(callerOf("a/b/1")).toBe(USER);
  expect(callerOf("a/other/1")).toBe(USER);
  expect(asked).toMatchObject([{ pid: process.pid, claimed: "a/b/1" }]);
  expect(peers.evidence()).toEqual({ from: "kernel" });
  expect(reported).toEqual([]);
});

it("callers are known by their claims if nobody can ask the kernel, and that is told once", () => {
  const asked: Peer[] = [];
  const peers = peersWith(
    (peer) => {
      asked.push(peer);
      return USER;
    },
    () => {
      throw new Error("Cannot find module 'koffi'");
    },
  );
  for (const claimed of ["a/b/1", "a/c/1"]) peers.callerOf(ends[0] as Socket)(claimed);
  expect(asked).toMatchObject([{ pid: undefined, claimed: "a/b/1" }, { pid: undefined }]);
  expect(peers.evidence()).toEqual({ from: "claims", reason: "Cannot find module 'koffi'" });
  expect(reported).toEqual(["Cannot find module 'koffi'"]);
});

it("of a connection that is closed nobody is known", async () => {
  const pids: (number | undefined)[] = [];
  const callerOf = peersWith(({ pid }) => {
    pids.push(pid);
    return UNKNOWN;
  }).callerOf(ends[0] as Socket);
  const socket = ends[0] as Socket;
  await new Promise((closed) => socket.once("close", closed).destroy());
  expect(callerOf(undefined)).toBe(UNKNOWN);
  expect(pids).toEqual([-1]);
});

it("a process that cannot be looked at now is unknown now, and looked at again by the next question", () => {
  let isOut = true;
  const callerOf = peersWith(() => {
    if (isOut) throw new Error("EMFILE");
    return USER;
  }).callerOf(ends[0] as Socket);
  expect(callerOf(undefined)).toBe(UNKNOWN);
  isOut = false;
  expect(callerOf(undefined)).toBe(USER);
});
