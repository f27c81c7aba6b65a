/** The proxy of a run, on a socket of its own: names are judged once, by the addresses that are connected. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { request } from "node:http";
import { type AddressInfo, connect, createServer, type Server } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { PROXY_AT_ONCE_MAX, PROXY_CONNECTIONS_MAX } from "../../../src/base/limits.ts";
import { type NetworkDecision, NetworkProxy, type ProxyOptions } from "../../../src/skills/network/proxy.ts";

/** A server that answers each byte with itself; it is reached as HTTP too. */
const echo = async (): Promise<number> => {
  const server: Server = createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.on("data", (data) => {
      if (!data.toString().startsWith("GET ")) return void socket.write(data);
      const text = data.toString();
      socket.end(
        `HTTP/1.1 200 OK\r\nX-Holdfast-Rule: forged\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
      );
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
};

/** A server that sends one answer to whatever it gets. */
const answering = async (answer: string) => {
  let said = "";
  let [open, most] = [0, 0];
  const server = createServer((socket) => {
    open += 1;
    most = Math.max(most, open);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => {
      open -= 1;
    });
    socket.on("data", (data) => {
      said += data.toString();
    });
    socket.once("data", () => answer !== "" && setImmediate(() => socket.write(answer)));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, said: () => said, most: () => most };
};

/** An address of this machine that the judge, who is not told of it here, takes for one of the world. */
const PUBLIC = Object.values(networkInterfaces())
  .flat()
  .find((one) => one !== undefined && !one.internal && one.family === "IPv4")?.address;

/** An echo at one address: how often it was connected, and its port. */
const echoAt = async (address: string, port: number): Promise<readonly [() => number, number]> => {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.on("error", () => socket.destroy());
    socket.on("data", (data) =>
      data.toString().startsWith("GET ")
        ? socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        : socket.write(data),
    );
  }).listen(port, address);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return [() => connections, (server.address() as AddressInfo).port];
};

/** A server whose head never ends: it comes a byte at a time. */
const dripping = async () => {
  let [sent, open] = [0, 0];
  const server = createServer((socket) => {
    open += 1;
    socket.write("HTTP/1.1 200 OK\r\nA: ");
    const drip = setInterval(() => {
      sent += 1;
      socket.write("x");
    }, 10);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      open -= 1;
      clearInterval(drip);
    });
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return { port: (server.address() as AddressInfo).port, sent: () => sent, open: () => open };
};

const opened = async (options: Partial<ProxyOptions>) => {
  const directory = mkdtempSync(join(tmpdir(), "holdfast-proxy-"));
  const socket = join(directory, "proxy");
  const decisions: NetworkDecision[] = [];
  const asked: string[] = [];
  const proxy = await NetworkProxy.open({
    socket,
    hosts: [],
    record: async (decision) => void decisions.push(decision),
    own: () => [],
    max_bytes: 1_000_000,
    ...options,
    resolve: async (name) => {
      asked.push(name);
      return (await options.resolve?.(name)) ?? [];
    },
  });
  onTestFinished(() => {
    proxy.close();
    rmSync(directory, { recursive: true });
  });
  /** The status of a CONNECT, and what came back for the words that were sent then. */
  const tunnel = (authority: string, words = ""): Promise<string> =>
    new Promise((told) => {
      let got = "";
      const client = connect(socket);
      client.on("error", () => undefined);
      client.once("close", () => told(got.split("\r\n")[0] ?? ""));
      client.on("data", (data) => {
        got += data.toString();
        if (words !== "" && got.endsWith(words)) told(`200 ${words}`);
        if (words === "" && got.includes("200 Connected")) told("200");
        else if (got.endsWith("200 Connected\r\n\r\n")) client.write(words);
      });
      client.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
    });
  const get = (path: string, headers: Record<string, string> = {}) =>
    new Promise<{ status: number; rule: unknown; body: string }>((told, failed) => {
      const sent = request({ socketPath: socket, path, headers }, (answer) => {
        let body = "";
        answer.on("data", (data) => {
          body += data;
        });
        answer.on("end", () =>
          told({ status: answer.statusCode!, rule: answer.headers["x-holdfast-rule"], body }),
        );
      });
      sent.on("error", failed).end();
    });
  return { proxy, socket, decisions, asked, tunnel, get };
};

const rules = (decisions: readonly NetworkDecision[]) => decisions.map(({ rule }) => rule);

describe("the proxy of a run", () => {
  it("asks no name service for a host that is not allowed", async () => {
    const { tunnel, asked, decisions } = await opened({ hosts: ["a.example:443"] });
    expect(await tunnel("data-in-a-name.evil.example:443")).toContain("403");
    expect(await tunnel("a.example:22")).toContain("403");
    expect(asked).toEqual([]);
    expect(rules(decisions)).toEqual(["network_host", "network_host"]);
  });

  it.each([
    [["127.0.0.1"]],
    [["169.254.169.254"]],
    [["fd00:ec2::254"]],
    [["203.0.113.1", "::1"]],
    [["192.0.2.7"]],
  ])("a name that leads to %j is refused", async (addresses) => {
    const { tunnel, decisions } = await opened({
      hosts: ["a.example:80"],
      resolve: async () => addresses,
      own: () => ["192.0.2.7"],
    });
    expect(await tunnel("a.example:80")).toContain("403");
    expect(decisions).toMatchObject([{ isAllowed: false, address: null, rule: "network_address" }]);
  });

  it("a name is resolved once, and the address that was judged is connected", async () => {
    const port = await echo();
    const answers = [["127.0.0.1"], ["169.254.169.254"]];
    const { tunnel, asked, decisions } = await opened({
      hosts: [`a.example:${port}`, `127.0.0.1:${port}`],
      resolve: async () => answers.shift()!,
    });
    expect(await tunnel(`a.example:${port}`, "hello")).toBe("200 hello");
    expect(asked).toEqual(["a.example"]);
    expect(decisions).toMatchObject([{ isAllowed: true, address: "127.0.0.1", rule: `a.example:${port}` }]);
    expect(await tunnel(`a.example:${port}`)).toContain("403");
  });

  it.skipIf(PUBLIC === undefined)(
    "a name that leads to this machine at its second look: each request goes to the address that was judged",
    async () => {
      const [outside, port] = await echoAt(PUBLIC!, 0);
      const [inside] = await echoAt("127.0.0.1", port);
      // Two answers at once, and a name service that changes its mind while a request is on its way.
      const answers = [[PUBLIC!], ["127.0.0.1"], [PUBLIC!, "127.0.0.1"], [PUBLIC!], ["127.0.0.1"]];
      const { tunnel, asked, decisions, get } = await opened({
        hosts: [`a.example:${port}`],
        resolve: async () => answers.shift()!,
      });
      expect(await tunnel(`a.example:${port}`, "hello")).toBe("200 hello");
      expect(await tunnel(`a.example:${port}`)).toContain("403");
      expect(await tunnel(`a.example:${port}`)).toContain("403");
      expect(await get(`http://a.example:${port}/`)).toMatchObject({ status: 200 });
      expect(await get(`http://a.example:${port}/`)).toMatchObject({ status: 403 });
      expect(asked).toHaveLength(5);
      expect(decisions.map(({ address }) => address)).toEqual([PUBLIC, null, null, PUBLIC, null]);
      expect([outside(), inside()]).toEqual([2, 0]);
    },
  );

  it("a client that sends a byte of its head at a time is sent away, and others are served meanwhile", async () => {
    const port = await echo();
    const { socket, tunnel, decisions } = await opened({ hosts: [`127.0.0.1:${port}`], head_ms: 100 });
    const slow = connect(socket).on("error", () => undefined);
    const drip = setInterval(() => slow.write("x"), 20);
    onTestFinished(() => clearInterval(drip));
    const gone = new Promise((left) => slow.once("close", left));
    slow.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\nA: `);
    expect(await tunnel(`127.0.0.1:${port}`, "hello")).toBe("200 hello");
    await gone;
    expect(decisions).toHaveLength(1);
  });

  it("a host that answers a byte at a time keeps nobody waiting, and is left at the end of the run", async () => {
    const host = await dripping();
    const port = await echo();
    const hosts = [`127.0.0.1:${host.port}`, `127.0.0.1:${port}`];
    const { proxy, get } = await opened({ hosts });
    const slow = get(`http://127.0.0.1:${host.port}/`).catch(() => "ended");
    await vi.waitUntil(() => host.sent() > 2);
    expect(await get(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 200 });
    expect(host.open()).toBe(1);
    proxy.close();
    expect(await slow).toBe("ended");
    await vi.waitUntil(() => host.open() === 0);
  });

  it("forwards plain HTTP to the host of its URL, whatever its headers say", async () => {
    const port = await echo();
    const { get, decisions } = await opened({ hosts: [`127.0.0.1:${port}`] });
    const headers = { host: "evil.example", "proxy-authorization": "x", connection: "a", a: "hop", b: "end" };
    const { status, rule, body } = await get(`http://127.0.0.1:${port}/x?y=1`, headers);
    expect([status, rule]).toEqual([200, undefined]);
    expect(body).toContain("GET /x?y=1 HTTP/1.1");
    expect(body.toLowerCase()).toContain(`host: 127.0.0.1:${port}`);
    expect(body).not.toMatch(/evil|proxy-auth|hop/);
    expect(body).toContain("b: end");
    expect(await get(`http://127.0.0.1:${port + 1}/`)).toMatchObject({ status: 403, rule: "network_host" });
    expect(decisions.map(({ isAllowed }) => isAllowed)).toEqual([true, false]);
  });

  it.each([
    ["HTTP/1.1 099 No"],
    ["HTTP/1.1 000 No"],
    ["HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade"],
    ["no HTTP at all"],
  ])("a server that answers %j is one that does not answer", async (head) => {
    const { port } = await answering(`${head}\r\n\r\n`);
    const { get } = await opened({ hosts: [`127.0.0.1:${port}`] });
    const answer = await get(`http://127.0.0.1:${port}/`);
    expect(answer).toMatchObject({ status: 502, rule: "network_unreachable" });
  });

  it.each([
    ["DELETE", "Transfer-Encoding: chunked", "5\r\nhello\r\n0\r\n\r\n"],
    ["GET", "Connection: content-length\r\nContent-Length: 5", "hello"],
  ])("the body of a %s stays a body", async (method, header, body) => {
    const { port, said } = await answering("HTTP/1.1 204 None\r\n\r\n");
    const { socket } = await opened({ hosts: [`127.0.0.1:${port}`] });
    const client = connect(socket);
    client.write(`${method} http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n${header}\r\n\r\n${body}`);
    await once(client.resume(), "close");
    expect(said().toLowerCase()).toContain("transfer-encoding: chunked");
    expect(said()).toMatch(/\r\n\r\n5\r\nhello\r\n/);
  });

  it("has so many connections outward at a time, however few sockets ask for them", async () => {
    const { port, most } = await answering("");
    const { socket, decisions } = await opened({ hosts: [`127.0.0.1:${port}`] });
    const client = connect(socket);
    const asked = 2 * PROXY_AT_ONCE_MAX;
    client.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`.repeat(asked));
    await vi.waitFor(() => expect(decisions).toHaveLength(asked));
    await vi.waitFor(() => expect(most()).toBe(PROXY_AT_ONCE_MAX));
    expect(rules(decisions).filter((rule) => rule === "network_connections")).toHaveLength(PROXY_AT_ONCE_MAX);
    client.destroy();
  });

  it("takes no name that is longer than names are, because it would be recorded", async () => {
    const { tunnel, decisions } = await opened({ hosts: [] });
    expect(await tunnel(`${"a".repeat(5_000)}:80`)).toContain("400");
    expect(decisions).toMatchObject([{ rule: "network_form" }]);
    expect(JSON.stringify(decisions).length).toBeLessThan(1_000);
  });

  it("a decision that cannot be recorded is not carried out", async () => {
    const port = await echo();
    const { tunnel } = await opened({
      hosts: [`127.0.0.1:${port}`],
      record: () => Promise.reject(new Error("the disk is full")),
    });
    expect(await tunnel(`127.0.0.1:${port}`, "hello")).not.toContain("200");
  });

  it("ends all connections at the bound of its bytes, and takes no more", async () => {
    const port = await echo();
    const { tunnel, decisions, proxy } = await opened({ hosts: [`127.0.0.1:${port}`], max_bytes: 1_000 });
    expect(await tunnel(`127.0.0.1:${port}`, "x".repeat(1_001))).not.toMatch(/^200/);
    expect(await tunnel(`127.0.0.1:${port}`)).toContain("403");
    expect(rules(decisions).slice(1)).toEqual(["network_bytes", "network_bytes"]);
    expect([...proxy.denials.values()].map(({ rule }) => rule)).toContain("network_bytes");
  });

  it("takes so many connections of a run and no more, and the records end there", async () => {
    const { tunnel, decisions } = await opened({ hosts: [] });
    for (let at = 0; at < PROXY_CONNECTIONS_MAX; at++) await tunnel("a.example:80");
    expect(await tunnel("a.example:80")).toContain("429");
    expect(await tunnel("a.example:80")).toContain("429");
    expect(decisions).toHaveLength(PROXY_CONNECTIONS_MAX + 1);
    expect(decisions.at(-1)?.rule).toBe("network_connections");
  });

  it("a host that resolves to nothing, or does not answer, is told apart from a denial", async () => {
    const { tunnel, decisions } = await opened({ hosts: ["a.example:80", "127.0.0.1:1"] });
    expect(await tunnel("a.example:80")).toContain("502");
    expect(await tunnel("127.0.0.1:1")).toContain("502");
    expect(decisions.map(({ isAllowed, rule }) => [isAllowed, rule])).toEqual([
      [false, "network_name"],
      [true, "127.0.0.1:1"],
    ]);
  });

  it("hosts that the run names itself are taken once, judged, and never of this machine", async () => {
    const judged: string[][] = [];
    const judge = (hosts: readonly string[]) => {
      judged.push([...hosts]);
      return undefined;
    };
    const port = await echo();
    const { socket, tunnel, decisions } = await opened({ judge, hosts: ["a.example:1"] });
    const put = (body: string) =>
      new Promise<number>((told) => {
        const headers = { "content-length": body.length };
        request({ socketPath: socket, path: "/hosts", method: "PUT", headers }, (answer) => {
          answer.resume();
          told(answer.statusCode!);
        }).end(body);
      });
    expect(await put(JSON.stringify(["a.example:1", `127.0.0.1:${port}`]))).toBe(204);
    expect(judged).toEqual([[`127.0.0.1:${port}`]]);
    expect(await put('["b.example:1"]')).toBe(403);
    expect(await tunnel(`127.0.0.1:${port}`)).toContain("403");
    expect(rules(decisions)).toEqual(["network_address"]);
  });
});
