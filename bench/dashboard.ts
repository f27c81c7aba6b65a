/**
 * The dashboard in a real browser: the page of workers with a thousand of them, while one prints. The floor is the same page
 * while nobody prints. The browser itself tells what its page took.
 */
import { createHash, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { CDPSession, Page } from "playwright-core";
import { launchBrowser, openTab } from "../test/web/support/browser.ts";
import { type BenchDaemon, command, type Result, startDaemon } from "./support.ts";

const WORKERS = process.env.HOLDFAST_QUICK === "1" ? 50 : 1_000;
const SPAWNED_AT_ONCE = 16;
const EVENTS_PER_S = 250;
const MEASURED_MS = 15_000;
const SETTLING_MS = 5_000;
const CORE_MAX = 0.2;
const HEAP_MAX_MB = 150;

const PRINTS = `
let n = 0;
setInterval(() => process.stdout.write("line " + ++n + "\\n"), ${1_000 / EVENTS_PER_S});`;

const spawnAll = async (daemon: BenchDaemon): Promise<void> => {
  let left = WORKERS - 1;
  const some = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await daemon.request("agent/spawn", command(["sleep", "1000"]));
    }
  };
  await Promise.all(Array.from({ length: SPAWNED_AT_ONCE }, some));
};

/** The counts of the browser at this moment: seconds of its main thread, and the bytes of its heap. */
const counted = async (cdp: CDPSession) => {
  const { metrics } = await cdp.send("Performance.getMetrics");
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? Number.NaN;
  return { busy_s: of("TaskDuration"), heap: of("JSHeapUsedSize") };
};

const measured = async (cdp: CDPSession): Promise<{ readonly share: number; readonly heapMb: number }> => {
  const began = performance.now();
  const before = await counted(cdp);
  await sleep(MEASURED_MS);
  const after = await counted(cdp);
  const wall_s = (performance.now() - began) / 1_000;
  return { share: (after.busy_s - before.busy_s) / wall_s, heapMb: after.heap / 1024 ** 2 };
};

const shown = (page: Page): Promise<number> =>
  page
    .getByRole("button", { name: /running/ })
    .innerText()
    .then((text) => Number(/\d+/.exec(text)?.[0]));

export const dashboard = async (): Promise<Result> => {
  const daemon = await startDaemon({ HOLDFAST_HTTP: "0" });
  const browser = await launchBrowser();
  try {
    const secret = `hft_${randomBytes(32).toString("hex")}`;
    const sha256 = createHash("sha256").update(secret).digest("hex");
    await daemon.request("token/create", { name: "bench", sha256 });
    const { http } = await daemon.request<{ http: { url: string } }>("daemon/status", {});
    await spawnAll(daemon);
    const { page } = await openTab(browser);
    await page.goto(`${http.url}/#token=${secret}`);
    await page.getByRole("link", { name: /Running/ }).click();
    await page.getByRole("treeitem").first().waitFor();
    const cdp = await page.context().newCDPSession(page);
    await cdp.send("Performance.enable");
    await sleep(SETTLING_MS);
    const quiet = await measured(cdp);
    await daemon.request("agent/spawn", command([process.execPath, "-e", PRINTS]));
    await sleep(SETTLING_MS);
    const loud = await measured(cdp);
    const workers = await shown(page);
    const ok = loud.share <= CORE_MAX && loud.heapMb <= HEAP_MAX_MB && workers === WORKERS;
    return {
      name: `the dashboard's page of ${workers} workers at ${EVENTS_PER_S} events/s`,
      floor: `nobody prints: ${(100 * quiet.share).toFixed(1)} % of a core, ${quiet.heapMb.toFixed(0)} MB`,
      measured: `${(100 * loud.share).toFixed(1)} % of a core, ${loud.heapMb.toFixed(0)} MB of heap`,
      value: `${(100 * (loud.share - quiet.share)).toFixed(1)} % more`,
      threshold: `≤ ${100 * CORE_MAX} % of a core, ≤ ${HEAP_MAX_MB} MB`,
      ok,
    };
  } finally {
    await browser.close();
    await daemon.stop();
  }
};
