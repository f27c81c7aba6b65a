/** argv to an exit code: help, schemas and completion, else a call. Handlers are thin and never see an envelope. */
import { paintFor } from "./choices.ts";
import { type Env, type Streams, stateDirOf } from "./context.ts";
import { execute } from "./execute.ts";
import { CHECKS } from "./handlers.ts";
import { parse } from "./parse.ts";

/** `started` is when the process began, in milliseconds of `performance.now()`. */
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
    await streams.stdout(`${help(parsed.words, paint, streams.columns)}\n`);
    return 0;
  }
  const { call } = parsed;
  if (call.flags.schema && !call.unknown && call.problems.length === 0) {
    const { schemasOf } = await import("./manifest.ts");
    await streams.stdout(`${JSON.stringify(schemasOf(call.command), null, 2)}\n`);
    return 0;
  }
  return execute(call, streams, env, started);
};

/** Prints candidates, one `WORD<TAB>what` a line; no daemon is started for it, and nothing is ever an error. */
const complete = async (words: readonly string[], streams: Streams, env: Env): Promise<number> => {
  const [{ candidates }, { connectDaemon }, { makeClient }] = await Promise.all([
    import("./completion.ts"),
    import("../daemon/connect.ts"),
    import("./client.ts"),
  ]);
  const typed = words.indexOf("--state-dir") + 1;
  const stateDir = stateDirOf(typed > 0 ? { "state-dir": words[typed] } : {}, env, process.cwd());
  const workers = async (all: boolean) => {
    const client = makeClient(await connectDaemon({ stateDir, env }));
    return (await client.request("agent/list", { all }).finally(client.close)).workers;
  };
  const found = await candidates(words, workers).catch(() => []);
  if (found.length > 0) await streams.stdout(found.map(([word, what]) => `${word}\t${what}\n`).join(""));
  return 0;
};
