/** agent db …: the event log; asked of the daemon, or, where none answers, done here. */
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { Client } from "../client.ts";
import type { Context, Handler } from "../context.ts";
import { VERSION } from "../package.ts";
import { isDown } from "./daemon.ts";

const offline = () => import("../../daemon/offline.ts");

/** A daemon that cannot start because of its log leaves nobody else to ask. */
const asked = async <A>(
  context: Context,
  ofDaemon: (client: Client) => Promise<A>,
  here: () => Promise<A>,
): Promise<A> => {
  const client = await context.connect().catch((cause) => {
    if (isDown(cause)) return undefined;
    throw cause;
  });
  return client === undefined ? here() : ofDaemon(client);
};

export const check: Handler = async (context) => {
  const done = context.progress("checking the log");
  const report = await asked(
    context,
    (client) => client.request("db/check", {}),
    async () => (await offline()).check(context.stateDir),
  ).finally(done);
  if (report.ok) return success(report);
  const found = report.findings.length;
  return {
    ok: false,
    value: report,
    error: new HoldfastError(
      "STORE_CORRUPT",
      `The log has ${found} ${found === 1 ? "finding" : "findings"}: ${report.findings.slice(0, 3).join("; ")}`,
      { details: { ...report } },
    ),
  };
};

export const rebuild: Handler = async (context) => {
  const done = context.progress("folding the log");
  return success(
    await asked(
      context,
      (client) => client.request("db/rebuild", {}),
      async () => (await offline()).rebuild(context.stateDir, VERSION),
    ).finally(done),
  );
};
