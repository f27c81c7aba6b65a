/** The dashboard as a person meets it: a real browser, a real daemon, and a fleet in which something has happened. */
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "../cli/support/commands.ts";
import { launchBrowser, openTab, type Tab } from "./support/browser.ts";
import { makeScene, type Scene } from "./support/scene.ts";

let scene: Scene;
let browser: Browser;
let tab: Tab;
beforeAll(async () => {
  [scene, browser] = await Promise.all([makeScene(), launchBrowser()]);
  tab = await openTab(browser);
  await login(tab.page);
});
afterAll(async () => {
  await browser?.close();
  await scene?.close();
});

const login = async (page: Page, to = ""): Promise<void> => {
  await page.goto(`${scene.url}/#token=${scene.secret}`);
  await page.getByRole("navigation", { name: "Pages" }).waitFor();
  if (to !== "") await page.goto(`${scene.url}/${to}`);
};
const go = async (to: string, heading: string | RegExp): Promise<Page> => {
  await tab.page.goto(`${scene.url}/${to}`);
  await tab.page.getByRole("heading", { level: 1, name: heading }).waitFor();
  return tab.page;
};
const spawn = async (script: string, more: object = {}): Promise<string> => {
  const spec = { kind: "command", argv: ["sh", "-c", script], cwd: "/tmp", restart: "temporary", ...more };
  return (await scene.ask("agent/spawn", { spec })).id as string;
};

describe("the files", () => {
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`${scene.url}${path}`, { headers });
  const named = async (): Promise<readonly string[]> =>
    [...(await (await get("/")).text()).matchAll(/"\/([\w-]+\.(?:js|css|svg))"/g)].map(
      ([, name]) => `/${name}`,
    );

  it("need no token, and allow nothing that is not the daemon's own", async () => {
    const { status, headers } = await get("/");
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toMatch(/^default-src 'self';/);
    expect(headers.get("cache-control")).toBe("no-cache");
    const again = await get("/", { "if-none-match": headers.get("etag") as string });
    expect([again.status, await again.text()]).toEqual([304, ""]);
  });

  it("are kept for ever by their names, and come compressed", async () => {
    const names = await named();
    expect(names).toHaveLength(3);
    for (const name of names) {
      const { status, headers } = await get(name, { "accept-encoding": "br" });
      expect([name, status, headers.get("content-encoding")]).toEqual([name, 200, "br"]);
      expect(headers.get("cache-control")).toContain("immutable");
    }
  });

  it("have at most 150 KB in all, as they are sent", async () => {
    const sizes = ["/", ...(await named())].map(async (name) => {
      const { headers } = await get(name, { "accept-encoding": "gzip" });
      return Number(headers.get("content-length"));
    });
    expect((await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(150_000);
  });

  it.each([
    "/index.html",
    "/%2e%2e/daemon.js",
    "//etc/passwd",
    "/web/../daemon.token",
    "/dashboard.js",
    "/.",
    "/?/../x",
  ])("%s leads to no other file", async (path) => {
    const { status, headers } = await get(path);
    expect([200, 401]).toContain(status);
    if (status === 200) expect(headers.get("content-type")).toContain("text/html");
  });

  it("are read and never written", async () =>
    expect((await fetch(`${scene.url}/`, { method: "POST" })).status).toBe(401));
});

describe("the login", () => {
  it("takes a typed token, says why one is refused, and forgets it in the end", async () => {
    const { page } = await openTab(browser);
    await page.goto(scene.url);
    await page.getByLabel("Or a token of yours").fill("hft_nobody");
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByText("The token is not known here").waitFor();
    await page.getByLabel("Or a token of yours").fill(scene.secret);
    await page.getByRole("button", { name: "Open" }).click();
    await page.getByRole("heading", { name: "What waits for me?" }).waitFor();
    expect(page.url()).not.toContain(scene.secret);
    await page.reload();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.reload();
    await page.getByLabel("Or a token of yours").waitFor();
    await page.context().close();
  });

  it("takes the token of the fragment out of the address, and asks again once it is revoked", async () => {
    const secret = (await scene.commands.text("token", "create", "for-a-while")).stdout.trim();
    const { page } = await openTab(browser);
    await page.goto(`${scene.url}/#token=${secret}`);
    await page.getByRole("heading", { name: "What waits for me?" }).waitFor();
    expect(page.url()).not.toContain(secret);
    expect(await page.evaluate("document.cookie")).toBe("");
    await scene.ask("token/revoke", { name: "for-a-while" });
    // The end of its stream may have shut the page before.
    await page.goto(`${scene.url}/#/cost`);
    await page.getByText("The token opens nothing any more.").waitFor();
    await page.context().close();
  });
});

describe("the page of workers", () => {
  it("is a tree with the keys of a tree, and its rows lead to the workers", async () => {
    const page = await go("#/runs", "What runs?");
    const tree = page.getByRole("tree");
    const active = async (): Promise<string> =>
      (await tree.locator('[aria-selected="true"] .name').innerText()).replace(/^\W+/, "");
    await tree.getByRole("treeitem", { name: "compiler" }).waitFor();
    await tree.focus();
    for (const [key, name] of [
      ["Home", "root"],
      ["ArrowDown", "crew"],
      ["ArrowRight", "builders"],
      ["ArrowLeft", "builders"],
    ] as const) {
      await page.keyboard.press(key);
      await expect.poll(active).toBe(name);
    }
    expect(await tree.getByRole("treeitem", { name: "compiler" }).count()).toBe(0);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.waitForURL(/#\/worker\//);
  });

  it("keeps its filters in the address, shows a new worker and the words of its agent by itself", async () => {
    const page = await go("#/runs?view=table&q=newcomer", "What runs?");
    await page.getByText("Nothing matches these filters.").waitFor();
    await spawn("while :; do echo 'I have just come'; sleep 1; done", { name: "newcomer" });
    await page.getByRole("row", { name: /newcomer.*I have just come/ }).waitFor();
    await page.getByRole("button", { name: "tree", exact: true }).click();
    await page.getByRole("treeitem", { name: /newcomer/ }).waitFor();
    expect(page.url()).toMatch(/view=tree/);
    expect(page.url()).toMatch(/q=newcomer/);
    await scene.ask("agent/kill", { ids: ["newcomer"] });
    await page.getByRole("treeitem", { name: /newcomer/ }).waitFor({ state: "detached" });
  });

  it("restarts and kills a supervisor with all below it", async () => {
    const page = await go("#/runs", "What runs?");
    const builders = page.getByRole("treeitem", { name: /^\W*builders/ });
    await builders.click();
    const deeds = page.getByRole("list", { name: "Deeds on builders and all below it" });
    await deeds.getByText("agent kill builders").waitFor();
    const sure = async (label: string): Promise<void> => {
      await deeds.getByRole("button", { name: label }).click();
      await page.getByRole("dialog").getByRole("button", { name: label }).click();
    };
    await sure("Kill builders");
    await builders.getByText("terminated").waitFor();
    await deeds.getByRole("button", { name: "Restart builders" }).click();
    await builders.getByText("running").waitFor();
    // The root is no supervisor of a file.
    await page.getByRole("treeitem", { name: /^\W*root/ }).click();
    expect(await page.getByRole("list", { name: /^Deeds/ }).count()).toBe(0);
  });
});

it("finds the words of agents, archives their worker, and brings it back", async () => {
  const id = await spawn("echo the quick brown zebra", { name: "storyteller" });
  await until(async () => (await scene.ask("agent/info", { id })).state === "completed");
  const page = await go("#/search", "Who said it?");
  await page.getByRole("searchbox").fill('"brown zebra"');
  await page.getByRole("button", { name: "Search" }).click();
  const hit = page.getByRole("listitem").filter({ hasText: "TextOutput" });
  await expect.poll(() => hit.locator("mark").allInnerTexts()).toContain("zebra");
  await page.getByText("agent search '\"brown zebra\"'").waitFor();
  await hit.getByRole("link", { name: "storyteller" }).click();
  await page.getByText("agent archive storyteller", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Bring back" }).waitFor();
  await go("#/runs?ended=yes&view=table&q=storyteller", "What runs?");
  await page.getByText("Nothing matches these filters.").waitFor();
  await page.getByLabel("archived").check();
  await page.getByText("agent list --archived").waitFor();
  await page.getByRole("link", { name: "storyteller" }).click();
  await page.getByRole("button", { name: "Bring back" }).click();
  await page.getByRole("button", { name: "Archive" }).waitFor();
});

describe("the page of questions", () => {
  it("tells them in words and numbers, and an answer is the token's", async () => {
    const page = await go("#/waiting", "What waits for me?");
    const card = page.getByRole("article").filter({ hasText: "fix-login" });
    await card.getByText(/agent answer \w+ allow/).waitFor();
    await expect.poll(() => page.title()).toBe("(3) Holdfast");
    expect(await page.locator('[aria-live="polite"]').innerText()).toMatch(
      /^3 questions wait for you\. \d+ workers/,
    );
    await card.getByRole("button", { name: "Allow" }).click();
    // It asks for the next tool then.
    await card
      .getByText(/git status/i)
      .first()
      .waitFor();
    await card.getByRole("button", { name: "Deny" }).click();
    await card.waitFor({ state: "detached" });
    const { records } = await scene.ask("agent/why", { id: scene.ids["fix-login"] });
    expect(JSON.stringify(records)).toContain('"by":"user:dashboard"');
  });

  it("asks before an answer that ends something", async () => {
    const page = await go("#/waiting", "What waits for me?");
    const card = page.getByRole("article").filter({ hasText: "spender" });
    await card.getByRole("button", { name: "Stop" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("agent answer").waitFor();
    await dialog.getByRole("button", { name: "Leave it" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(await card.count()).toBe(1);
    await card.getByRole("button", { name: "Stop" }).click();
    await dialog.getByRole("button", { name: "Stop" }).click();
    await card.waitFor({ state: "detached" });
  });
});

describe("the page of one worker", () => {
  const deed = (page: Page, label: string) => page.getByRole("button", { name: label, exact: true });

  it("pauses, unpauses, restarts and kills, each beside its command", async () => {
    const id = await spawn("exec sleep 1000", { name: "obedient" });
    const page = await go(`#/worker/${id}`, "obedient");
    for (const command of ["pause", "restart", "kill"])
      await page.getByText(`agent ${command} obedient`).waitFor();
    const state = page.locator("header.title .state");
    await deed(page, "Pause").click();
    await state.getByText("paused").waitFor();
    await deed(page, "Unpause").click();
    await state.getByText("running").waitFor();
    await deed(page, "Restart").click();
    await page.getByRole("dialog").getByRole("button", { name: "Restart" }).click();
    await expect.poll(async () => (await scene.ask("agent/info", { id })).incarnation).toBe(2);
    await state.getByText("running").waitFor();
    await deed(page, "Kill").click();
    await page.getByRole("dialog").getByRole("button", { name: "Kill" }).click();
    await state.getByText("cancelled").waitFor();
    expect(await page.getByRole("button", { name: "Kill", exact: true }).count()).toBe(0);
  });

  it("tells its story, and what led to what", async () => {
    const page = await go(`#/worker/${scene.ids["release-notes"]}`, "release-notes");
    await page.getByText("1 run, 1 turn, 2 tool calls").waitFor();
    await page.getByRole("button", { name: /asks to use Edit/ }).click();
    const detail = page.getByRole("complementary", { name: "The chosen record" });
    await detail.getByText(/"tool": "Edit"/).waitFor();
    await detail.getByRole("button", { name: /approval_answered/ }).click();
    await detail.getByRole("heading", { name: /approval_answered/ }).waitFor();
    await detail.getByText(/"decision": "allow"/).waitFor();
  });

  it.each([
    ["output", "Done: notes.txt has the change."],
    ["why", "transient: not restarted"],
    ["changes", "notes.txt"],
    ["usage", "claude-sonnet-4-5"],
    ["messages", "acknowledged"],
  ])("has its %s", async (name, words) => {
    const page = await go(`#/worker/${scene.ids["release-notes"]}?tab=${name}`, "release-notes");
    await page
      .getByRole("region", { name: new RegExp(name, "i") })
      .getByText(words)
      .first()
      .waitFor();
  });

  it("sends a message to an agent that listens", async () => {
    const page = await go(`#/worker/${scene.ids.reviewer}?tab=messages`, "reviewer");
    await page.getByLabel("A message to the agent").fill("Is it fast?");
    await page.getByText("agent send reviewer 'Is it fast?'").waitFor();
    await deed(page, "Send").click();
    await until(async () =>
      String((await scene.ask("agent/output", { id: "reviewer" })).text).includes("You asked: Is it fast?"),
    );
  });
});

it("the other pages answer their questions", async () => {
  const cost = await go("#/cost?by=model", "What does it cost?");
  await cost.getByRole("rowheader", { name: "claude-sonnet-4-5" }).waitFor();
  const health = await go("#/health", "Is it well?");
  await health.getByText(/\d+ live, \d+ on record/).waitFor();
  await scene.ask("board/add", { cards: [{ id: "GH-1", title: "Mend the login" }] });
  await health.getByRole("link", { name: "Board" }).click();
  await health.getByRole("region", { name: "Todo" }).getByText("Mend the login").waitFor();
  await health.getByRole("link", { name: "Jobs" }).click();
  await health.getByRole("heading", { name: "Jobs" }).waitFor();
});

const ALREADY_THERE = "void 0";
const COLOURS = ["color-contrast", "link-in-text-block"];
const PAGES = [
  ...["#/waiting", "#/runs", "#/runs?view=table", "#/search?q=modules", "#/cost", "#/health"],
  ...["#/board", "#/jobs"],
];

describe("everybody", () => {
  it("can use every page, in the light and in the dark theme", async () => {
    const { page } = await openTab(browser, { reducedMotion: "reduce" });
    const look = async (where: string): Promise<void> => {
      // A page has the same elements in both themes: the second look is at its colours.
      const looks = {
        light: new AxeBuilder({ page }),
        dark: new AxeBuilder({ page, axeSource: ALREADY_THERE }).withRules(COLOURS),
      };
      for (const [colorScheme, builder] of Object.entries(looks)) {
        await page.emulateMedia({ colorScheme: colorScheme as "light" | "dark" });
        const { violations } = await builder.setLegacyMode(true).analyze();
        const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(" ")}`);
        expect(found, `${where}, ${colorScheme}`).toEqual([]);
      }
    };
    await page.goto(scene.url);
    await page.getByLabel("Or a token of yours").waitFor();
    await look("login");
    await login(page);
    const tabs = ["story", "output", "why", "changes", "usage", "messages"].map(
      (name) => `#/worker/${scene.ids["release-notes"]}?tab=${name}`,
    );
    for (const where of [...PAGES, ...tabs]) {
      await page.goto(`${scene.url}/${where}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading…").waitFor({ state: "detached" });
      await look(where);
    }
    await page.context().close();
  });

  it.each([360, 720])("sees every page whole at %s pixels, as at 200 % zoom", async (width) => {
    const { page } = await openTab(browser, { viewport: { width, height: 740 } });
    await login(page);
    for (const where of [...PAGES, `#/worker/${scene.ids["release-notes"]}`]) {
      await page.goto(`${scene.url}/${where}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      const over = await page.evaluate("document.documentElement.scrollWidth - innerWidth");
      expect([where, over]).toEqual([where, 0]);
    }
    await page.context().close();
  });
});

describe("an enemy", () => {
  const HOSTILE = `<img src=x onerror="window.hit=1"><script>window.hit=1</script>`;
  const ESCAPES = "\u001b]0;owned\u0007\u001b[31mred\u202e\u0000";

  it("runs nothing and breaks nothing, through any field of any record", async () => {
    const { page, complaints } = await openTab(browser);
    await login(page);
    const text = `${HOSTILE}${ESCAPES}`.replace("\u0000", "");
    const argv = ["sh", "-c", 'printf "%s\\n" "$1"; printf "%s\\n" "$1" >&2; exec sleep 1000', "sh", text];
    const id = await spawn("", { argv, name: "enemy", labels: { [HOSTILE.slice(0, 40)]: HOSTILE } });
    await scene.ask("board/add", { cards: [{ id: "<img>", title: text, body: text, labels: [HOSTILE] }] });
    // A pause stops a program that has not printed yet.
    await until(async () => String((await scene.ask("agent/output", { id })).text).includes("onerror"));
    await scene.ask("agent/pause", { ids: [id], reason: text });
    const tabs = ["story", "output", "why", "changes", "usage", "messages"].map(
      (name) => `#/worker/${id}?tab=${name}`,
    );
    const look = async (where: string): Promise<void> => {
      await page.goto(`${scene.url}/${where}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByText("Loading…").waitFor({ state: "detached" });
      const found = await page.evaluate(
        "[window.hit, document.images.length, /[\\x00-\\x08\\x0e-\\x1f\\u202e]/.test(document.body.innerText)]",
      );
      expect([where, found]).toEqual([where, [undefined, 0, false]]);
    };
    await page.goto(`${scene.url}/#/worker/${id}?tab=output`);
    await page.getByText(HOSTILE).first().waitFor();
    for (const where of [
      ...PAGES,
      ...tabs,
      `#/worker/${encodeURIComponent(HOSTILE)}`,
      `#/runs?q=${encodeURIComponent(text)}`,
      `#/search?q=onerror`,
    ])
      await look(where);
    await scene.ask("agent/kill", { ids: [id], reason: text });
    await look(`#/worker/${id}`);
    expect(complaints).toEqual([]);
    await page.context().close();
  });
});

it("shows every record once after the daemon was killed and started again", async () => {
  const id = await spawn("for n in $(seq 1 60); do echo line $n; sleep 0.1; done", { name: "counter" });
  const page = await go(`#/worker/${id}`, "counter");
  await page.getByRole("button", { name: "line 3", exact: false }).first().waitFor();
  await scene.commands.killDaemon();
  await page.getByText("daemon lost, trying again").waitFor();
  await scene.commands.agent("daemon", "start", `--http=${new URL(scene.url).port}`);
  await page.getByLabel("every record").check();
  await page.locator("header.title .state").getByText("completed").waitFor();
  const response = await fetch(`${scene.url}/api/events?follow=false&after=0&ids=${id}`, {
    headers: { authorization: `Bearer ${scene.secret}` },
  });
  const onRecord = [...(await response.text()).matchAll(/^data: \{"seq":(\d+)/gm)].length;
  expect(onRecord).toBeGreaterThan(60);
  await page.getByText(`${onRecord} of ${onRecord} records here`).waitFor();
});

it("never complained", () => expect(tab.complaints).toEqual([]));
