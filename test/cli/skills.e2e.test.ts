/** agent run as a user and an agent type it. On a machine without a sandbox, runs that start something are counted as skipped. */
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { PETS, petDocument, petStore } from "../skills/openapi/pet-store.ts";
import { AGENT } from "../support/built.ts";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const isHere = "program" in (await lookForSandbox());

let commands: Commands;
let work: string;
const put = (name: string, text: string): string => {
  writeFileSync(join(work, name), text);
  return join(work, name);
};
beforeAll(() => {
  commands = makeCommands();
  work = realpathSync(mkdtempSync(join(tmpdir(), "holdfast-work-")));
  const argv = ["sh", "-c", `cat >${work}/asked; cd ${work}; sh ./asked`];
  const roles = {
    reader: { kind: "command", argv, profile: "companion" },
    caller: { kind: "command", argv, profile: "overseer" },
  };
  writeFileSync(join(commands.home, "config.yaml"), JSON.stringify({ roles }));
});
afterAll(async () => {
  await commands.close();
  rmSync(work, { recursive: true, force: true });
});

describe.skipIf(!isHere)("a reserved skill command", () => {
  it("prints an envelope of core/v1 that agent proto validate accepts, an error too", async () => {
    const store = await petStore();
    put("pets.json", JSON.stringify(petDocument()));
    const called = { document: "pets.json", operation: "GET /by-page", base_url: `${store.origin}/v1` };
    const calls: readonly (readonly [string, object, string])[] = [
      ["fs/ls", {}, "ok"],
      ["fs/read", { path: "pets.json", bytes: 16 }, "ok"],
      ["fs/read", { path: "missing" }, "error"],
      ["text/grep", { pattern: "openapi" }, "ok"],
      ["todo/manage", { action: "list" }, "ok"],
      ["http/openapi", { ...called, pagination: { strategy: "auto" } }, "ok"],
      ["http/openapi", { ...called, base_url: "http://127.0.0.1:1" }, "error"],
      ["http/openapi", { document: "pets.json", operation: "none" }, "error"],
    ];
    for (const [skill, input, status] of calls) {
      const argv = ["run", skill, "--input", JSON.stringify(input), "--workspace", work];
      const { stdout } = await commands.start(["-o", "ndjson", ...argv]).ended;
      expect(JSON.parse(stdout), stdout).toMatchObject({
        command: skill,
        status,
        meta: { profiles: ["core/v1", "agent/v1", "plugin/v1"] },
      });
      const file = put("envelope.json", stdout);
      const judged = await commands.text("proto", "validate", "--input", file, "--strict");
      expect(judged, `${skill} ${stdout} ${judged.stderr}`).toMatchObject({ exit: 0 });
      if (status === "ok" && skill === "http/openapi")
        expect(JSON.parse(stdout).data.body).toHaveLength(PETS.length);
    }
  });
});

describe("an agent in its run", () => {
  /** The answers of the commands that a worker of the role types, in their order. */
  const typed = async (role: string, lines: readonly string[]) => {
    const out = join(work, `${role}.out`);
    const agent = `HOLDFAST_HOME=${commands.home} ${process.execPath} ${AGENT} -o ndjson`;
    const script = [...lines.map((line) => `${agent} ${line} >>${out}`), `echo end >>${out}`].join("\n");
    const group = put("group.json", JSON.stringify([{ role, task: script }]));
    const begun = await commands.agent("spawn-many", group);
    expect(begun, JSON.stringify(begun)).toMatchObject({ exit: 0 });
    await until(() => existsSync(out) && readFileSync(out, "utf8").endsWith("end\n"));
    return readFileSync(out, "utf8")
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  };

  it("runs the skills that the profile of its role names, and so does its child at most", async () => {
    const todo = `run todo/manage --workspace ${work}`;
    const inner = `HOLDFAST_HOME=${commands.home} ${process.execPath} ${AGENT} -o ndjson ${todo} >${work}/inner`;
    const child = put("child.sh", `${inner}; true`);
    const [denied] = await typed("reader", [todo, `spawn --profile overseer --wait -- sh ${child}`]);
    expect(denied).toMatchObject({ error: { code: "EPOLICY", details: { rule: "profile" } } });
    expect(JSON.parse(readFileSync(join(work, "inner"), "utf8"))).toMatchObject({
      error: { code: "EPOLICY", details: { rule: "profile_above" } },
    });
  });

  it.skipIf(!isHere)("calls no server that the configuration does not allow to agents", async () => {
    const store = await petStore();
    put("pets.json", JSON.stringify(petDocument("https://api.example.com/v1")));
    const operation = { document: "pets.json", operation: "getPet", parameters: { petId: 1 } };
    const own = put("own.json", JSON.stringify({ ...operation, base_url: `${store.origin}/v1` }));
    const named = put("named.json", JSON.stringify(operation));
    const run = (input: string) => `run http/openapi --workspace ${work} --input @${input}`;
    const answers = await typed("caller", [`run todo/manage --workspace ${work}`, run(own), run(named)]);
    expect(answers).toMatchObject([
      { status: "ok" },
      { error: { code: "EPOLICY", details: { rule: "network_host" } } },
      { error: { code: "EPOLICY", details: { rule: "network_host" } } },
    ]);
    expect(store.requests).toEqual([]);
  });
});
