/**
 * MCP servers of one worker, in the form that the agent CLIs share: a program, or an address. Secrets are references,
 * `@env:NAME` or `@file:PATH`, also after a word: `Bearer @env:NAME`.
 */
import * as z from "zod";
import { VARIABLE_NAME } from "../base/environment.ts";
import { asObject } from "../base/json.ts";
import { MCP_ARGS_MAX, MCP_SERVERS_OF_AGENT_MAX, MCP_SPAWN_MAX_BYTES } from "../base/limits.ts";
import { isSecretName } from "../base/secrets/names.ts";
import { jsonBytes } from "./forms.ts";
import { secretIn } from "./mcp-references.ts";
import { HttpUrl } from "./providers.ts";

/** The part of the tools' names that CLIs make of it: `mcp__github__search`. */
const SERVER_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$/;
const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
/** The characters that HTTP allows in the value of a header, and no others. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const text = z.string().refine((word) => !word.includes("\0"), "has a NUL character");

const McpProgramOfWorker = z.strictObject({
  type: z.literal("stdio").optional(),
  /** A path, or a name that is searched in the agent's PATH. */
  command: text.min(1, "is empty"),
  args: z.array(text).max(MCP_ARGS_MAX).default([]),
  /** Its own variables: a value, or a reference to a secret. */
  env: z.record(z.string().regex(VARIABLE_NAME, "is no name of a variable"), text).default({}),
});

const plainSecrets = (headers: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(headers).flatMap(([name, value]) =>
    isSecretName(name) && secretIn(value) === undefined ? [name] : [],
  );

/** Headers of a request. One whose name says that it holds a secret is a reference. */
export const McpHeaders = z
  .record(
    z.string().regex(HEADER_NAME, "is no name of a header"),
    z.string().regex(HEADER_VALUE, "has a character that no header can have"),
  )
  .refine((headers) => plainSecrets(headers).length === 0, {
    error: ({ input }) =>
      `${plainSecrets(input as Readonly<Record<string, string>>).join(", ")} holds a secret: write where it is, as in Bearer @env:NAME or @file:/PATH`,
  });

const McpAddressOfWorker = z.strictObject({
  type: z.literal("http", "is http: the older sse is not supported").optional(),
  // Some CLIs replace variables in an address.
  url: HttpUrl.refine((url) => !/[${}]/.test(url), "has a $ or a brace: write it as %24, %7B or %7D"),
  headers: McpHeaders.default({}),
});

const FORMS = "a server is a command (with args and env), or a url (with headers)";

/** Names the first mistake of the form that was meant, instead of both forms. */
const whyNot = (input: unknown): string => {
  const given = asObject(input);
  const hasUrl = given !== undefined && "url" in given;
  if (given === undefined || hasUrl === "command" in given) return FORMS;
  const issue = (hasUrl ? McpAddressOfWorker : McpProgramOfWorker).safeParse(given).error?.issues[0];
  return issue === undefined ? FORMS : `${issue.path.join(".")} ${issue.message}`.trim();
};

const WorkerMcpServer = z.union([McpProgramOfWorker, McpAddressOfWorker], {
  error: ({ input }) => whyNot(input),
});
export type WorkerMcpServer = z.infer<typeof WorkerMcpServer>;

export const WorkerMcp = z
  .record(
    z.string().regex(SERVER_NAME, "is no name of a server: letters, digits, _ and -, at most 32"),
    WorkerMcpServer,
  )
  .refine(
    (all) => Object.keys(all).length <= MCP_SERVERS_OF_AGENT_MAX,
    `there are at most ${MCP_SERVERS_OF_AGENT_MAX} servers`,
  )
  .refine(
    (all) => jsonBytes(all) <= MCP_SPAWN_MAX_BYTES,
    `the servers are over ${MCP_SPAWN_MAX_BYTES} bytes`,
  );
export type WorkerMcp = z.infer<typeof WorkerMcp>;
