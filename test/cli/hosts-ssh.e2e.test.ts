/** A host over ssh: the system's own client, and a server on 127.0.0.1 that knows one key and runs what it is told. */
import { once } from "node:events";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENT, CACHE } from "../support/built.ts";
import { makeSshClient, makeSshServer, SSH, type SshClient } from "../support/ssh.ts";
import { type Commands, makeCommands } from "./support/commands.ts";

if (SSH === "") console.warn("There is no ssh here: hosts over ssh are not tested.");

let here: Commands;
let there: Commands;
let client: SshClient;
let server: ssh2.Server;
/** The commands that the client has asked for. */
const asked: string[] = [];

beforeAll(async () => {
  [here, there] = [makeCommands(), makeCommands()];
  mkdirSync(join(there.home, "bin"));
  symlinkSync(AGENT, join(there.home, "bin/agent"));
  client = makeSshClient(here.home);
  server = makeSshServer({
    publicKey: client.publicKey,
    env: {
      ...CACHE,
      PATH: `${join(there.home, "bin")}${delimiter}${process.env.PATH}`,
      HOLDFAST_HOME: there.home,
    },
    onCommand: (command) => asked.push(command),
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  await there.close();
  await here.close();
});

const over = async (user: string, ...words: string[]) => {
  const { port } = server.address() as AddressInfo;
  const path = `${client.bin}${delimiter}${process.env.PATH}`;
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
    writeFileSync(client.keyFile, `${ssh2.utils.generateKeyPairSync("ed25519").private}\n`);
    const { error } = await over("me", "list");
    expect(error).toMatchObject({ code: "UNAVAILABLE" });
    expect(error.message).toContain("Permission denied (publickey)");
    expect(error.suggestion).toContain("Try it by hand: ssh -T");
    const whole = await over("me", "doctor");
    expect([whole.exit, whole.error.code]).toEqual([12, "UNAVAILABLE"]);
  });
});
