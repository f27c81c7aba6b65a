/** Being told, as a person meets it: an agent asks, a signed message comes, its link answers; over crashes and broken servers. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands, until } from "./support/commands.ts";

const AGENT = join(import.meta.dirname, "../fixtures/agents/converses.mjs");
const SECRET = `whsec_${Buffer.from("a secret of thirty-two bytes, ok").toString("base64")}`;

interface Received {
  readonly path: string;
  readonly headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the body as it came
  readonly body: any;
  readonly text: string;
  readonly response: ServerResponse;
}

let commands: Commands;
let server: Server;
let received: Received[] = [];
/** Answers of the server by path; a request for which there is none hangs. */
const status = new Map<string, number>([
  ["/hook", 200],
  ["/gone", 410],
  ["/", 200],
]);

beforeAll(async () => {
  server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk) => {
      text += chunk;
    });
    request.on("end", () => {
      const headers = request.headers as Record<string, string>;
      received.push({ path: request.url!, headers, body: JSON.parse(text), text, response });
      const code = status.get(request.url!);
      if (code !== undefined) response.writeHead(code).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  commands = makeCommands();
  const secret = join(commands.home, "hook.secret");
  writeFileSync(secret, SECRET, { mode: 0o600 });
  const webhook = (path: string, more: object = {}) => ({
    webhook: { url: `${url}${path}`, secret: `@file:${secret}` },
    private: true,
    ...more,
  });
  const targets = {
    hook: webhook("/hook", { debounce: "50ms" }),
    gone: webhook("/gone", { events: ["completed"], labels: { tell: "desk" } }),
    inward: { ...webhook("/hook", { events: ["completed"], labels: { tell: "desk" } }), private: false },
    phone: { ntfy: { url, topic: "night" }, private: true, events: ["approval"] },
    desk: {
      command: { argv: ["sh", "-c", `env > ${commands.home}/env; cat > ${commands.home}/told`] },
      events: ["completed"],
      labels: { tell: "desk" },
    },
  };
  writeFileSync(
    join(commands.home, "config.yaml"),
    JSON.stringify({ http: { listen: "127.0.0.1:0" }, notifications: { targets } }),
  );
  await commands.agent("daemon", "start");
});
afterAll(async () => {
  await commands.close();
  server.closeAllConnections();
  server.close();
});

const at = (path: string) => received.filter((one) => one.path === path);
const untilAt = (path: string, count: number) => until(() => at(path).length >= count);

/** Spawns an agent that asks for its Door. */
const spawnAsking = (name: string, ...flags: string[]) => {
  const env = ["--env", `CLAUDE_BINARY=${AGENT}`, "--env", `LEDGER=${join(commands.home, name)}`];
  return commands.agent("spawn", "claude", "permit", "--name", name, "--permission", "ask", ...env, ...flags);
};

describe("an agent that asks", () => {
  let links: { readonly answer: string; readonly url: string }[];

  it("is told of by a message that Standard Webhooks' own library takes, and on the phone with buttons", async () => {
    received = [];
    await spawnAsking("fixer");
    await untilAt("/hook", 1);
    const [{ headers, text, body }] = at("/hook") as [Received];
    expect(new Webhook(SECRET).verify(text, headers)).toEqual(body);
    expect(() => new Webhook(SECRET).verify(`${text} `, headers)).toThrow();
    expect(body).toMatchObject({
      type: "holdfast.approval",
      data: { id: headers["webhook-id"], title: "fixer asks for Door", text: "open it", name: "fixer" },
    });
    links = body.data.answers;
    expect(links.map(({ answer }) => answer)).toEqual(["allow", "deny"]);
    await untilAt("/", 1);
    const [phone] = at("/");
    expect(phone?.body).toMatchObject({
      topic: "night",
      priority: 4,
      actions: [
        { action: "http", label: "Allow", method: "POST" },
        { action: "http", label: "Deny", method: "POST" },
      ],
    });
  });

  it("is not answered by a program that follows links", async () => {
    const { url } = links[0]!;
    const page = await fetch(url);
    expect([page.status, page.headers.get("referrer-policy")]).toEqual([200, "same-origin"]);
    expect(await page.text()).toMatch(/<h1>fixer asks for Door<\/h1>.*open it.*<button>Allow<\/button>/s);
    expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
    expect((await commands.agent("approvals")).data).toMatchObject([{ worker: "fixer", state: "open" }]);
  });

  it("is not answered by a page of another site", async () => {
    const headers = { origin: "https://evil.example" };
    expect((await fetch(links[0]!.url, { method: "POST", headers })).status).toBe(403);
  });

  it("is answered by the button, once, and the record tells by which target", async () => {
    const allow = links.find(({ answer }) => answer === "allow")!.url;
    const deny = links.find(({ answer }) => answer === "deny")!.url;
    // No digest of a link leads back to it.
    const kept = readFileSync(join(commands.home, "notifications.json"), "utf8");
    expect(kept).not.toContain(allow.split("/").at(-1));
    expect(statSync(join(commands.home, "notifications.json")).mode & 0o777).toBe(0o600);
    const both = await Promise.all([fetch(allow, { method: "POST" }), fetch(deny, { method: "POST" })]);
    expect(both.map((one) => one.status).sort()).toEqual([200, 404]);
    expect((await fetch(allow, { method: "POST" })).status).toBe(404);
    expect((await fetch(allow)).status).toBe(404);
    expect((await commands.agent("wait", "fixer")).exit).toBe(0);
    const { data } = await commands.agent("approvals", "--all");
    expect(data).toMatchObject([{ worker: "fixer", by: "user:link:hook" }]);
    expect((await fetch(allow.replace(/.{30}$/, "A".repeat(30)))).status).toBe(404);
  });

  it("is told of once more after a kill of the daemon, under the same id, and never again", async () => {
    received = [];
    status.delete("/hook");
    await spawnAsking("night");
    await untilAt("/hook", 1);
    await commands.killDaemon();
    status.set("/hook", 200);
    await commands.agent("daemon", "start");
    const ofNight = () => at("/hook").filter(({ body }) => body.data.name === "night");
    await until(() => ofNight().length >= 2);
    expect(new Set(ofNight().map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    // The new daemon's own crash is news too.
    await until(() => at("/hook").some(({ body }) => body.type === "holdfast.daemon"));
    const newest = ofNight().at(-1)!.body.data.answers[0].url;
    expect((await fetch(newest, { method: "POST" })).status).toBe(200);
    expect((await commands.agent("wait", "night")).exit).toBe(0);
    expect(ofNight()).toHaveLength(2);
  });

  it("and is answered before the message is due, is not told of", async () => {
    received = [];
    await spawnAsking("quick", "--permission", "allow");
    await commands.agent("wait", "quick");
    await commands.agent("spawn", "--name", "last", "--wait", "--", "false");
    await until(() => at("/hook").some(({ body }) => body.data.name === "last"));
    expect(at("/hook").map(({ body }) => body.data.name)).toEqual(["last"]);
  });
});

describe("other news", () => {
  it("runs a program with JSON on its stdin, and with few variables; what cannot be sent is shown", async () => {
    await commands.agent("spawn", "--name", "done", "--label", "tell=desk", "--wait", "--", "true");
    const told = () => {
      try {
        return JSON.parse(readFileSync(join(commands.home, "told"), "utf8"));
      } catch {
        return undefined;
      }
    };
    await until(() => told() !== undefined);
    expect(told()).toMatchObject({
      type: "holdfast.completed",
      data: { name: "done", command: "agent output done" },
    });
    expect(readFileSync(join(commands.home, "env"), "utf8")).not.toContain("HOLDFAST");
    const dead = async () =>
      (await commands.agent("notify", "list")).data.dead as { target: string; reason: string }[];
    await until(async () => (await dead()).length >= 2);
    expect((await dead()).sort((a, b) => a.target.localeCompare(b.target))).toEqual([
      expect.objectContaining({ target: "gone", reason: expect.stringMatching(/answered with status 410/) }),
      expect.objectContaining({ target: "inward", reason: expect.stringMatching(/private: true allows it/) }),
    ]);
    const { data } = await commands.agent("doctor");
    const checks = data.checks as { readonly name: string }[];
    expect(checks.find(({ name }) => name === "notifications")).toMatchObject({ result: "warn" });
  });

  it("and was given up, is sent again once its server is well, under its old id", async () => {
    const { dead } = (await commands.agent("notify", "list")).data as {
      dead: { id: string; target: string }[];
    };
    const { id } = dead.find(({ target }) => target === "gone")!;
    const before = at("/gone").length;
    status.set("/gone", 200);
    const again = await commands.agent("notify", "resend", id.toLowerCase());
    expect(again.data).toMatchObject({ effect: "created" });
    await untilAt("/gone", before + 1);
    status.set("/gone", 410);
    expect(new Set(at("/gone").map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
    const none = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    expect((await commands.agent("notify", "resend", none)).error?.message).toBe(
      `No notification that was given up has the id ${none}.`,
    );
    expect((await commands.agent("notify", "resend")).exit).toBe(3);
  });

  it("is tried with one command, which says what is wrong", async () => {
    expect(await commands.agent("notify", "test", "desk")).toMatchObject({
      exit: 0,
      data: { effect: "created" },
    });
    const failed = await commands.agent("notify", "test", "gone");
    expect(failed.error?.message).toMatch(
      /^gone took no notification: 127\.0\.0\.1:\d+ answered with status 410\.$/,
    );
    expect((await commands.agent("notify", "test", "nobody")).error?.message).toBe(
      "There is no target nobody; there are hook, gone, inward, phone, desk.",
    );
  });
});

it("a mistake in the configuration is one sentence", async () => {
  const { parseConfiguration } = await import("../../src/daemon/configuration.ts");
  const problemsOf = (target: object) =>
    parseConfiguration(JSON.stringify({ notifications: { targets: { one: target } } })).problems;
  expect(problemsOf({})).toEqual([
    "notifications.targets.one: a target is exactly one of webhook, command and ntfy",
  ]);
  expect(problemsOf({ command: { argv: ["true"] }, evnts: [] })).toEqual([
    'notifications.targets.one: Unrecognized key: "evnts"; did you mean events?',
  ]);
  expect(problemsOf({ webhook: { url: "https://x.example", secret: "whsec_plain" } })).toEqual([
    "notifications.targets.one.webhook.secret: a secret is a reference, @env:NAME or @file:/PATH, and never the value itself",
  ]);
});
