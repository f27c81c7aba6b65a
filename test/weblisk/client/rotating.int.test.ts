/** Another key of this side at an orchestrator elsewhere: its name and rights stay, whatever answer is lost. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { exchange, type WireExchange } from "../../../src/weblisk/client/exchange.ts";
import { readKnown } from "../../../src/weblisk/client/known.ts";
import { type ClientGround, OrchestratorClient } from "../../../src/weblisk/client/orchestrator.ts";
import { noteRotation, readyToRotate, tellRotation } from "../../../src/weblisk/client/rotating.ts";
import { publicTextOf } from "../../../src/weblisk/identity/algorithms.ts";
import { ORCHESTRATOR, rotateIdentity } from "../../../src/weblisk/identity/key-files.ts";
import { rotationOf } from "../../../src/weblisk/identity/rotation.ts";
import { ServerFiles } from "../../../src/weblisk/server/files.ts";
import { grantedTo, registered } from "../../../src/weblisk/server/grants.ts";
import { send } from "../support/agent.ts";
import { makeServed, type Served } from "../support/served.ts";

let served: Served;
let stateDir: string;
let rotations: number;
/** The fate of a request for another key. */
let rotate: "passes" | "is lost" | "has a lost answer";

beforeEach(async () => {
  served = await makeServed();
  stateDir = mkdtempSync(join(tmpdir(), "holdfast-rotating-"));
  [rotations, rotate] = [0, "passes"];
});
afterEach(() => {
  served.close();
  rmSync(stateDir, { recursive: true, force: true });
});

const through: WireExchange = async (call) => {
  if (!call.url.pathname.endsWith("/rotate-key")) return exchange(call);
  rotations += 1;
  if (rotate === "is lost") return "silent";
  const reply = await exchange(call);
  return rotate === "has a lost answer" ? "silent" : reply;
};

const ground = (): ClientGround => ({
  stateDir,
  files: new ServerFiles(stateDir),
  exchange: through,
  now: () => served.seconds() * 1_000,
  pause: async () => undefined,
  randomBytes,
});
const client = (as?: string) =>
  new OrchestratorClient(ground(), {
    url: served.base,
    isPrivateAllowed: true,
    ...(as !== undefined && { as }),
  });

/** As `agent identity rotate` does. */
const rotated = async (identity: string = ORCHESTRATOR) => {
  await readyToRotate(ground(), identity);
  const when = () => ({ timestamp: served.seconds(), nonce: randomBytes(16).toString("hex") });
  const { key } = rotateIdentity(stateDir, identity, {
    ...when(),
    beforehand: (before, after) =>
      noteRotation(ground().files, identity, (name) => rotationOf(name, before, after, when())),
  });
  return { key, told: await tellRotation(ground(), identity) };
};

const keyThere = (name: string): string | undefined =>
  registered(new ServerFiles(served.stateDir), name)?.public_key;
const rightsThere = (name: string): readonly string[] => {
  const files = new ServerFiles(served.stateDir);
  return grantedTo(files, registered(files, name)!);
};

/** Registered, with a right. */
const begun = async (as?: string): Promise<string> => {
  const { name } = await client(as).register({ capabilities: ["llm:chat"] });
  served.grant(name);
  return name;
};

it.each([undefined, "reviewer"])("the name %s and its rights are the new key's at once", async (as) => {
  const name = await begun(as);
  const before = readKnown(ground().files, served.base, name)!;
  const { key, told } = await rotated(as);
  expect(told).toEqual([{ url: served.base, name }]);
  expect([keyThere(name), rightsThere(name)]).toEqual([publicTextOf(key), ["llm:chat"]]);
  expect(client(as).name).toBe(name);
  expect(await client(as).call("GET", "/v1/services")).toMatchObject({ status: 200 });
  const old = { authorization: `Bearer ${before.token}` };
  expect((await send(served.base, "GET", "/v1/services", undefined, old)).status).toBe(401);
  // There is nothing left to tell, and a second change is as good as the first.
  expect(readKnown(ground().files, served.base, name)).not.toHaveProperty("rotation");
  expect((await rotated(as)).told).toEqual([{ url: served.base, name }]);
  expect([rotations, rightsThere(name)]).toEqual([2, ["llm:chat"]]);
});

it("an orchestrator that is away is told with the next request", async () => {
  const name = await begun();
  rotate = "is lost";
  const { key, told } = await rotated();
  expect(told).toMatchObject([{ name, error: { code: "UNAVAILABLE" } }]);
  rotate = "passes";
  served.pass(299);
  expect(await client().call("GET", "/v1/services")).toMatchObject({ status: 200 });
  expect([keyThere(name), rightsThere(name)]).toEqual([publicTextOf(key), ["llm:chat"]]);
});

it("an answer that was lost costs nothing: the new key has the name already", async () => {
  const name = await begun();
  rotate = "has a lost answer";
  const { key } = await rotated();
  rotate = "passes";
  expect(await client().call("GET", "/v1/services")).toMatchObject({ status: 200 });
  expect(client().name).toBe(name);
  expect([keyThere(name), rightsThere(name)]).toEqual([publicTextOf(key), ["llm:chat"]]);
});

it("a token that is over is renewed by the old key first", async () => {
  const name = await begun();
  served.pass(90_000);
  expect((await rotated()).told).toEqual([{ url: served.base, name }]);
  expect(rightsThere(name)).toEqual(["llm:chat"]);
});

it("after five minutes the name is the old key's, and this side is somebody new there", async () => {
  const [name, reviewer] = [await begun(), await begun("reviewer")];
  rotate = "is lost";
  await rotated();
  await rotated("reviewer");
  rotate = "passes";
  served.pass(301);
  const later = client();
  await later.call("GET", "/v1/services");
  expect(later.name).not.toBe(name);
  expect(client().name).toBe(later.name);
  expect(rightsThere(later.name)).toEqual([]);
  // A name that a person has chosen is no other one by itself.
  await expect(client(reviewer).call("GET", "/v1/services")).rejects.toMatchObject({ code: "INVALID_STATE" });
});
