/** The test mode itself: the published JSON Schema of a command refuses wrong data, and nothing wrong is printed. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { makeDataCheck } from "../../src/cli/data-check.ts";
import { schemasOf } from "../../src/cli/manifest.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { SENT_WHOLE } from "../../src/protocol/artifactize.ts";
import { agent } from "./support/agent.ts";
import { type Answerer, type FakeDaemon, fakeDaemon } from "./support/fake-daemon.ts";
import { watched, worker } from "./support/samples.ts";

let daemon: FakeDaemon | undefined;
afterEach(async () => {
  await daemon?.close();
  daemon = undefined;
});

const outputOf = (name: string): object =>
  (schemasOf(COMMANDS.find(({ command }) => command === name)!) as { readonly output: object }).output;

describe("agent watch", () => {
  const right = watched(6, 6);
  const wrong: readonly (readonly [string, object])[] = [
    ["a member that is not declared", { ...right, more: 1 }],
    ["a member that is missing", { next: 6, records: 6 }],
    ["a member of another type", { ...right, next: "6" }],
    ["a fraction where a whole number is declared", { ...right, records: 0.5 }],
    ["null", { ...right, cursor: null }],
  ];
  it.each(wrong)("the schema refuses %s", (_what, data) => {
    const check = makeDataCheck(outputOf("agent/watch"));
    expect(check(right)).toBeUndefined();
    expect(check(data)).toMatch(/./);
  });
});

/** Data with one member too many, one too few, and one of another kind, for each member. */
const mutants = (data: Readonly<Record<string, unknown>>): readonly object[] => [
  { ...data, undeclared_member: 1 },
  ...Object.keys(data).flatMap((name) => {
    const { [name]: _, ...rest } = data;
    return [rest, { ...data, [name]: { undeclared_member: 1 } }];
  }),
];

describe("an element of agent list", () => {
  it("is refused by each mutation of a member", () => {
    const check = makeDataCheck(outputOf("agent/list"));
    const row = JSON.parse(JSON.stringify(worker())) as Record<string, unknown>;
    expect(check([row])).toBeUndefined();
    for (const mutant of mutants(row)) expect([mutant, check([mutant])]).not.toEqual([mutant, undefined]);
  });
});

it.each(["json", "ndjson"])("an envelope with wrong data is thrown and not printed in %s", async (mode) => {
  const answers: Record<string, Answerer> = {
    "agent/list": () => ({ workers: [{ ...worker(), undeclared: 1 }], total: 1 }),
  };
  daemon = await fakeDaemon(answers);
  const argv = ["--state-dir", daemon.stateDir, "-o", mode, "list"];
  await expect(agent(argv)).rejects.toThrow(/The data of agent\/list breaks its published schema/);
  expect((await agent(argv, { env: { HOLDFAST_VALIDATE: "0" } })).exit).toBe(0);
});

it("a result that is sent whole, because no artifact can be kept, is held to the schema without its hint", async () => {
  const answers: Record<string, Answerer> = { "agent/watch": () => watched(6, 0) };
  daemon = await fakeDaemon(answers);
  writeFileSync(join(daemon.stateDir, "cas"), "no directory");
  const argv = ["--state-dir", daemon.stateDir, "-o", "ndjson", "watch", "--all"];
  const { exit, stdout } = await agent(argv, { env: { HOLDFAST_INLINE_OUTPUT: "10" } });
  expect(exit).toBe(0);
  const last = JSON.parse(stdout.trimEnd().split("\n").at(-1)!) as { readonly data: object };
  expect(last.data).toEqual({ ...watched(6, 0), hint: expect.stringContaining(SENT_WHOLE) });
});

it("every command with a result has a schema that refuses a member that is not declared", () => {
  const open = COMMANDS.filter(
    ({ command }) => makeDataCheck(outputOf(command))({ undeclared_member: 1 }) === undefined,
  );
  // The data of a run is the skill's own.
  expect(open.map(({ command }) => command)).toEqual(["skill/run", "agent/manifest"]);
});
