/** The dashboard over hosts as a person meets it: a real browser, and the daemons of two state directories, one behind a program. */
import { existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Commands, makeCommands, type Running, until } from "../cli/support/commands.ts";
import { AGENT } from "../support/built.ts";
import { launchBrowser, openTab, type Tab } from "./support/browser.ts";

const CLAUDE = join(import.meta.dirname, "../fixtures/agents/works.mjs");

let here: Commands;
let there: Commands;
let serving: Running;
let browser: Browser;
let tab: Tab;
/** As the command printed it. */
let address: URL;

/** Its agent asks for permission. */
const asks = async ({ home, start }: Commands, name: string): Promise<void> => {
  const bin = join(home, "bin");
  mkdirSync(bin, { recursive: true });
  symlinkSync(CLAUDE, join(bin, "claude"));
  const env = { HOME: home, PATH: `${bin}:${dirname(process.execPath)}:/usr/bin:/bin` };
  await start(["spawn", "--name", name, "--cwd", home, "--permission", "ask", "claude", "Go."], env).ended;
};

beforeAll(async () => {
  [here, there] = [makeCommands(), makeCommands()];
  await Promise.all([asks(here, "at-home"), asks(there, "at-build")]);
  symlinkSync(AGENT, join(there.home, "bin/agent"));
  const reach = `env HOLDFAST_HOME=${there.home} PATH=${join(there.home, "bin")}:${process.env.PATH}`;
  writeFileSync(join(here.home, "config.yaml"), `hosts:\n  build: "exec:${reach}"\n  gone: "exec:false"\n`);
  serving = here.start(["-o", "text", "--host", "all", "dashboard"]);
  await until(() => serving.out().includes("\n"));
  address = new URL(serving.out().trim());
  browser = await launchBrowser();
  tab = await openTab(browser);
  await tab.page.goto(address.href);
});
afterAll(async () => {
  await browser?.close();
  serving?.child.kill("SIGINT");
  await Promise.all([here, there].map((each) => each?.close()));
});

const holdsOf = async ({ agent }: Commands): Promise<readonly string[]> =>
  ((await agent("inbox")).data as unknown as readonly { id: string }[]).map(({ id }) => id);
const sectionOf = (page: Page, host: string): Locator =>
  page.getByRole("region", { name: host, exact: true });

describe("the page of all hosts", () => {
  it("has the questions of each host, and says which host cannot be reached", async () => {
    const { page } = tab;
    for (const [host, name] of [
      ["local", "at-home"],
      ["build", "at-build"],
    ] as const) {
      const section = sectionOf(page, host);
      await section.getByRole("article").getByRole("link", { name }).waitFor();
      await section.getByRole("link", { name: "1 live" }).waitFor();
    }
    await sectionOf(page, "gone").getByRole("alert").waitFor();
    await expect.poll(() => page.title()).toBe("(2) Holdfast");
    expect(page.url()).not.toContain(address.hash.slice(1));
  });

  it.each([360, 1440])("has no finding of axe at %i pixels, and fits", async (width) => {
    const { page } = tab;
    await page.setViewportSize({ width, height: 900 });
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });

  it("answers on the host that asks, with the command that would", async () => {
    const [asked] = await holdsOf(there);
    const card = sectionOf(tab.page, "build").getByRole("article");
    await card.getByText(`agent --host build answer ${asked} deny`).waitFor();
    await card.getByRole("button", { name: "Deny" }).click();
    await until(async () => !(await holdsOf(there)).includes(asked!));
    await card.getByText(`agent --host build answer ${asked} deny`).waitFor({ state: "detached" });
  });
});

describe("the pages of one host", () => {
  it("are its whole dashboard, live, and lead back", async () => {
    const { page } = tab;
    await there.agent("spawn", "--name", "sleeper", "--", "sleep", "1000");
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "build" }).click();
    await page.getByRole("link", { name: /^Running/ }).click();
    await page.getByText("agent --host build tree").waitFor();
    await page.getByRole("treeitem", { name: "sleeper" }).getByRole("link").click();
    await page.getByText("● live").waitFor();
    await there.agent("pause", "sleeper");
    await page.getByRole("button", { name: "Unpause" }).waitFor();
    await page.getByRole("button", { name: "Kill" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
    await until(async () => (await there.agent("info", "sleeper")).data.state === "cancelled");
    await page.getByRole("link", { name: "All hosts" }).click();
    await sectionOf(page, "local").getByRole("article").waitFor();
  });

  it("go on with the host's next daemon behind the last record", async () => {
    const { page } = tab;
    await page.goto(`${address.origin}/hosts/build/#/runs`);
    await page.getByText("● live").waitFor();
    await there.killDaemon();
    await page.getByText("daemon lost, trying again").waitFor();
    await there.agent("daemon", "start");
    await page.getByText("● live").waitFor();
    await there.agent("spawn", "--name", "after", "--", "sleep", "1000");
    await page.getByRole("treeitem", { name: "after" }).waitFor();
    expect(tab.complaints).toEqual([]);
  });
});

describe("the doors", () => {
  const secret = (): string => address.hash.slice("#token=".length);
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${address.origin}${path}`, { headers });
  const open = (path: string, headers: Record<string, string> = {}) =>
    get(path, { authorization: `Bearer ${secret()}`, ...headers });

  it.each([
    "/api/protocol/hello",
    "/hosts/build/api/agent/list",
    "/hosts/build/api/events",
    "/hosts/nobody/",
  ])("%s opens by the printed secret alone", async (path) => {
    expect((await get(path)).status).toBe(401);
    expect((await get(path, { authorization: `Bearer hft_${"0".repeat(64)}` })).status).toBe(401);
  });

  it("refuse pages of other origins, and names that are not this machine's", async () => {
    expect((await open("/hosts/build/api/agent/list", { origin: "http://evil.example" })).status).toBe(403);
    expect((await open("/hosts/build/api/agent/list", { "sec-fetch-site": "cross-site" })).status).toBe(403);
  });

  it("lead to the hosts of the call alone, by their names as they are", async () => {
    for (const path of [
      "/hosts/box/api/agent/list",
      "/hosts/build/../local/x",
      "/hosts/%62uild/api/agent/list",
    ])
      expect((await open(path)).status).toBe(404);
    expect((await open("/hosts/build/api/agent/nothing")).status).toBe(404);
    expect((await open("/hosts/build/api/agent/watch")).status).toBe(404);
    expect((await open("/hosts/gone/api/agent/list")).status).toBe(503);
  });

  it("are shut once the command ends", async () => {
    serving.child.kill("SIGINT");
    const { exit, stderr } = await serving.ended;
    expect([exit, stderr]).toEqual([130, expect.stringContaining("The hosts and their workers go on.")]);
    await expect(open("/")).rejects.toThrow();
  });
});

it("gives the address in a file that lasts as long as the command", async () => {
  const file = join(here.home, "address");
  const running = here.start(["--host", "build", "dashboard", "--to", file]);
  await until(() => existsSync(file) && readFileSync(file, "utf8").endsWith("\n"));
  expect(statSync(file).mode & 0o777).toBe(0o600);
  running.child.kill("SIGINT");
  expect((await running.ended).stdout).not.toContain("hft_");
  expect(existsSync(file)).toBe(false);
});

describe("a mistake in the call", () => {
  it("is told at once", async () => {
    const both = await here.agent("--host", "build", "dashboard", "--expires", "1d", "--to", "x");
    expect(both.error?.message).toContain("--expires is for the dashboard of one daemon");
    const json = await here.agent("--host", "build", "dashboard");
    expect(json.error?.suggestion).toContain("--to FILE");
  });
});
