/** Takes argv to an exit code: help, schemas and completion, else a call. Handlers are thin and never see an envelope. */
import { success } from "../protocol/outcome.ts";
import { askedMode, generationOf, modeOf, paintFor } from "./choices.ts";
import { type Env, type Streams, stateDirOf } from "./context.ts";
import { withDefaults } from "./defaults/apply.ts";
import { execute, newRequestId } from "./execute.ts";
import { CHECKS } from "./handlers.ts";
import { placeOf, withHosts } from "./hosts.ts";
import { type Call, parse } from "./parse.ts";
import { jsonRenderer } from "./render/json.ts";
import { ndjsonRenderer } from "./render/ndjson.ts";

/** `started`: when the process began, in milliseconds of `performance.now()`. */
export const run = async (
  argv: readonly string[],
  streams: Streams,
  env: Env,
  started: number,
): Promise<number> => {
  if (argv[0] === "__complete") return complete(argv.slice(1), streams, env);
  const parsed = parse(argv, CHECKS);
  if (parsed.kind === "help") {
    const { help } = await import("./help.ts");
    const paint = paintFor(parsed.flags, env, streams.isStdoutTerminal);
    const text = help(parsed.words, paint, streams.columns) ?? "";
    await streams.stdout(inMode("agent/help", { text }, `${text}\n`, parsed.flags, env, started));
    return 0;
  }
  const call = await withHosts({ ...parsed.call, typed: argv }, stateDirOf({}, env, process.cwd()), env);
  if (call.flags.schema && !call.unknown && call.problems.length === 0) {
    const { schemasOf } = await import("./manifest.ts");
    const schemas = schemasOf(call.command);
    const bare = `${JSON.stringify(schemas, null, 2)}\n`;
    await streams.stdout(inMode("agent/schema", schemas, bare, call.flags, env, started));
    return 0;
  }
  const host = placeOf(call);
  if (host !== undefined) {
    const { runThere } = await import("./run-there.ts");
    const given = call.flags.output !== undefined;
    const mode = modeOf(call.command.command, call.flags, env, streams.isStdoutTerminal);
    const ended = await runThere(host, call, given ? undefined : mode);
    return typeof ended === "number" ? ended : execute({ ...call, unknown: ended }, streams, env, started);
  }
  const place = { env, stateDir: stateDirOf(call.flags, env, process.cwd()), cwd: process.cwd() };
  return execute(await withDefaults(call, place), streams, env, started);
};

/** Help and schemas are printed plain, unless a flag or HOLDFAST_OUTPUT asks for an envelope: stdout then has only envelopes. */
const inMode = (
  command: string,
  value: object,
  plain: string,
  flags: Call["flags"],
  env: Env,
  started: number,
): string => {
  const mode = askedMode(flags, env);
  if (mode === undefined || mode === "text") return plain;
  const request_id = newRequestId();
  const renderer =
    mode === "json"
      ? jsonRenderer({ generation: generationOf(flags, env), validate: env.HOLDFAST_VALIDATE === "1" })
      : ndjsonRenderer(command, request_id, started);
  const duration_ms = Math.round(performance.now() - started);
  return renderer.end({ command: { command }, outcome: success(value), exit: 0, duration_ms, request_id })
    .stdout;
};

/** Prints candidates, one `WORD<TAB>meaning` a line. It never starts a daemon and never reports an error. */
const complete = async (words: readonly string[], streams: Streams, env: Env): Promise<number> => {
  const [{ candidates }, { connectDaemon }, { makeClient }] = await Promise.all([
    import("./completion.ts"),
    import("../daemon/connect.ts"),
    import("../daemon/client.ts"),
  ]);
  const typed = words.indexOf("--state-dir") + 1;
  const stateDir = stateDirOf(typed > 0 ? { "state-dir": words[typed] } : {}, env, process.cwd());
  const workers = async (all: boolean) => {
    const client = makeClient(await connectDaemon({ stateDir, env }));
    return (await client.request("agent/list", { all }).finally(() => client.close())).workers;
  };
  const found = await candidates(words, workers).catch(() => []);
  if (found.length > 0) await streams.stdout(found.map(([word, what]) => `${word}\t${what}\n`).join(""));
  return 0;
};
