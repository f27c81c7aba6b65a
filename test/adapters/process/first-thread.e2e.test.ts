/** A process whose first thread has ended, while another goes on, looks like a zombie. No end of its run leaves it behind. */
import { readFileSync } from "node:fs";
import { afterEach, it } from "vitest";
import { type Commands, makeCommands, until } from "../../cli/support/commands.ts";
import { killIfThere } from "../../support/kill-if-there.ts";
import { child, makeCanary } from "./support.ts";

const made: Commands[] = [];
afterEach(async () => {
  for (const commands of made.splice(0)) await commands.close();
});

const started = async (...flags: readonly string[]) => {
  const commands = makeCommands();
  made.push(commands);
  const canary = makeCanary(commands.home);
  const agent = ["--", child("ends-its-first-thread.sh"), canary.path];
  await commands.agent("spawn", "--name", "w", "--restart", "temporary", ...flags, ...agent);
  await until(async () => (await commands.text("output", "w")).stdout.includes("ready"));
  return { commands, canary };
};

it("the search by the marker finds it where launcher and agent were killed", async () => {
  const { commands, canary } = await started();
  const agent = (await commands.agent("info", "w")).data.pid as number;
  const launcher = Number(readFileSync(`/proc/${agent}/stat`, "latin1").split(") ")[1]!.split(" ")[1]);
  for (const one of [launcher, agent]) killIfThere(one);
  await until(() => !canary.isHeld());
});

it("it ends with its run where no daemon follows the one that was killed", async () => {
  const { commands, canary } = await started("--on-supervisor-death", "die");
  await commands.killDaemon();
  await until(() => !canary.isHeld());
});
