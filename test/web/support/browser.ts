/** A real Chromium, which its package brings along. */
import bundled from "@sparticuz/chromium";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";

/** Arguments that take away what the tests are about, or let the browser die with one of its tabs. */
const UNWANTED = /web-security|insecure-content|site-isolation|IsolateOrigins|single-process|no-zygote/;

export const launchBrowser = async (): Promise<Browser> =>
  chromium.launch({
    executablePath: await bundled.executablePath(),
    args: bundled.args.filter((arg) => !UNWANTED.test(arg)),
    headless: true,
  });

export interface Tab {
  readonly page: Page;
  /** Errors of the page, violations of its policy, and dialogs that something opened. */
  readonly complaints: string[];
}

export const openTab = async (browser: Browser, options: BrowserContextOptions = {}): Promise<Tab> => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) complaints.push(message.text());
  });
  return { page, complaints };
};
