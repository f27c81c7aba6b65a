/**
 * Requests of a registered agent to `agent weblisk serve`, each with a token whose signature is verified, beside a bare node:http
 * server that verifies the same signature and sends the same bytes; asked by the same raw sockets, in turns.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { publicTextOf, verifierOf } from "../src/weblisk/identity/algorithms.ts";
import { ensureIdentity, ORCHESTRATOR } from "../src/weblisk/identity/key-files.ts";
import { RemoteAgent } from "../test/weblisk/support/agent.ts";
import { CONNECTIONS, rate } from "./http.ts";
import type { Http } from "./http-crowd.ts";
import { agentBin, ascending, environment, percentile, type Result, startDaemon } from "./support.ts";

const ROUNDS = 5;
const PATH = "/v1/services";
const OF_FLOOR_MIN = 0.6;

const BARE = `
const { createServer } = require("node:http");
const { createPublicKey, verify } = require("node:crypto");
const [body, spki] = process.argv.slice(1).map((text) => Buffer.from(text, "base64"));
const key = createPublicKey({ key: spki, format: "der", type: "spki" });
const server = createServer((request, response) => {
  const token = request.headers.authorization.slice("Bearer ".length);
  const dot = token.lastIndexOf(".");
  const isGood = verify(null, Buffer.from(token.slice(0, dot)), key, Buffer.from(token.slice(dot + 1), "base64url"));
  response.writeHead(isGood ? 200 : 401, { "content-type": "application/json", "content-length": body.length }).end(body);
});
server.listen(0, "127.0.0.1", () => process.stdout.write(String(server.address().port) + "\\n"));`;

/** The first line that it prints. */
const lineOf = async (child: ChildProcess): Promise<string> => {
  let text = "";
  while (!text.includes("\n")) text += String((await once(child.stdout!, "data"))[0]);
  return text.split("\n")[0]!;
};

const p50 = (values: readonly number[]): number => percentile(ascending(values), 50);

export const weblisk = async (): Promise<Result> => {
  const daemon = await startDaemon();
  const env = { ...environment(), HOLDFAST_HOME: daemon.dir };
  const children: ChildProcess[] = [];
  const started = async (args: readonly string[]): Promise<string> => {
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    children.push(child);
    return await lineOf(child);
  };
  try {
    const url = await started([agentBin, "weblisk", "serve", "clerk=command", "--listen", "0", "--", "cat"]);
    const remote = new RemoteAgent(url, "bench");
    await remote.register();
    const { text, status } = await remote.send("GET", PATH);
    if (status !== 200) throw new Error(`the directory is refused: ${text}`);
    const { key } = ensureIdentity(daemon.dir, ORCHESTRATOR);
    const issuer = verifierOf({ algorithm: key.algorithm.name, publicKey: publicTextOf(key) })!;
    const spki = issuer.key.export({ format: "der", type: "spki" });
    const port = await started(["-e", BARE, Buffer.from(text).toString("base64"), spki.toString("base64")]);
    const [ours, bare] = [new URL(url).port, port].map(
      (each): Http => ({ port: Number(each), secret: remote.token }),
    );
    const [rates, floors]: [number[], number[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round += 1) {
      const both = [await rate(bare!, PATH), await rate(ours!, PATH)] as const;
      // The first round warms both.
      if (round === 0) continue;
      floors.push(both[0]);
      rates.push(both[1]);
    }
    const [floor, measured] = [p50(floors), p50(rates)];
    return {
      name: `\`${PATH}\` with a token, requests/s over ${CONNECTIONS} connections`,
      floor: `bare node:http that verifies it, the same ${Buffer.byteLength(text)} bytes: ${floor.toFixed(0)}/s`,
      measured: `${measured.toFixed(0)}/s`,
      value: `${(measured / floor).toFixed(2)} of the floor`,
      threshold: `≥ ${OF_FLOOR_MIN}`,
      ok: measured / floor >= OF_FLOOR_MIN,
    };
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await daemon.stop();
  }
};
