/** `agent weblisk serve --admin`: a listener of the loopback, whose token is in a file for its owner alone. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { send } from "../../weblisk/support/agent.ts";
import { makeCommands, until } from "../support/commands.ts";

it("the operator's paths are at their own address alone, and tell what the commands do", async () => {
  const commands = makeCommands();
  const running = commands.start([
    "weblisk",
    "serve",
    "echo=command",
    "--listen",
    "0",
    "--admin",
    "0",
    "--",
    "cat",
  ]);
  try {
    await until(() => running.out().split("\n").length === 3);
    const [base = "", admin = ""] = running.out().split("\n");
    const file = join(commands.home, "weblisk/admin.token");
    expect(statSync(file).mode & 0o077).toBe(0);
    const headers = { authorization: `Bearer ${readFileSync(file, "utf8").trim()}` };
    await commands.agent("peer", "add", "b.example", "http://127.0.0.1:9");
    expect(await send(admin, "GET", "/v1/admin/overview", undefined, headers)).toMatchObject({
      status: 200,
      body: { served: [{ name: "echo" }], agents: 0, peers: 1 },
    });
    expect(await send(admin, "GET", "/v1/admin/audit", undefined, headers)).toMatchObject({
      status: 200,
      body: { entries: [{ action: "peer.add", target: "b.example" }] },
    });
    expect((await send(base, "GET", "/v1/admin/overview", undefined, headers)).status).toBe(404);
  } finally {
    running.child.kill("SIGKILL");
    await running.ended;
    await commands.close();
  }
});

it.each([
  ["0.0.0.0:9", "--admin takes an address of the loopback alone, as 127.0.0.1:9"],
  ["somewhere", "--admin takes [HOST:]PORT with an IP address"],
])("--admin %s is refused", async (place, sentence) => {
  const commands = makeCommands();
  try {
    const { exit, error } = await commands.agent(
      "weblisk",
      "serve",
      "echo=command",
      "--admin",
      place,
      "--",
      "cat",
    );
    expect(exit).toBe(3);
    expect(JSON.stringify(error)).toContain(sentence);
  } finally {
    await commands.close();
  }
});
