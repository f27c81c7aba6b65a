/** A holdfast.yaml against a real daemon and real processes. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readStat } from "../../src/adapters/process/identity.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const FILE = `version: 1
name: shop
tree:
  strategy: rest_for_one
  children:
    - name: store
      argv: [sh, -c, "echo listening; exec sleep 600"]
      ready: { log: ^listening }
    - name: crew
      children:
        - { name: packer, argv: [sleep, 601], depends_on: [crew/sender] }
        - { name: sender, argv: [sleep, 602] }
`;

let commands: Commands;
let directory: string;
let file: string;
beforeAll(() => {
  commands = makeCommands();
  directory = mkdtempSync(join(tmpdir(), "holdfast-up-"));
  file = join(directory, "holdfast.yaml");
});
afterAll(async () => {
  await commands.close();
  rmSync(directory, { recursive: true });
});

const up = (text: string, ...flags: string[]) => {
  writeFileSync(file, text);
  return commands.agent("up", "-f", file, ...flags);
};
const changesOf = (data: Record<string, unknown>) =>
  Object.fromEntries(
    (data.changes as { path: string; action: string }[])
      .filter(({ action }) => action !== "unchanged")
      .map(({ path, action }) => [path, action]),
  );
const processes = async (): Promise<Record<string, unknown>> => {
  const { data } = await commands.agent("list");
  return Object.fromEntries(
    (data as unknown as { name: string; pid: number }[]).map(({ name, pid }) => [name, pid]),
  );
};

describe("agent up", () => {
  it("takes a file as agent init writes it", async () => {
    const path = join(directory, "written.yaml");
    const init = await commands.agent("init", "-f", path, "--workers", "2", "--", "sh", "-c", 'echo "a: b"');
    expect(init).toMatchObject({ exit: 0, data: { effect: "created", kind: "command" } });
    const planned = await commands.agent("up", "-f", path, "--dry-run");
    expect(planned.exit).toBe(0);
    expect(Object.values(changesOf(planned.data))).toEqual(["create", "create", "create"]);
  });

  it("brings a tree up, restarts the one worker whose line has changed, and takes all of it down", async () => {
    const first = await up(FILE);
    expect(first).toMatchObject({ exit: 0, data: { tree: "shop", state: "running" } });
    const before = await processes();
    expect(Object.keys(before).sort()).toEqual(["crew/packer", "crew/sender", "store"]);
    expect((await commands.agent("info", "crew")).error).toMatchObject({
      code: "WORKER_NOT_FOUND",
      message: '"crew" is a supervisor, not a worker.',
    });

    const changed = FILE.replace("sleep, 602", "sleep, 603");
    writeFileSync(file, changed);
    const planned = await commands.agent("diff", "-f", file);
    expect(changesOf(planned.data)).toEqual({ "crew/sender": "restart" });
    expect(await processes()).toEqual(before);

    const second = await up(changed);
    expect(second.exit).toBe(0);
    expect(changesOf(second.data)).toEqual({ "crew/sender": "restart" });
    const after = await processes();
    expect(after["crew/sender"]).not.toBe(before["crew/sender"]);
    expect({ ...after, "crew/sender": 0 }).toEqual({ ...before, "crew/sender": 0 });

    const typo = await up(changed.replace("strategy", "stratgy"));
    expect(typo.exit).toBe(3);
    expect(typo.error?.message).toContain(
      ':4:3: the top supervisor has no "stratgy"; did you mean strategy?',
    );
    expect(await processes()).toEqual(after);

    expect((await commands.agent("down", "-f", file)).exit).toBe(0);
    expect(await processes()).toEqual({});
  });

  it("waits for a take-down of the same tree, and brings it up after that", async () => {
    const end = join(directory, "may-end");
    // Its first life alone is deaf: a second one may begin before this test sees the end of the take-down.
    const deaf = `trap '' TERM; until [ -e ${end} ]; do sleep 0.05; done`;
    const script = `if mkdir ${join(directory, "lived")} 2>/dev/null; then ${deaf}; else exec sleep 600; fi`;
    const child = { name: "slow", argv: ["sh", "-c", script], grace: "60s", restart: "transient" };
    const text = JSON.stringify({ version: 1, name: "leaving", tree: { children: [child] } });
    expect((await up(text)).exit).toBe(0);
    const stateOf = async () => (await commands.agent("info", "slow")).data?.state;
    await until(async () => (await stateOf()) === "running");
    const down = commands.start(["down", "-f", file]);
    await until(async () => (await stateOf()) === "stopping");
    const anew = commands.start(["-o", "json", "up", "-f", file, "--detach"]);
    const inFlight = async () => (await commands.agent("daemon", "status")).data.requests_in_flight as number;
    // This question is one of them.
    await until(async () => anew.child.exitCode !== null || (await inFlight()) === 3);
    expect(anew.child.exitCode).toBeNull();
    writeFileSync(end, "");
    expect((await down.ended).exit).toBe(0);
    const { exit, stdout } = await anew.ended;
    expect([exit, JSON.parse(stdout).data]).toMatchObject([0, { tree: "leaving", effect: "created" }]);
    await until(async () => (await stateOf()) === "running");
    expect((await commands.agent("down", "-f", file)).exit).toBe(0);
  });

  it("gives each worker the variables that it names, and not those that another one names", async () => {
    const show =
      'argv: [sh, -c, "echo \\"$KEY\\" \\"$${SHOP_KEY-none}\\"; exec sleep 600"], ready: { first_event: true }';
    writeFileSync(
      file,
      `version: 1
name: shop
tree:
  children:
    - { name: a, env: { KEY: "@env:SHOP_KEY" }, ${show} }
    - { name: b, inherit_env: [SHOP_KEY], ${show} }
    - { name: c, ${show} }
`,
    );
    const { exit } = await commands.start(["up", "-f", file], { SHOP_KEY: "open-sesame" }).ended;
    expect(exit).toBe(0);
    const heard = async (name: string) => (await commands.text("logs", name, "--raw")).stdout.trim();
    expect([await heard("a"), await heard("b"), await heard("c")]).toEqual([
      "open-sesame none",
      "open-sesame",
      "none",
    ]);
    await commands.agent("down", "-f", file);
  });

  it("says which worker does not come up, and why", async () => {
    const { exit, error, data } = await up(
      FILE.replace("echo listening; exec sleep 600", "exit 3").replace("tree:", "tree:\n  intensity: 0/60s"),
    );
    expect(exit).not.toBe(0);
    expect(`${error?.message}`).toContain("store");
    expect(data ?? null).toBeNull();
    await commands.agent("down", "-f", file);
  });

  it("says so too where others that were well were stopped with it", async () => {
    const { error } = await up(`version: 1
name: pair
tree:
  intensity: 0/60s
  children:
    - { name: well, argv: [sleep, "600"] , restart: permanent }
    - { name: ill, argv: [sh, -c, "exit 3"], restart: permanent, ready: { log: never } }
`);
    expect(error?.message).toBe("pair is not whole: ill failed: `sh` exited with code 3.");
    await commands.agent("down", "-f", file);
  });
});

describe("agent down", () => {
  it("returns where everything is killed meanwhile, and leaves neither a process nor a tree", async () => {
    const slow = `version: 1
name: slow
tree:
  children:
    - { name: first, argv: [sleep, "600"] }
    - { name: last, argv: [sh, -c, "trap '' TERM; echo deaf; while :; do sleep 1; done"], shutdown: 10m, ready: { log: deaf } }
`;
    expect((await up(slow)).exit).toBe(0);
    const pids = Object.values(await processes());
    const down = commands.start(["down", "slow"]);
    await until(async () => (await commands.agent("info", "last")).data.state === "stopping");
    expect((await commands.agent("kill", "--all", "--grace", "1s")).exit).toBe(0);
    expect((await down.ended).exit).toBe(0);
    expect((await commands.agent("down", "slow")).error).toMatchObject({ code: "WORKER_NOT_FOUND" });
    expect(pids.filter((pid) => readStat(Number(pid)) !== undefined)).toEqual([]);
  });
});

describe("agent tree -f", () => {
  it.each(["json", "text"])("prints the tree again when it has changed, until Ctrl-C: %s", async (mode) => {
    await commands.agent("daemon", "start");
    const following = commands.start(["tree", "-f", "-o", mode]);
    await until(() => following.out().includes("root"));
    const name = `seen-${mode}`;
    expect((await commands.agent("spawn", "--name", name, "--", "sleep", "600")).exit).toBe(0);
    await until(() => following.out().includes(name) && following.out().includes("running"));
    await commands.agent("kill", name, "--grace", "1s");
    following.child.kill("SIGINT");
    const { exit, stdout, stderr } = await following.ended;
    expect(exit).toBe(130);
    if (mode === "text") {
      expect(stderr).toContain("The workers keep running.");
      return;
    }
    const lines = stdout.trimEnd().split("\n");
    expect(JSON.parse(lines.at(-1) as string)).toMatchObject({ ok: false, error: { code: "CANCELLED" } });
    for (const line of lines.slice(0, -1))
      expect(JSON.parse(line)).toMatchObject({ id: "root", type: "supervisor" });
  });
});
