/** Looks whether an agent could use its providers and servers: each key is read, each server is started and ended again. */
import { ENGINE_CHECK_SERVER_MS } from "../base/limits.ts";
import type { EngineFindings, EngineGround } from "../protocol/engine-lines.ts";
import { asHoldfastError } from "../protocol/errors.ts";
import { type Secrets, secretOf } from "./secrets.ts";
import { mcpTools } from "./tools/mcp/source.ts";

const BOUNDS = { connect_ms: ENGINE_CHECK_SERVER_MS, call_ms: ENGINE_CHECK_SERVER_MS };

const sentenceOf = (cause: unknown): string => asHoldfastError(cause).message;

/** `cwd`: the directory in which servers are started. No request is sent to a provider. */
export const checkGround = async (
  { providers, mcp }: EngineGround,
  secrets: Secrets,
  cwd: string,
): Promise<EngineFindings> => {
  const keys = Object.entries(providers).map(async ([name, { key }]) =>
    key === undefined
      ? []
      : secretOf(key, `the provider ${name}`, secrets).then(
          () => [],
          (cause) => [sentenceOf(cause)],
        ),
  );
  const servers = Object.entries(mcp).map(async ([name, server]) => {
    const source = mcpTools({ name, server, cwd, secrets, bounds: BOUNDS });
    try {
      return { tools: (await source.list()).length, problems: [] };
    } catch (cause) {
      return { tools: 0, problems: [sentenceOf(cause)] };
    } finally {
      await source.close();
    }
  });
  const found = await Promise.all(servers);
  return {
    keys: (await Promise.all(keys)).flat(),
    servers: found.flatMap(({ problems }) => problems),
    tools: found.reduce((sum, { tools }) => sum + tools, 0),
  };
};
