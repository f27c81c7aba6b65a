/** Peers of federation and the audit trail as an operator sees them, and as they are after a kill of the daemon. */
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Commands, makeCommands } from "./support/commands.ts";

const HUB = "b.example";

let commands: Commands;
beforeAll(async () => {
  commands = makeCommands();
  await commands.agent("daemon", "start");
});
afterAll(() => commands.close());

/** Sends as a gateway does once it has checked signatures. */
const asGateway = async (command: string, data: object): Promise<string> => {
  const socket = connect(join(commands.home, "agent.sock"));
  socket.write(`${JSON.stringify({ version: 1, command, data })}\n`);
  const { value } = await createInterface(socket)[Symbol.asyncIterator]().next();
  socket.destroy();
  return value as string;
};

it("an operator adds a hub, sees what it does, and revokes it; a kill of the daemon changes nothing", async () => {
  const terms = ["--share", "seo:analyze", "--deny", "email", "--rate", "2"];
  const add = ["peer", "add", HUB, "http://b.example:9801", ...terms];
  expect(await commands.agent(...add)).toMatchObject({
    exit: 0,
    data: { tier: "anonymous", effect: "created" },
  });
  expect((await commands.agent(...add)).data.effect).toBe("noop");

  const met = {
    ...{ hub_id: HUB, url: "http://b.example:9801", public_key: "a".repeat(64), algorithm: "Ed25519" },
    ...{ capabilities: ["content:translate"], timestamp: 1_700_000_000, session: "1".repeat(32) },
  };
  expect(await asGateway("peer/meet", met)).toContain('"tier":"known"');
  const task = {
    ...{ hub_id: HUB, task_id: "2".repeat(32), direction: "in", fields: ["title"], stripped: ["email"] },
    ...{ digest: "d".repeat(64), bytes: 20 },
  };
  expect(await asGateway("peer/admit", { ...task, capability: "seo:analyze" })).toContain('"status":"ok"');
  const unshared = { ...task, task_id: "3".repeat(32), capability: "file:read" };
  expect(await asGateway("peer/admit", unshared)).toContain("CAPABILITY_DENIED");
  expect(await commands.agent("peer", "trust", HUB)).toMatchObject({
    exit: 7,
    error: { code: "PEER_UNTRUSTED" },
  });

  const { data: before } = await commands.agent("audit", "verify");
  expect(before).toMatchObject({ entries: 4 });
  await commands.killDaemon();
  await commands.agent("daemon", "start");
  expect((await commands.agent("peer", "show", HUB)).data).toMatchObject({
    ...{ tier: "known", rate_limit: 2, rate_remaining: 1, capabilities: ["content:translate"] },
    open: [{ task_id: task.task_id, direction: "in" }],
  });

  expect((await commands.agent("peer", "revoke", HUB, "--reason", "over")).data.effect).toBe("deleted");
  expect((await commands.agent("peer", "show", HUB)).error).toMatchObject({ code: "PEER_NOT_FOUND" });
  const { stdout } = await commands.agent("audit", "list");
  for (const said of ["peer.add", "peer.handshake", "denied", "email", "peer.revoke"])
    expect(stdout).toContain(said);
  const head = before.hash as string;
  expect((await commands.agent("audit", "verify", "--head", head)).data).toMatchObject({ entries: 5 });
  expect(await commands.agent("audit", "verify", "--head", "f".repeat(64))).toMatchObject({
    exit: 6,
    error: { code: "INVALID_STATE" },
  });
});
