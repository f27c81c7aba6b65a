/** agent db …: the event log. The daemon does the work or, if none runs, this process. */
import { existsSync } from "node:fs";
import { formatSize } from "../../base/durations.ts";
import { RETENTION_DEFAULT_MS, RETENTION_SIZE_MIN_BYTES, WATCHER_CHUNK_CHARS } from "../../base/limits.ts";
import type { Client } from "../../daemon/client.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { success } from "../../protocol/outcome.ts";
import type { CommandHandler, Context } from "../context.ts";
import { VERSION } from "../package.ts";
import type { Call } from "../parse.ts";
import { isDown } from "./daemon.ts";

const offline = () => import("../../daemon/offline.ts");

/** If the daemon cannot start because of its log, only this process can do the work. */
const asked = async <A>(
  context: Context,
  ofDaemon: (client: Client) => Promise<A>,
  here: () => Promise<A>,
  changes = true,
): Promise<A> => {
  const client = await context.connect().catch((cause) => {
    // If no daemon ever ran here, there is no log to change.
    if (isDown(cause) && (!changes || existsSync(context.stateDir))) return undefined;
    throw cause;
  });
  return client === undefined ? here() : ofDaemon(client);
};

export const check: CommandHandler = async (context) => {
  const done = context.progress("checking the log");
  const report = await asked(
    context,
    (client) => client.request("db/check", {}),
    async () => (await offline()).check(context.stateDir),
    false,
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

export const rebuild: CommandHandler = async (context) => {
  const done = context.progress("folding the log");
  const report = await asked(
    context,
    (client) => client.request("db/rebuild", {}),
    async () => (await offline()).rebuild(context.stateDir, VERSION),
  ).finally(done);
  return success({ ...report, effect: "updated" });
};

export const gcProblems = ({ flags }: Call): readonly string[] => {
  const problems: string[] = [];
  if (flags.vacuum && flags["dry-run"]) problems.push("--vacuum and --dry-run do not go together");
  if (((flags["max-size"] as number | undefined) ?? RETENTION_SIZE_MIN_BYTES) < RETENTION_SIZE_MIN_BYTES)
    problems.push(`--max-size is ${formatSize(RETENTION_SIZE_MIN_BYTES)} or more`);
  return problems;
};

/** --vacuum blocks the writer for as long as the log is long. */
const refuseVacuum = (): never => {
  throw new HoldfastError(
    "INVALID_STATE",
    "A daemon runs, and --vacuum would hold it up: nothing was done.",
    {
      suggestion:
        "agent daemon stop --keep-agents && agent db gc --vacuum && agent daemon start; agents keep running.",
    },
  );
};

export const gc: CommandHandler = async (context) => {
  const { flags, stateDir } = context;
  const done = context.progress("moving old output to archives");
  const older_than_ms = flags["older-than"] as number | undefined;
  const max_bytes = flags["max-size"] as number | undefined;
  const how = { max_bytes, dry_run: flags["dry-run"] === true, archive: flags["no-archive"] !== true };
  const report = await asked(
    context,
    (client) => (flags.vacuum ? refuseVacuum() : client.request("db/gc", { older_than_ms, ...how })),
    async () => {
      const { gc: collect, vacuum } = await offline();
      const before_ms = Date.now() - (older_than_ms ?? RETENTION_DEFAULT_MS);
      const collected = await collect(stateDir, VERSION, { before_ms, ...how });
      return flags.vacuum ? vacuum(stateDir, VERSION, collected) : collected;
    },
  ).finally(done);
  return success({
    ...report,
    effect: report.records === 0 ? "noop" : how.dry_run ? "would_delete" : "deleted",
  });
};

export const exportProblems = ({ flags }: Call): readonly string[] => {
  const { from = 1, to = Number.MAX_SAFE_INTEGER } = flags as { from?: number; to?: number };
  if (flags.format === "v2" && flags.from !== undefined)
    return ["--format v2 has whole streams: it takes --to, and no --from"];
  if (flags.heartbeats === true && flags.format !== "v2")
    return ["--heartbeats goes with --format v2: records of the log have no heartbeats"];
  return from > to ? [`--from ${from} is after --to ${to}: there is nothing between them`] : [];
};

/** This process reads the log beside the daemon, so that a long export does not burden the daemon. */
export const exportLog: CommandHandler = async (context) => {
  const { from = 1, to = Number.MAX_SAFE_INTEGER } = context.flags as { from?: number; to?: number };
  const { exported, exportedEvents } = await offline();
  const { stateDir, flags, env } = context;
  const isTest = env.HOLDFAST_VALIDATE === "1";
  const how = { isTest, heartbeats: flags.heartbeats === true };
  const lines = flags.format === "v2" ? exportedEvents(stateDir, to, how) : exported(stateDir, from, to);
  let [records, waiting] = [0, ""];
  for (const line of lines) {
    records++;
    if (context.mode !== "text") await context.record(JSON.parse(line));
    else waiting += `${line}\n`;
    if (waiting.length < WATCHER_CHUNK_CHARS) continue;
    await context.stdout(waiting);
    waiting = "";
  }
  if (waiting !== "") await context.stdout(waiting);
  return success({ records });
};
