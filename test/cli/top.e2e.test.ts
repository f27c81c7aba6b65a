/** `agent top` in a real pseudo-terminal, its bytes read by a terminal emulator. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";
import { Screen } from "./support/screen.ts";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("spawn", "--name", "talker", "--", "sh", "-c", "echo hello from here; sleep 1000");
  await commands.agent("spawn", "--name", "victim", "--", "sleep", "1000");
});
afterAll(() => commands.close());

describe("agent top", () => {
  it("shows the workers live, acts on them by keys, and gives the screen back", async () => {
    const screen = new Screen(commands.home, "top");
    await screen.shows(/Nothing waits for you · 2 of 2 workers run/);
    await screen.shows(/talker +running/);
    screen.press("/vict\r");
    await screen.shows(/▸ victim/);
    screen.press("k");
    await screen.shows(/Kill victim\? y: yes/);
    screen.press("y");
    await screen.shows(/agent kill victim/);
    expect((await commands.agent("info", "victim")).data.status).toBe("cancelled");
    screen.press("/\x7f\x7f\x7f\x7f\r");
    await screen.shows(/▸ talker/);
    screen.press("l");
    await screen.shows(/hello from here/);
    screen.press("q");
    await screen.shows(/NAME +STATE/);
    await commands.agent("spawn", "--name", "late", "--", "sleep", "1000");
    await screen.shows(/late +running/);
    screen.press("q");
    expect(await screen.ended).toBe(0);
    expect(screen.isAlternate).toBe(false);
  });

  it("waits for the next daemon, and goes on with it", async () => {
    const screen = new Screen(commands.home, "top");
    await screen.shows(/talker +running/);
    await commands.killDaemon();
    await screen.shows(/Waiting for the next\./);
    await commands.agent("daemon", "start");
    await screen.shows(/a answer k kill/);
    await screen.shows(/talker +running/);
    screen.press("\x03");
    expect(await screen.ended).toBe(0);
    expect(screen.isAlternate).toBe(false);
  });

  it("writes nothing while nothing happens", async () => {
    const screen = new Screen(commands.home, "top");
    await screen.shows(/ 0% cpu/);
    await screen.shows(/talker +running/);
    // The share of a processor is known from the second sample on.
    const counts: number[] = [];
    while (counts.length < 2 || counts.at(-1) !== counts.at(-2)) {
      counts.push(screen.bytes());
      await commands.agent("daemon", "status");
      await commands.agent("daemon", "status");
    }
    screen.press("q");
    expect(await screen.ended).toBe(0);
  });

  it("without a terminal names the command for scripts", async () => {
    const { exit, stderr } = await commands.text("top");
    expect(exit).toBe(3);
    expect(stderr).toContain("agent top needs a terminal.");
    expect(stderr).toContain("agent list --wide -o json");
  });
});
