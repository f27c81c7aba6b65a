/** Has the engine's own program look whether its agents could use the providers and MCP servers of the configuration. */
import { execFile } from "node:child_process";
import { engineArguments } from "../adapters/kinds/llm/program.ts";
import { ENGINE_CHECK_MS, REPLY_MAX_BYTES } from "../base/limits.ts";
import type { EngineFindings, EngineGround } from "../protocol/engine-lines.ts";

/** Rejects if the program fails, or has no answer within ENGINE_CHECK_MS. */
export const checkEngine = (
  ground: EngineGround,
  env: Readonly<Record<string, string | undefined>>,
): Promise<EngineFindings> => {
  const [program = "", ...words] = engineArguments();
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      [...words, "--check"],
      { env: { ...env }, timeout: ENGINE_CHECK_MS, maxBuffer: REPLY_MAX_BYTES },
      (cause, stdout) => (cause === null ? resolve(JSON.parse(stdout) as EngineFindings) : reject(cause)),
    );
    // A program that ended early is told by its exit.
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(`${JSON.stringify(ground)}\n`);
  });
};
