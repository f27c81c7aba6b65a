/** `agent attach` in a real pseudo-terminal: a conversation, a permission in place, a kill of the daemon, and leaving. */
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";
import { Screen } from "./support/screen.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/converses.mjs");

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  const env = ["--env", `CLAUDE_BINARY=${AGENT}`, "--env", `LEDGER=${join(commands.home, "ledger")}`];
  await commands.agent(
    ...["spawn", "claude", "good evening", "--name", "fixer", "--interactive", "--permission", "ask", ...env],
  );
  await commands.agent("spawn", "--name", "plain", "--", "sleep", "1000");
});
afterAll(() => commands.close());

const statusOf = async () => (await commands.agent("info", "fixer")).data.status;

describe("a conversation", () => {
  it("shows what was said, sends what is typed, and shows the answer above the prompt", async () => {
    const screen = new Screen(commands.home, "attach", "fixer");
    await screen.shows(/you {2}good evening[\s\S]*heard good evening[\s\S]*\n> ?$/m);
    screen.press("and now?\r");
    await screen.shows(/you {2}and now\?\s+heard and now\?/);
    screen.press("half a li");
    await commands.agent("send", "fixer", "from another terminal");
    await screen.shows(/heard from another terminal[\s\S]*\n> half a li$/m);
    screen.press("\x03");
    expect(await screen.ended).toBe(0);
    expect(screen.text()).toContain("It runs on. Back to it: agent attach fixer");
    expect(await statusOf()).toBe("running");
  });

  it("asks for a permission in the place of the prompt, and takes no other line for an answer", async () => {
    const screen = new Screen(commands.home, "attach", "fixer");
    await screen.shows(/\n> ?$/m);
    screen.press("permit\r");
    await screen.shows(/\? may it use Door\? open it[\s\S]*\nallow or deny\? ?$/m);
    screen.press("perhaps\r");
    await screen.shows(/Answer first: allow or deny\./);
    screen.press("a\r");
    await screen.shows(/the door: allow[\s\S]*\n> ?$/m);
    screen.press("\x04");
    expect(await screen.ended).toBe(0);
    expect(await statusOf()).toBe("running");
  });

  it("outlasts a kill of the daemon, and shows nothing twice", async () => {
    const screen = new Screen(commands.home, "attach", "fixer");
    await screen.shows(/\n> ?$/m);
    await commands.killDaemon();
    await screen.shows(/The daemon is gone; the agent runs on\. Waiting for it\./);
    screen.press("lost?\r");
    await screen.shows(/There is no daemon now; nothing was sent\./);
    await commands.agent("daemon", "start");
    await screen.shows(/The daemon is back\./);
    screen.press("here again\r");
    await screen.shows(/heard here again/);
    expect(screen.text().match(/heard here again/g)).toHaveLength(1);
    screen.press("\x03");
    expect(await screen.ended).toBe(0);
  });

  it("shows escapes of others harmlessly", async () => {
    const screen = new Screen(commands.home, "attach", "fixer");
    await screen.shows(/\n> ?$/m);
    await commands.agent("send", "fixer", "\x1b[2J\x1b]0;owned\x07\x1b[?1049hclear");
    await screen.shows(/heard clear/);
    expect(screen.isAlternate).toBe(false);
    expect(screen.text()).toContain("heard here again");
    screen.press("\x03");
    expect(await screen.ended).toBe(0);
  });

  it("ends with its worker", async () => {
    const screen = new Screen(commands.home, "attach", "fixer");
    await screen.shows(/\n> ?$/m);
    await commands.agent("kill", "fixer");
    await screen.shows(/fixer has ended\./);
    expect(await screen.ended).toBe(0);
  });
});

describe("it is refused in one sentence", () => {
  it("for a worker that takes no messages", async () => {
    const screen = new Screen(commands.home, "attach", "plain");
    expect(await screen.ended).toBe(6);
    expect(screen.text().replaceAll(/\s+/g, " ")).toContain(
      "Worker plain is not interactive: it takes no messages.",
    );
  });

  it("without a terminal", async () => {
    const { exit, stderr } = await commands.text("attach", "plain");
    expect(exit).toBe(3);
    expect(stderr).toContain("agent attach needs a terminal.");
    expect(stderr).toContain("agent ask ID TEXT");
  });
});
