/** Containers of skills with hosts: the socket of their proxy is the only way out. Counted as skipped without podman. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { addContainerSkill, containersLeft, hasContainers, makeImage, removeImage } from "./image.ts";
import { printed, type SkillPlace, skillPlace } from "./support.ts";

/** perl with its libraries, because busybox opens no Unix socket. */
const withPerl = (root: string): void => {
  const copy = (path: string) => {
    mkdirSync(join(root, dirname(path)), { recursive: true });
    cpSync(path, join(root, path), { recursive: true, dereference: true });
  };
  const libraries = execFileSync("/usr/bin/ldd", ["/usr/bin/perl"], { encoding: "utf8" });
  const modules = execFileSync("/usr/bin/perl", ["-MSocket", "-e", 'print $INC{"Socket.pm"}'], {
    encoding: "utf8",
  });
  for (const path of ["/usr/bin/perl", dirname(modules), ...(libraries.match(/\/\S+/g) ?? [])]) copy(path);
};

/** Says each request to the proxy, and prints the status of each answer. */
const asking = (requests: readonly string[]): string =>
  [
    "use Socket; $| = 1;",
    `for my $said (${requests.map((line) => JSON.stringify(line)).join(", ")}) {`,
    '  socket(my $s, AF_UNIX, SOCK_STREAM, 0); connect($s, pack_sockaddr_un($ENV{HOLDFAST_SKILL_PROXY})) or do { print "no "; next };',
    '  syswrite($s, "$said\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n"); my $got = <$s> // "- -"; print((split / /, $got)[1], " ");',
    "}",
  ].join(" ");

const run = async (place: SkillPlace, hosts: readonly string[], requests: readonly string[], also = "") => {
  const script = [`GOT=$(perl -e '${asking(requests)}')`, also, printed("try/net", '{"got":"$GOT"}')].join(
    "\n",
  );
  addContainerSkill(place, "try/net", script, `capabilities: {network: ${JSON.stringify(hosts)}}\n`);
  const { data } = await place.runtime.skills.run("try/net", {}, { workspace: place.workspace });
  return (data.got as string).trim();
};

const connections = async ({ runtime }: SkillPlace) => {
  const found: object[] = [];
  for await (const { type, payload } of runtime.watch(undefined, { from: 0, follow: false }))
    if (type === "skill_connection") {
      const { host, decision, rule } = payload as { host: string; decision: string; rule: string };
      found.push({ host, decision, rule });
    }
  return found;
};

const serving = async () => {
  let asked = 0;
  const server = createServer((_, to) => to.end(String(++asked))).listen(0, "0.0.0.0");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { host: `127.0.0.1:${port}`, asked: () => asked };
};

describe.skipIf(!hasContainers)("a container with hosts", () => {
  beforeAll(() => void makeImage(withPerl));
  afterAll(removeImage);

  it("reaches what its manifest names through the socket, and each decision is a record", async () => {
    const place = await skillPlace();
    const { host, asked } = await serving();
    expect(await run(place, [host], [`GET http://${host}/ HTTP/1.1`])).toBe("200");
    expect(asked()).toBe(1);
    expect(await connections(place)).toEqual([{ host, decision: "allowed", rule: host }]);
    expect(readdirSync(join(place.stateDir, "skill-proxies"))).toEqual([]);
    expect(containersLeft()).toEqual([]);
  });

  it("reaches nothing else, and has no other way: no address, no metadata address, no name, no interface", async () => {
    const place = await skillPlace();
    const [named, other] = [await serving(), await serving()];
    const hosts = [other.host, "169.254.169.254:80", "example.com:443", "localhost:80"];
    const also = [
      `GOT="$GOT$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ')"`,
      `wget -T 2 -q -O - http://${named.host} >/dev/null 2>&1 && GOT="$GOT open"`,
      `nslookup example.com >/dev/null 2>&1 && GOT="$GOT name"`,
      `GOT="$GOT $(find / -type s 2>/dev/null | tr '\\n' ' ')"`,
    ].join("\n");
    const got = await run(
      place,
      [named.host],
      hosts.map((host) => `CONNECT ${host} HTTP/1.1`),
      also,
    );
    expect(got).toBe("403 403 403 403 lo /run/holdfast/proxy");
    expect([named.asked(), other.asked()]).toEqual([0, 0]);
    expect(await connections(place)).toEqual(
      hosts.map((host) => ({ host, decision: "denied", rule: "network_host" })),
    );
  });
});
