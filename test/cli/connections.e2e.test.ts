/** A client that leaks connections takes all places of a daemon, and locks nobody out. */
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const CONNECTIONS_MAX = 2;

let commands: Commands;
const leaked: Socket[] = [];
beforeEach(() => {
  commands = makeCommands();
});
afterEach(async () => {
  for (const socket of leaked.splice(0)) socket.destroy();
  await commands.close();
});

const leak = (): Promise<unknown> =>
  new Promise((resolve) => {
    const socket = connect(join(commands.home, "agent.sock"), () => resolve(undefined));
    socket.on("error", () => undefined);
    leaked.push(socket);
  });

it("a command is told that all places are taken, and then has the place of an idle one", async () => {
  const limit = { HOLDFAST_MAX_CONNECTIONS: String(CONNECTIONS_MAX) };
  expect((await commands.start(["daemon", "start"], limit).ended).exit).toBe(0);
  while (leaked.length < CONNECTIONS_MAX) await leak();
  await until(async () => {
    const { exit, error } = await commands.agent("list");
    if (exit !== 0) expect({ exit, error }).toMatchObject({ exit: 11, error: { code: "QUEUE_FULL" } });
    return exit === 0;
  });
});
