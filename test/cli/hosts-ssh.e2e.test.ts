/** A host over ssh: the system's own client, and a server on 127.0.0.1 that knows one key and runs what it is told. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT, CACHE } from "../support/built.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

const SSH = spawnSync("sh", ["-c", "command -v ssh"], { encoding: "utf8" }).stdout.trim();
if (SSH === "") console.warn("There is no ssh here: hosts over ssh are not tested.");

let here: Commands;
let there: Commands;
let server: ssh2.Server;
/** The commands that the client has asked for. */
const asked: string[] = [];

/** Runs a command as sshd does: by a shell, in an environment of its own. */
const makeServer = (key: string): ssh2.Server =>
  new ssh2.Server({ hostKeys: [ssh2.utils.generateKeyPairSync("ed25519").private] }, (client) => {
    const known = ssh2.utils.parseKey(key) as ssh2.ParsedKey;
    client.on("authentication", (context) => {
      const isKnown = context.method === "publickey" && context.key.data.equals(known.getPublicSSH());
      if (isKnown) context.accept();
      else context.reject(["publickey"]);
    });
    client.on("error", () => undefined);
    client.on("session", (accept) =>
      accept().on("exec", (take, _refuse, { command }) => {
        asked.push(command);
        const channel = take();
        const child = spawn("sh", ["-c", command], {
          env: {
            ...CACHE,
            PATH: `${join(there.home, "bin")}${delimiter}${process.env.PATH}`,
            HOLDFAST_HOME: there.home,
          },
        });
        channel.pipe(child.stdin);
        child.stdout.pipe(channel, { end: false });
        child.stderr.pipe(channel.stderr, { end: false });
        child.stdin.on("error", () => undefined);
        child.on("close", (code) => {
          channel.exit(code ?? 1);
          channel.end();
        });
      }),
    );
  });

beforeAll(async () => {
  [here, there] = [makeCommands(), makeCommands()];
  mkdirSync(join(there.home, "bin"));
  symlinkSync(AGENT, join(there.home, "bin/agent"));
  const key = ssh2.utils.generateKeyPairSync("ed25519");
  server = makeServer(key.public);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  // The system's client, with the configuration of this test and none of this machine's.
  const bin = join(here.home, "bin");
  mkdirSync(bin);
  writeFileSync(join(here.home, "key"), `${key.private}\n`, { mode: 0o600 });
  writeFileSync(
    join(here.home, "ssh_config"),
    [
      `IdentityFile ${join(here.home, "key")}`,
      "IdentitiesOnly yes",
      "IdentityAgent none",
      "StrictHostKeyChecking no",
      "UserKnownHostsFile /dev/null",
      "LogLevel ERROR",
      "",
    ].join("\n"),
  );
  writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${SSH} -F ${join(here.home, "ssh_config")} "$@"\n`, {
    mode: 0o755,
  });
});
afterAll(async () => {
  server.close();
  await there.close();
  await here.close();
});

const over = async (user: string, ...words: string[]) => {
  const { port } = server.address() as AddressInfo;
  const path = `${join(here.home, "bin")}${delimiter}${process.env.PATH}`;
  const ran = await here.start(["--host", `ssh://${user}@127.0.0.1:${port}`, "-o", "json", ...words], {
    PATH: path,
  }).ended;
  return { ...ran, ...JSON.parse(ran.stdout) };
};

describe.skipIf(SSH === "")("a host over ssh", () => {
  it("is listed, watched and commanded", async () => {
    await there.agent("spawn", "--name", "far", "--", "sleep", "1000");
    expect((await over("me", "list")).data).toMatchObject([{ name: "far", state: "running" }]);
    expect((await over("me", "kill", "far")).exit).toBe(0);
    const { stdout } = await there.start(["logs", "far", "-o", "json"]).ended;
    expect(stdout).toContain("worker_cancel_requested");
    expect(asked).toContain("agent relay --stdio");
  });

  it("gets the state directory as one word of its shell", async () => {
    const { error } = await over("me", "--state-dir", "/no such; place", "list");
    expect(error.code).toBe("SUPERVISOR_DOWN");
    expect(asked.at(-1)).toBe("agent relay --stdio --state-dir '/no such; place'");
  });

  it("runs a command that needs a machine there, through its shell", async () => {
    const { exit, data } = await over(
      "me",
      "spawn",
      "--name",
      "new",
      "--wait",
      "--",
      "sh",
      "-c",
      'echo "it\'s $1"',
      "sh",
      "a; b",
    );
    expect([exit, data.status]).toEqual([0, "completed"]);
    expect((await there.text("output", "new")).stdout).toBe("it's a; b\n");
  });

  it("that refuses the key is told in ssh's words", async () => {
    writeFileSync(join(here.home, "key"), `${ssh2.utils.generateKeyPairSync("ed25519").private}\n`);
    const { error } = await over("me", "list");
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    expect(error.message).toContain("Permission denied (publickey)");
    expect(error.suggestion).toContain("Try it by hand: ssh -T");
    const whole = await over("me", "doctor");
    expect([whole.exit, whole.error.code]).toEqual([12, "UNAVAILABLE"]);
  });
});
