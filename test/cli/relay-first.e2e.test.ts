/** `agent relay` before the client is loaded: here is no client but a word that stands in its place. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { assertBuilt } from "../support/built.ts";

const root = dirname(dirname(import.meta.dirname));
let copy: string;
let daemon: Server | undefined;
beforeEach(() => {
  assertBuilt();
  copy = mkdtempSync(join(tmpdir(), "holdfast-relay-"));
  for (const file of ["bin/agent", "bin/package.json", "dist/relay.cjs"])
    cpSync(join(root, file), join(copy, file));
  writeFileSync(join(copy, "dist/cli.cjs"), 'process.stdout.write("the client");');
  mkdirSync(join(copy, "state"));
});
afterEach(() => {
  daemon?.close();
  daemon = undefined;
  rmSync(copy, { recursive: true });
});

/** It answers each line with itself, in brackets. `answers` false: it goes away instead. */
const listen = async (answers = true): Promise<void> => {
  daemon = createServer((socket) => {
    socket.on("data", (chunk) =>
      answers ? socket.write(`[${chunk.toString().trim()}]\n`) : socket.destroy(),
    );
    socket.on("end", () => socket.end());
  }).listen(join(copy, "state/agent.sock"));
  await once(daemon, "listening");
};

const relayed = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
  const child = spawn(process.execPath, [join(copy, "bin/agent"), "relay", ...words], {
    env: { HOME: copy, HOLDFAST_HOME: join(copy, "state"), ...env },
  });
  let out = "";
  child.stdout.on("data", (chunk) => {
    out += chunk;
    // The end of stdin would overtake the answer.
    if (out.includes("hello")) child.stdin.end();
  });
  child.stdin.on("error", () => undefined).write("hello\n");
  const [exit] = await once(child, "close");
  return { exit, out };
};

const asked = (meta: object) =>
  `[${JSON.stringify({ version: 1, command: "daemon/status", data: {}, meta })}]\n[hello]\n`;

it.each([
  { words: ["--stdio"] },
  { words: ["--stdio", "--start"] },
  { words: ["--stdio", "--state-dir", "STATE"], env: { HOLDFAST_HOME: "/nowhere" } },
])("joins stdin and stdout to a daemon that listens: $words", async ({ words, env }) => {
  await listen();
  const ended = await relayed(
    words.map((word) => word.replace("STATE", join(copy, "state"))),
    env,
  );
  expect(ended).toEqual({ exit: 0, out: asked({}) });
});

it("presents the token and the run of its own environment", async () => {
  await listen();
  const { out } = await relayed(["--stdio"], { HOLDFAST_TOKEN: "t", HOLDFAST_RUN: "r" });
  expect(out).toBe(asked({ token: "t", run: "r" }));
});

it.each([
  { what: "no daemon listens", words: ["--stdio"], listens: false },
  { what: "the daemon goes away before it has answered", words: ["--stdio"], answers: false },
  { what: "its token cannot be read", words: ["--stdio"], env: { HOLDFAST_TOKEN_FILE: "/nowhere" } },
  { what: "its words are others", words: ["--stdio", "-o", "json"] },
  { what: "it asks for help", words: ["--help"] },
])("leaves all else to the client: $what", async ({ words, listens = true, answers, env }) => {
  if (listens) await listen(answers);
  expect(await relayed(words, env)).toEqual({ exit: 0, out: "the client" });
});
