/** MCP servers in `config.yaml`, whose tools an agent of kind `llm` may have. No secret stands there, only where it is. */
import * as z from "zod";
import { VARIABLE_NAME } from "../base/environment.ts";
import { MCP_ARGS_MAX, MCP_SERVERS_MAX, MCP_TOOLS_MAX } from "../base/limits.ts";
import { MCP_NAME_FORM } from "./forms.ts";
import { HttpUrl, SecretReference } from "./providers.ts";
import { McpHeaders } from "./spawn-mcp.ts";

const word = z
  .string()
  .min(1)
  .max(4_096)
  .refine((text) => !text.includes("\0"), "it has a NUL character");

const Common = {
  /**
   * Its hints are believed: a tool with `readOnlyHint` needs no permission, and one with `idempotentHint` runs again after a
   * crash. Without this every tool counts as one that may change anything.
   */
  trusted: z.boolean().default(false),
  /** The tools that are offered, by name; `*` stands for anything. Without it: all. */
  tools: z.array(z.string().min(1).max(128)).min(1).max(MCP_TOOLS_MAX).optional(),
};

const McpProgram = z.strictObject({
  /** The program and its arguments. */
  command: z.array(word).min(1).max(MCP_ARGS_MAX),
  /** Its variables: a value, `@env:NAME` or `@file:PATH`. Beside them it has HOME, PATH and a few like them, and none of the agent's keys. */
  env: z.record(z.string().regex(VARIABLE_NAME, "it is no name of a variable"), z.string()).default({}),
  ...Common,
});

const McpAddress = z.strictObject({
  url: HttpUrl,
  /** Sent as `Authorization: Bearer`. */
  token: SecretReference.optional(),
  /** Sent with each request: a value, or a reference to a secret, perhaps after a word: `Bearer @env:NAME`. */
  headers: McpHeaders.optional(),
  ...Common,
});

const McpServer = z.union([McpProgram, McpAddress]);
export type McpServer = z.infer<typeof McpServer>;
export const McpServers = z
  .record(z.string().regex(MCP_NAME_FORM, "the name of a server is in a-z, 0-9 and hyphens"), McpServer)
  .refine(
    (all) => Object.keys(all).length <= MCP_SERVERS_MAX,
    `there are at most ${MCP_SERVERS_MAX} servers`,
  );
