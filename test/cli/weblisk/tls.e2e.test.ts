/** `agent weblisk serve` with a certificate: registrations, tasks and handshakes of the commands over HTTPS. */
import { chmodSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "node:tls";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { TlsFiles } from "../../../src/weblisk/server/tls-files.ts";
import { type Authority, makeAuthority, makePair, pem } from "../../weblisk/support/certificates.ts";
import { type Commands, type Ended, makeCommands, type Running, until } from "../support/commands.ts";

let commands: Commands;
let other: Commands;
let root: string;
let ca: Authority;
let files: TlsFiles;
let server: Running;
let base: string;
let hub: string;

const argv = (...more: readonly string[]): readonly string[] => [
  ...["weblisk", "serve", "echo=command", "--listen", "0", "--root", root],
  ...["--tls-cert", files.cert, "--tls-key", files.key, ...more, "--", "cat"],
];

/** In a process of its own, which knows the test's authority. */
const trusting = (where: Commands, ...words: readonly string[]): Promise<Ended> =>
  where.start(["-o", "json", ...words], { NODE_EXTRA_CA_CERTS: ca.cert }).ended;

beforeAll(async () => {
  [commands, other] = [makeCommands(), makeCommands()];
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-tls-")));
  ca = makeAuthority(root);
  files = makePair(ca, "server");
  server = commands.start(argv("--federation", "0", "--hub", "b.example", "--offer", "text:echo"));
  await until(() => {
    if (server.child.exitCode !== null) throw new Error(server.err());
    return server.out().split("\n").length === 3;
  });
  [base, hub] = server.out().trim().split("\n") as [string, string];
});
afterAll(async () => {
  server.child.kill("SIGKILL");
  await server.ended;
  await Promise.all([commands.close(), other.close()]);
  rmSync(root, { recursive: true, force: true });
});

it("its addresses begin with https://, and a client that knows the authority registers and has a task done", async () => {
  expect([base, hub].map((url) => new URL(url).protocol)).toEqual(["https:", "https:"]);
  const as = ["--as", "ci"];
  expect(await other.agent("weblisk", "register", base, ...as)).toMatchObject({
    exit: 7,
    error: { suggestion: expect.stringContaining("NODE_EXTRA_CA_CERTS") },
  });
  expect(await trusting(other, "weblisk", "register", base, ...as)).toMatchObject({ exit: 0 });
  await commands.agent("weblisk", "grant", "ci", "file:read", "file:write", "llm:chat");
  const done = await trusting(other, "weblisk", "task", base, "echo", "hello", "--as", "ci");
  expect(done).toMatchObject({ exit: 0, stdout: expect.stringContaining("hello") });
});

it("its gateway speaks TLS 1.3 alone, and a hub that knows the authority shakes hands", async () => {
  const code = await new Promise((resolve) => {
    const { hostname: host, port } = new URL(hub);
    const socket = connect({ host, port: Number(port), ca: pem(ca.cert), maxVersion: "TLSv1.2" });
    socket.once("error", (cause) => resolve((cause as NodeJS.ErrnoException).code));
    socket.once("secureConnect", () => resolve(socket.getProtocol()));
  });
  expect(code).toBe("ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION");
  const asking = other.start([
    "weblisk",
    "serve",
    "--listen",
    "0",
    "--federation",
    "0",
    "--hub",
    "a.example",
  ]);
  try {
    await until(() => asking.out().split("\n").length === 3);
    const [, url] = asking.out().trim().split("\n") as [string, string];
    await commands.agent("peer", "add", "a.example", url, "--share", "text:echo");
    expect(await other.agent("peer", "add", "b.example", hub)).toMatchObject({ exit: 0 });
    expect(await trusting(other, "peer", "connect", "b.example")).toMatchObject({ exit: 0 });
    const task = await trusting(other, "peer", "task", "b.example", "text:echo", "good morning");
    expect(task).toMatchObject({ exit: 0, stdout: expect.stringContaining("good morning") });
  } finally {
    asking.child.kill("SIGKILL");
    await asking.ended;
  }
});

it("a key that others can read, and one flag without the other, serve nothing", async () => {
  chmodSync(files.key, 0o644);
  try {
    expect(await commands.agent(...argv())).toMatchObject({ exit: 7, error: { code: "PERMISSION_DENIED" } });
  } finally {
    chmodSync(files.key, 0o600);
  }
  expect(await commands.agent("weblisk", "serve", "llm", "--tls-key", files.key)).toMatchObject({
    exit: 3,
    error: { message: expect.stringContaining("--tls-key needs --tls-cert FILE") },
  });
});
