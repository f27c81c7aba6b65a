/** Two hubs whose daemons, gateways and commands are killed at each step of a task; and a third one, to which no trust is handed on. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands, type Running, until } from "../cli/support/commands.ts";
import { filesOf, type HubUnderTest, killRunning, serveHub, trailsOf } from "../cli/support/hubs.ts";
import { AGENT } from "../support/built.ts";
import { newId } from "../weblisk/support/agent.ts";

const NAMES = { a: "a.example", b: "b.example", c: "c.example" } as const;
const CAPABILITY = "content:translate";
type HubName = keyof typeof NAMES;

/**
 * It notes that it has begun, waits for the file that its prompt names, notes that it ends, and answers. With `hand on` it tries to
 * give the task to the third hub and to an agent elsewhere, and answers with what that came to.
 */
const PROGRAM = [
  "sh",
  "-c",
  `read -r line; echo run >>runs
case "$line" in
  /*) while ! [ -e "$line" ]; do sleep 0.02; done ;;
  hand*)
    codes=$("$0" "$1" -o json peer task ${NAMES.c} ${CAPABILITY} x; "$0" "$1" -o json spawn weblisk x -- http://127.0.0.1:9 clerk)
    printf '{"codes":"%s"}' "$(printf %s "$codes" | grep -o '"code":"[A-Z_]*"' | tr -d '"\\n')"; exit ;;
esac
echo end >>ends
echo '{"title":"bonjour","deep":[{"E-Mail":"secret-of-b"}]}'`,
  process.execPath,
  AGENT,
];

let root: string;
const all = {} as Record<HubName, Commands>;
const hubs = {} as Record<HubName, HubUnderTest>;

const AGENTS = (): readonly string[] => [
  ...["clerk=command", "--root", root, "--offer", CAPABILITY, "--permission", "allow"],
  ...["--", ...PROGRAM],
];

const serve = async (name: HubName): Promise<void> => {
  const port = hubs[name] === undefined ? "0" : new URL(hubs[name].url).port;
  hubs[name] = await serveHub(all[name], NAMES[name], port, name === "a" ? [] : AGENTS());
};

const countIn = (file: string): number => {
  const path = join(root, file);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n").length : 0;
};

/** Kills it, and starts it again. */
const restarted = {
  daemon: async (name: HubName): Promise<void> => {
    await all[name].killDaemon();
    await all[name].agent("daemon", "start");
  },
  gateway: async (name: HubName): Promise<void> => {
    await killRunning(hubs[name].server);
    await serve(name);
  },
};
type Part = keyof typeof restarted;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-fire-")));
  const names = Object.keys(NAMES) as HubName[];
  for (const name of names) all[name] = makeCommands();
  await Promise.all(names.map((name) => all[name].agent("daemon", "start")));
  await Promise.all(names.map(serve));
  const { a, b, c } = hubs;
  const share = ["--share", CAPABILITY];
  await Promise.all([
    a.commands.agent("peer", "add", NAMES.b, b.url, "--deny", "email"),
    b.commands.agent("peer", "add", NAMES.a, a.url, ...share, "--deny", "email"),
    c.commands.agent("peer", "add", NAMES.b, b.url, ...share),
  ]);
  await b.commands.agent("peer", "add", NAMES.c, c.url);
  await Promise.all([
    a.commands.agent("peer", "connect", NAMES.b),
    b.commands.agent("peer", "connect", NAMES.c),
  ]);
});
afterAll(async () => {
  await Promise.all(Object.values(hubs).map(({ server }) => killRunning(server)));
  await Promise.all(Object.values(all).map((commands) => commands.close()));
  rmSync(root, { recursive: true, force: true });
});

const asking = (id: string, prompt: string): Running =>
  all.a.start([
    ...["-o", "json", "peer", "task", NAMES.b, CAPABILITY, prompt, "--id", id],
    ...["--inputs", '{"deep":[{"E MAIL":"secret-of-a"}]}'],
  ]);

/** A command that was cut off is given again. */
const TRIES_MAX = 5;
const answerOf = async (first: Running, again: () => Running): Promise<string> => {
  let ran = await first.ended;
  for (let tries = 1; ran.exit !== 0 && tries < TRIES_MAX; tries += 1) ran = await again().ended;
  expect(ran).toMatchObject({ exit: 0 });
  return ran.stdout;
};

/** Each row: what is killed, at each of the steps of one task. */
const ROWS: readonly (readonly [Part, HubName])[] = [
  ["daemon", "a"],
  ["gateway", "a"],
  ["daemon", "b"],
  ["gateway", "b"],
];
const done: string[] = [];

describe("one result, and trails that agree", () => {
  it.each(ROWS)(
    "the %s of hub %s is killed as the task begins, as it ends, and once it is over",
    async (part, name) => {
      const [id, gate] = [newId(), join(root, `gate-${part}-${name}`)];
      const [runs, ends] = [countIn("runs"), countIn("ends")];
      const ask = () => asking(id, gate);
      const first = ask();
      await until(() => countIn("runs") === runs + 1);
      await restarted[part](name);
      const killing = until(() => countIn("ends") === ends + 1).then(() => restarted[part](name));
      writeFileSync(gate, "");
      const [answer] = await Promise.all([answerOf(first, ask), killing]);
      await restarted[part](name);
      const again = await answerOf(ask(), ask);
      const outputIn = (text: string) => JSON.parse(text.trim().split("\n").at(-1)!).data.output;
      expect(outputIn(answer)).toEqual({ title: "bonjour", deep: [{}] });
      expect(outputIn(again)).toEqual(outputIn(answer));
      expect(countIn("runs")).toBe(runs + 1);
      done.push(id);
    },
  );

  it("both trails are whole and say the same, and no file of one has a denied field of the other", async () => {
    const [ours, theirs] = await Promise.all([trailsOf(hubs.a), trailsOf(hubs.b)]);
    expect(done).toHaveLength(ROWS.length);
    for (const id of done) {
      expect(ours.get(id)).toMatchObject([
        { action: "task.request" },
        { action: "task.result", status: "ok" },
      ]);
      expect(theirs.get(id)).toEqual(ours.get(id));
    }
    for (const one of [all.a, all.b]) expect((await one.agent("audit", "verify")).exit).toBe(0);
    for (const text of filesOf(hubs.b)) expect(text).not.toContain("secret-of-a");
    for (const text of filesOf(hubs.a)) expect(text).not.toContain("secret-of-b");
  });
});

it("trust is not handed on: not to a hub that the other one trusts, and not by an agent that works for a peer", async () => {
  const { a, c } = hubs;
  await a.commands.agent("peer", "add", NAMES.c, c.url);
  expect(await a.commands.agent("peer", "connect", NAMES.c)).toMatchObject({
    error: { code: "PEER_UNTRUSTED" },
  });
  const { data } = await a.commands.agent("peer", "task", NAMES.b, CAPABILITY, "hand on");
  expect(data.output).toEqual({ codes: "code:PEER_UNTRUSTEDcode:PEER_UNTRUSTED" });
  expect((await trailsOf(c)).size).toBe(0);
});
