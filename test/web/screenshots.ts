/** `npm run screenshots`: the pictures of docs/images, of the fleet that the tests look at. A test run leaves them alone. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launchBrowser, openTab } from "./support/browser.ts";
import { makeScene } from "./support/scene.ts";

const PICTURE_MAX_BYTES = 100 * 1024;
const images = join(import.meta.dirname, "../../docs/images");

const scene = await makeScene();
const browser = await launchBrowser();
try {
  mkdirSync(images, { recursive: true });
  const pictures = [["waiting", "light", "#/waiting", { name: "Answers" }]] as const;
  for (const [name, colorScheme, where, shown] of pictures) {
    const { page } = await openTab(browser, { colorScheme, viewport: { width: 1100, height: 620 } });
    await page.goto(`${scene.url}/#token=${scene.secret}`);
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.goto(`${scene.url}/${where}`);
    await page.getByLabel(shown.name).first().waitFor();
    await page.getByRole("link", { name: "Jobs" }).waitFor();
    const bytes = await page.screenshot({ animations: "disabled" });
    if (bytes.length > PICTURE_MAX_BYTES) throw new Error(`dashboard-${name}.png has ${bytes.length} bytes.`);
    writeFileSync(join(images, `dashboard-${name}.png`), bytes);
  }
} finally {
  await browser.close();
  await scene.close();
}
