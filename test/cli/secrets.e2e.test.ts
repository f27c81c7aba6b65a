/**
 * Secrets by reference, from outside: what --dry-run shows is what the child gets, a file's text is nowhere in the state directory, and
 * a reference that names nothing any more parks its worker until it does.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Answer, type Commands, makeCommands, until } from "./support/commands.ts";

const CANARY = "canary-3c9e71ab52d0";
/** A variable of the client that is named is kept with the launch spec, 0600 (decision 0004). */
const OF_CLIENT = "canary-of-the-client-81";
let commands: Commands;
let dir: string;
beforeAll(() => {
  commands = makeCommands();
  dir = mkdtempSync(join(tmpdir(), "holdfast-secrets-"));
});
afterAll(async () => {
  await commands.close();
  rmSync(dir, { recursive: true, force: true });
});

const secretFile = (name: string): string => {
  const file = join(dir, name);
  writeFileSync(file, `${CANARY}\n`);
  return file;
};
/** With variables of the client's own. */
const withEnv = async (env: Record<string, string>, ...argv: readonly string[]): Promise<Answer["data"]> => {
  const { stdout } = await commands.start(["-o", "json", ...argv], env).ended;
  return JSON.parse(stdout.trimEnd().split("\n").at(-1)!).data;
};
/** Every file below the state directory that has the canary, with the name of nothing left out. */
const stored = (): readonly string[] =>
  (readdirSync(commands.home, { recursive: true }) as string[]).filter((name) => {
    const path = join(commands.home, name);
    return (
      statSync(path, { throwIfNoEntry: false })?.isFile() === true && readFileSync(path).includes(CANARY)
    );
  });

describe("--dry-run", () => {
  it("shows every variable that the child gets, secrets masked, and stores nothing", async () => {
    const flags = [
      ...["--env", `API_KEY=@file:${secretFile("shown")}`, "--env", "FROM_ENV=@env:MY_SECRET"],
      ...["--env", "DB_PASSWORD=canary-plain-9f21", "--env", "PLAIN=seen", "--inherit-env", "MINE"],
    ];
    const env = {
      MY_SECRET: OF_CLIENT,
      MINE: "mine",
      NOT_ASKED_FOR: "never",
      HOME: dir,
      LANG: "C",
      OPENAI_API_KEY: OF_CLIENT,
    };
    const dry = (await withEnv(env, "spawn", "--dry-run", ...flags, "--", "env")) as {
      plan: { env: Record<string, string> };
    };
    const shown = dry.plan.env;
    expect(shown).toMatchObject({
      API_KEY: "***",
      FROM_ENV: "***",
      DB_PASSWORD: "***",
      PLAIN: "seen",
      MINE: "mine",
      HOME: dir,
    });
    const { stdout } = await commands.start(["-o", "text", "spawn", "--dry-run", ...flags, "--", "env"], env)
      .ended;
    expect(stdout).toContain("API_KEY=***");
    expect(stdout).not.toContain("canary-");
    expect(stored()).toEqual([]);

    const names = join(dir, "names");
    await withEnv(
      env,
      "spawn",
      "--wait",
      ...flags,
      "--",
      "sh",
      "-c",
      `env -0 | tr '\\n\\0' ' \\n' | sed 's/=.*//' >${names}`,
    );
    const got = readFileSync(names, "utf8").trim().split("\n");
    // The marker is the spawner's; the rest is what a shell sets for itself.
    const OWN = ["HOLDFAST_RUN", "PWD", "OLDPWD", "SHLVL", "_"];
    expect(got.filter((name) => !OWN.includes(name)).sort()).toEqual(Object.keys(shown).sort());
    expect(got).toContain("HOLDFAST_RUN");
  });
});

describe("a secret of a file", () => {
  it("is in no file of the state directory while its agent runs, nor after its end, and is told to nobody", async () => {
    const file = secretFile("kept");
    const reached = join(dir, "reached");
    await commands.agent(
      "spawn",
      "--name",
      "quiet",
      "--env",
      `TOKEN=@file:${file}`,
      "--",
      "sh",
      "-c",
      `[ "$TOKEN" = ${CANARY.slice(0, 6)}"${CANARY.slice(6)}" ] && echo yes >${reached}; sleep 600`,
    );
    while (!(await commands.agent("info", "quiet")).data.pid);
    expect(stored()).toEqual([]);
    await commands.agent("kill", "quiet");
    expect(readFileSync(reached, "utf8")).toBe("yes\n");
    expect(stored()).toEqual([]);
    for (const argv of [
      ["info", "quiet"],
      ["why", "quiet"],
      ["logs", "quiet", "-v"],
      ["db", "export"],
    ])
      expect((await commands.agent(...argv)).stdout).not.toContain(CANARY);
    expect((await commands.agent("info", "quiet")).data).toMatchObject({
      spec: { env: { TOKEN: `@file:${file}` } },
    });
  });

  it("that is gone at a start parks the worker, and it goes on by name once it is back", async () => {
    const file = secretFile("goes");
    await commands.agent(
      "spawn",
      "--name",
      "parked",
      "--restart",
      "permanent",
      "--env",
      `TOKEN=@file:${file}`,
      "--",
      "sleep",
      "600",
    );
    rmSync(file);
    await commands.agent("restart", "parked");
    const waited = await commands.agent("wait", "parked");
    expect({ exit: waited.exit, code: waited.error?.code }).toEqual({
      exit: 4,
      code: "SECRET_UNAVAILABLE",
    });
    const { data } = await commands.agent("info", "parked");
    expect(data).toMatchObject({
      state: "parked",
      reason: "secret_unavailable",
      error: { code: "SECRET_UNAVAILABLE" },
    });
    expect((data.error as { message: string }).message).toBe(
      `TOKEN refers to the file ${file}, which cannot be read.`,
    );
    expect((await commands.text("why", "parked")).stdout).toContain("secret unavailable");
    secretFile("goes");
    await commands.agent("restart", "parked");
    const state = async () => (await commands.agent("info", "parked")).data.state as string;
    await until(async () => /starting|running/.test(await state()));
    await commands.agent("kill", "parked");
  });

  it("that is changed stays masked for the agent that has the one before, under the next daemon too", async () => {
    const file = secretFile("rotated");
    const go = join(dir, "go");
    await commands.agent(
      "spawn",
      "--name",
      "rotated",
      "--env",
      `TOKEN=@file:${file}`,
      "--",
      "sh",
      "-c",
      `echo ready; while ! [ -e ${go} ]; do sleep 0.05; done; echo "it is $TOKEN"`,
    );
    while (!(await commands.agent("logs", "rotated")).stdout.includes("ready"));
    await commands.agent("daemon", "stop", "--keep-agents");
    writeFileSync(file, "another-3c9e71ab52d0\n");
    await commands.agent("daemon", "start");
    while ((await commands.agent("info", "rotated")).data?.state !== "running");
    writeFileSync(go, "");
    await commands.agent("wait", "rotated");
    const { stdout } = await commands.agent("logs", "rotated");
    expect(stdout).toContain("it is ***");
    expect(stdout).not.toContain(CANARY);
  });

  it("that is changed is the new one at the next start", async () => {
    const file = secretFile("turned");
    const seen = join(dir, "seen");
    await commands.agent(
      "spawn",
      "--name",
      "turned",
      "--wait",
      "--env",
      `TOKEN=@file:${file}`,
      "--",
      "sh",
      "-c",
      `echo "$TOKEN" >>${seen}`,
    );
    writeFileSync(file, "another\n");
    await commands.agent("restart", "turned");
    await commands.agent("wait", "turned");
    expect(readFileSync(seen, "utf8")).toBe(`${CANARY}\nanother\n`);
  });
});

it.each([
  ["@env:NOT_THERE", "NOT_THERE"],
  ["@file:/nonexistent/key", "/nonexistent/key"],
])("a reference %s that names nothing is refused before anything starts", async (reference, named) => {
  const { exit, error } = await commands.agent("spawn", "--env", `TOKEN=${reference}`, "--", "true");
  expect({ exit, code: error?.code }).toEqual({ exit: 4, code: "SECRET_UNAVAILABLE" });
  expect(error!.message).toContain(named);
});
