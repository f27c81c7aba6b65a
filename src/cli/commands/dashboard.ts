/** agent dashboard: an address that opens it in a browser; that of one daemon, or with `--host` one that the command serves. */
import { rmSync } from "node:fs";
import { resolve } from "node:path";
import { DASHBOARD_TOKEN_MS } from "../../base/limits.ts";
import { success } from "../../protocol/outcome.ts";
import { newTokenSecret } from "../../protocol/token.ts";
import type { CommandHandler } from "../context.ts";
import { VERSION } from "../package.ts";
import type { Call } from "../parse.ts";
import { servedUrl } from "./daemon.ts";
import { DashboardLink } from "./dashboard-link.ts";
import { writePrivate } from "./private-file.ts";
import { made, refuseWithoutFile } from "./tokens.ts";

/** Digits that tell the tokens of several browsers apart. */
const NAME_DIGITS = 6;

/** A browser reaches a daemon that listens on every address of this machine by the machine's own one. */
const visited = (url: string): string =>
  url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");

/** The page of the hosts of `--host`, until the command is stopped. */
const overHosts: CommandHandler = async (context) => {
  const { flags, cwd, call, cleanups } = context;
  const { serveHosts } = await import("../../daemon/http/over-hosts.ts");
  const served = await serveHosts({
    hosts: (call.hosts ?? []).map((host) => new DashboardLink(host, () => context.connectTo(host))),
    secret: newTokenSecret(),
    version: VERSION,
  });
  cleanups.push(served.close);
  const address = `${served.address}\n`;
  if (flags.to === undefined) await context.stdout(address);
  else {
    const file = resolve(cwd, flags.to as string);
    writePrivate(file, Buffer.from(address), { flag: "--to", command: "dashboard" });
    cleanups.push(() => rmSync(file, { force: true }));
  }
  context.notice("The dashboard is open until this command ends: Ctrl-C.");
  context.onInterrupt = { sentence: "The hosts and their workers go on." };
  return new Promise(() => undefined);
};

/** Made for a daemon's dashboard alone: that over hosts ends with its command. */
export const dashboardProblems = ({ flags, hosts = [] }: Call): readonly string[] =>
  hosts.length > 0 && flags.expires !== undefined
    ? ["--expires is for the dashboard of one daemon; with --host it is open until the command ends"]
    : [];

export const dashboard: CommandHandler = async (context) => {
  refuseWithoutFile(context);
  if (context.call.hosts !== undefined) return overHosts(context);
  const client = await context.connect();
  const url = `${visited(servedUrl(await client.request("daemon/status", {})))}/`;
  const expires_ms = (context.flags.expires as number | undefined) ?? DASHBOARD_TOKEN_MS;
  // Digits of a secret that nobody gets.
  const name = `dashboard-${newTokenSecret().slice(-NAME_DIGITS)}`;
  // A browser sends the fragment of an address to no server.
  const reply = await made(context, client, { name, expires_ms }, (secret) => `${url}#token=${secret}`);
  if (reply.file === null)
    context.hint(`It is shown this once. To shut it: agent token revoke ${reply.name}`, "after");
  return success({ ...reply, url });
};
