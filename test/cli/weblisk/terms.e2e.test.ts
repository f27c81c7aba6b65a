/** Terms of a peer in config.yaml: they hold when the peer is added, and from the next daemon on when the file changes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Commands, makeCommands } from "../support/commands.ts";

let commands: Commands;
beforeEach(() => {
  commands = makeCommands();
});
afterEach(() => commands.close());

const HUB = "partner.example";
const write = (rate: string): void =>
  writeFileSync(
    join(commands.home, "config.yaml"),
    `federation: { peers: { ${HUB}: { shared_capabilities: ["legal:review"], rate_limit: ${rate}, data_boundary: { deny_fields: [email], retention: 24h } } } }`,
  );

it("the file's terms hold, and no flag beside them", async () => {
  write("7/hour");
  await commands.agent("daemon", "start");
  const add = ["peer", "add", HUB, "http://127.0.0.1:9"];
  expect(await commands.agent(...add, "--rate", "8")).toMatchObject({
    exit: 3,
    error: { code: "INVALID_REQUEST", suggestion: expect.stringContaining(`federation.peers.${HUB}`) },
  });
  expect(await commands.agent(...add)).toMatchObject({ exit: 0 });
  const terms = {
    source: "configuration",
    tier_max: "verified",
    shared_capabilities: ["legal:review"],
    data_boundary: { allow_fields: [], deny_fields: ["email"], max_payload_size: 65_536, retention: "24h" },
  };
  expect((await commands.agent("peer", "show", HUB)).data).toMatchObject({ ...terms, rate_limit: 7 });
  expect((await commands.text("peer", "show", HUB)).stdout).toContain(`config.yaml, federation.peers.${HUB}`);
  write("9/hour");
  await commands.agent("daemon", "upgrade", "--force");
  expect((await commands.agent("peer", "show", HUB)).data).toMatchObject({ ...terms, rate_limit: 9 });
});

it("a file with mistakes gives no peer the usual terms, which deny nothing", async () => {
  write("7/week");
  await commands.agent("daemon", "start");
  expect(await commands.agent("peer", "add", HUB, "http://127.0.0.1:9")).toMatchObject({
    exit: 6,
    error: { code: "INVALID_STATE", message: expect.stringContaining("config.yaml has mistakes") },
  });
  expect((await commands.agent("peer", "list")).data).toEqual([]);
});

it("an address is told that is none, and terms that are not said again stay", async () => {
  await commands.agent("daemon", "start");
  const add = (...given: string[]) => commands.agent("peer", "add", HUB, ...given);
  expect(await add("partner")).toMatchObject({
    exit: 3,
    error: { code: "INVALID_REQUEST", message: expect.stringContaining("http or https address") },
  });
  await add("http://127.0.0.1:9", "--deny", "email");
  await add("http://127.0.0.1:9", "--share", "legal:review");
  expect((await commands.agent("peer", "show", HUB)).data).toMatchObject({
    shared_capabilities: ["legal:review"],
    data_boundary: { deny_fields: ["email"] },
  });
});
