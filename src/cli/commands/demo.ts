/**
 * agent demo: three scripted agents. The first crashes and is restarted, the daemon itself is killed, and one agent ignores
 * TERM and hides a child. Everything, with the decisions, is shown live in under 15 s.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clientEnvironment } from "../../base/environment.ts";
import { PROGRAM_KIND } from "../../commands/kinds.ts";
import { isAlive } from "../../daemon/daemon-file.ts";
import { success } from "../../protocol/outcome.ts";
import type { LogRecord } from "../../protocol/records.ts";
import type { WorkerSpecInput } from "../../protocol/worker.ts";
import type { CommandHandler, Context } from "../context.ts";
import { renderText } from "../render/text.ts";
import { type DemoContext, openStage } from "./demo-stage.ts";
import { typedName } from "./programs.ts";

/** Run 1 of builder crashes. The mule ignores TERM and hides its child in a session of its own. */
const SCRIPTS = {
  scout: `echo "watching the queue"
while :; do sleep 2; echo "the queue is quiet"; done`,
  builder: `case "\${HOLDFAST_RUN##*/}" in
1) echo "compiling 42 modules"; sleep 1; echo "out of memory in module 7"; exit 3 ;;
*) echo "compiling again, with fewer workers"; sleep 1; echo "built; 128 tests pass" ;;
esac`,
  mule: `trap "" TERM
if command -v setsid >/dev/null; then setsid sleep 600 & else sleep 600 & fi
echo "I ignore TERM, and I have hidden a child"
while :; do sleep 1; done`,
};

/** Starts a script as a worker and returns its id. */
const start = async (
  context: Context,
  stage: DemoContext,
  name: keyof typeof SCRIPTS,
  restart: WorkerSpecInput["restart"],
): Promise<string> => {
  const script = `${name}.sh`;
  await writeFile(join(stage.stateDir, script), SCRIPTS[name]);
  const spec: WorkerSpecInput = {
    kind: PROGRAM_KIND,
    name,
    argv: ["sh", script],
    cwd: stage.stateDir,
    client_env: clientEnvironment(context.env, []),
    restart,
    grace_ms: 1_000,
    backoff_min_ms: 1_000,
    backoff_max_ms: 1_000,
  };
  const { id } = await stage.client().request("agent/spawn", { spec });
  context.know(id, name);
  return id;
};

const isOf =
  (id: string, type: LogRecord["type"], incarnation?: number) =>
  (record: LogRecord): boolean =>
    record.type === type &&
    record.worker_id === id &&
    (incarnation === undefined || record.incarnation === incarnation);

const crashAndComeBack = async (context: Context, stage: DemoContext): Promise<string> => {
  const scout = await start(context, stage, "scout", "permanent");
  const builder = await start(context, stage, "builder", "transient");
  await stage.seen("the second run of builder to complete", isOf(builder, "worker_completed", 2));
  return scout;
};

const killTheDaemon = async (stage: DemoContext, scout: string): Promise<void> => {
  await stage.killDaemon();
  await stage.seen("the new daemon to take scout over", isOf(scout, "worker_adopted"));
};

const stopTheStubborn = async (context: Context, stage: DemoContext, scout: string): Promise<void> => {
  const mule = await start(context, stage, "mule", "permanent");
  await stage.seen("mule to speak", isOf(mule, "agent.event"));
  await stage.client().request("agent/kill", { ids: [mule, scout], reason: "end of the demo" });
  for (const id of [mule, scout]) await stage.seen("their end", isOf(id, "worker_ended"));
};

interface Tally {
  readonly records: number;
  readonly started: number;
  readonly exited: number;
  readonly restarts: number;
  /** The number of seqs that are missing between the records. */
  readonly gaps: number;
  /** Processes that still carry the marker of this state directory, or have a pid of the log. */
  readonly left_behind: number;
}

export const tally = (
  records: readonly LogRecord[],
  marked: readonly number[],
  alive: (pid: number) => boolean,
): Tally => {
  const started = records.filter((record) => record.type === "worker_spawned");
  const count = (type: LogRecord["type"]): number => records.filter((record) => record.type === type).length;
  const left = new Set([...marked, ...started.flatMap((record) => record.payload.pid ?? []).filter(alive)]);
  return {
    records: records.length,
    gaps: (records.at(-1)?.seq ?? 0) - records.length,
    started: started.length,
    exited: count("worker_exited"),
    restarts: count("worker_restart_scheduled"),
    left_behind: left.size,
  };
};

const NEXT: readonly (readonly [string, string])[] = [
  ["spawn --name hello --watch -- sh -c 'echo hello; sleep 2'", "supervise a command"],
  ["spawn claude 'explain this repository' --watch", "supervise an agent"],
  ["list --all", "see the fleet"],
  ["doctor", "see what this machine has"],
];

const closingWords = ({ paint, env, cwd }: Context, result: Tally): string => {
  const name = typedName(env, cwd);
  const fact = (value: number, what: string, isGood: boolean): string =>
    `  ${paint(isGood ? "good" : "bad", String(value).padStart(3))}  ${what}`;
  return [
    fact(result.started, "processes started", true),
    fact(result.exited, "exits known", result.exited === result.started),
    fact(
      result.restarts,
      result.restarts === 1 ? "restart, decided by the supervisor" : "restarts, decided by the supervisor",
      true,
    ),
    fact(result.records, "records in the log, over the crash of the daemon", true),
    fact(result.gaps, "records missing", result.gaps === 0),
    fact(result.left_behind, "processes left behind", result.left_behind === 0),
    "",
    paint("bold", "Try next"),
    ...NEXT.map(([rest, what]) => `  ${paint("name", `${name} ${rest}`.padEnd(64))}  ${paint("dim", what)}`),
  ].join("\n");
};

export const demo: CommandHandler = async (context) => {
  const { paint } = context;
  const say = (text: string): void | Promise<void> =>
    context.mode === "text" ? context.stdout(`${text}\n`) : undefined;
  const step = (title: string, why: string) => say(`\n${paint("bold", title)} ${why}`);

  await say(
    `${paint("bold", "Holdfast")} supervises three scripted agents, under a daemon and a state directory of their own.`,
  );
  const stage = await openStage(context);
  await step("1. An agent crashes.", "Its supervisor sees the exit, and starts it again.");
  const scout = await crashAndComeBack(context, stage);
  await step(
    "2. The daemon is killed with SIGKILL.",
    "Agents do not depend on it: the next daemon takes them over.",
  );
  await killTheDaemon(stage, scout);
  await step(
    "3. An agent does not want to stop.",
    "It ignores TERM and hides a child; both are found and ended.",
  );
  await stopTheStubborn(context, stage, scout);

  const result = tally(stage.records, await stage.marked(), isAlive);
  await step("Results", "");
  const fleet = await stage.client().request("agent/list", { all: true });
  const shown = {
    paint,
    flags: { all: true },
    now: Date.now(),
    terminal: context.isStdoutTerminal,
    columns: context.columns,
  };
  await say(`${renderText("agent/list", fleet, shown)}\n`);
  await say(closingWords(context, result));
  return success(result);
};
