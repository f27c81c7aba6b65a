/**
 * http/openapi: calls one operation of a server by its OpenAPI document. Secrets are named, never given; everything that the
 * skill answers or says is masked by them.
 */
import { closeSync, fstatSync, readFileSync } from "node:fs";
import * as z from "zod";
import {
  ALLOWED_ORIGINS_MAX,
  HTTP_ANSWER_MAX_BYTES,
  HTTP_HEADER_TOLD_MAX_BYTES,
  HTTP_HEADERS_TOLD_MAX,
  HTTP_TIMEOUT_DEFAULT_MS,
  HTTP_TIMEOUT_MAX_MS,
  OPENAPI_DOCUMENT_MAX_BYTES,
  SKILL_NAME_MAX_UNITS,
  SKILL_PATH_MAX_BYTES,
} from "../../base/limits.ts";
import { cutUtf8 } from "../../protocol/bounds.ts";
import { asHoldfastError, HoldfastError } from "../../protocol/errors.ts";
import { makeRedactor, type Redactor, redactError } from "../../protocol/redact.ts";
import { summaryOfJson } from "../../protocol/summary.ts";
import { authSchema, type Credentials, credentialsOf, NO_CREDENTIALS } from "../openapi/auth.ts";
import { encodeBody } from "../openapi/body.ts";
import { type CallResult, call } from "../openapi/call.ts";
import { type ApiDocument, readDocument } from "../openapi/document.ts";
import { type Exchange, exchanged, type HttpAsk, placeOf } from "../openapi/exchange.ts";
import { type ApiOperation, baseOf, findOperation } from "../openapi/operation.ts";
import { paginationSchema } from "../openapi/pagination.ts";
import { encoded, placeParameters } from "../openapi/parameters.ts";
import { schemaChecker } from "../openapi/schema-checker.ts";
import { WorkspaceFiles } from "../paths.ts";
import type { BuiltinSkill, SkillContext } from "../skill.ts";
import { breathe, maskedBase64 } from "./file-facts.ts";

const input = z.strictObject({
  document: z
    .string()
    .min(1)
    .max(SKILL_PATH_MAX_BYTES)
    .describe("OpenAPI document in JSON or YAML: a file of the workspace, or a URL"),
  operation: z
    .string()
    .min(1)
    .max(SKILL_PATH_MAX_BYTES)
    .describe("operationId, or a method and a path such as `GET /pets`"),
  parameters: z
    .record(z.string(), z.unknown())
    .default({})
    .describe("values of parameters by name, or by place and name such as query:id"),
  body: z.unknown().optional().describe("body of the request; for a form an object of its fields"),
  content_type: z
    .string()
    .max(SKILL_NAME_MAX_UNITS)
    .optional()
    .describe("type of the body, where the document has several"),
  base_url: z
    .string()
    .max(SKILL_PATH_MAX_BYTES)
    .optional()
    .describe("server to call in place of the document's"),
  server: z.int().min(0).optional().describe("number of the server in the document, from 0"),
  server_variables: z.record(z.string(), z.string()).optional().describe("variables of the server's URL"),
  auth: authSchema.default({ type: "none" }).describe("credentials by the name of a secret"),
  pagination: paginationSchema.default({ strategy: "none" }).describe("way to the next pages of a list"),
  allowed_origins: z
    .array(z.url().max(SKILL_PATH_MAX_BYTES))
    .max(ALLOWED_ORIGINS_MAX)
    .default([])
    .describe("other origins to which an answer may lead; they are asked without credentials"),
  timeout_ms: z
    .int()
    .min(1)
    .max(HTTP_TIMEOUT_MAX_MS)
    .default(HTTP_TIMEOUT_DEFAULT_MS)
    .describe("longest wait for one answer"),
});
type OpenapiInput = z.output<typeof input>;

const output = z.object({
  /** The operation, and the URL of the last request without its query. */
  operation: z.object({ operation_id: z.string().optional(), method: z.string(), url: z.string() }),
  /** protocol-v1.txt, Summary requirements. */
  summary: z.object({
    status_code: z.int(),
    kind: z.string(),
    size_bytes: z.int(),
    record_count: z.int().optional(),
    preview: z.record(z.string(), z.unknown()),
    headers: z.record(z.string(), z.string()),
    pagination: z
      .object({
        has_more: z.boolean(),
        pages: z.int(),
        total_pages: z.int().optional(),
        total_items: z.int().optional(),
        strategy_used: z.string(),
      })
      .optional(),
  }),
  /** The answer: a value of JSON, text, or bytes as base64. With pagination: the items of all pages. */
  body: z.unknown(),
  encoding: z.literal("base64").optional(),
});
type OpenapiOutput = z.output<typeof output>;

const exchangeOf = (
  asks: OpenapiInput,
  { fetch, signal }: SkillContext,
  redact: Redactor,
  max_bytes = HTTP_ANSWER_MAX_BYTES,
): Exchange => ({
  fetch,
  signal,
  timeout_ms: asks.timeout_ms,
  max_bytes,
  allowed_origins: asks.allowed_origins,
  mask: redact.text,
});

/** From a URL it is asked for without credentials. */
const documentOf = async (
  asks: OpenapiInput,
  files: WorkspaceFiles,
  context: SkillContext,
  redact: Redactor,
): Promise<ApiDocument> => {
  const { document } = asks;
  if (!/^https?:\/\//i.test(document)) return readDocument(textOfFile(document, files));
  const url = URL.parse(document)?.href;
  if (url === undefined) throw new HoldfastError("INVALID_REQUEST", "The URL of the document is no URL.");
  const accept = "application/json, application/yaml, text/yaml, */*;q=0.1";
  const answer = await exchanged(
    { method: "GET", url, headers: { accept }, cookies: [], credentials: NO_CREDENTIALS },
    exchangeOf(asks, context, redact, OPENAPI_DOCUMENT_MAX_BYTES),
  );
  if (answer.status !== 200)
    throw new HoldfastError("HTTP_NOT_FOUND", `${placeOf(url)} answered with the status ${answer.status}.`, {
      suggestion: "Correct the URL of the OpenAPI document.",
      details: { status_code: answer.status },
    });
  return readDocument(answer.bytes.toString("utf8"), answer.url);
};

const textOfFile = (path: string, files: WorkspaceFiles): string => {
  const { fd } = files.file(path);
  try {
    if (fstatSync(fd).size > OPENAPI_DOCUMENT_MAX_BYTES)
      throw new HoldfastError(
        "OPENAPI_INVALID",
        `${path} has more than ${OPENAPI_DOCUMENT_MAX_BYTES} bytes.`,
        {
          suggestion: "Give a smaller document.",
        },
      );
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
};

const askOf = (
  asks: OpenapiInput,
  document: ApiDocument,
  operation: ApiOperation,
  credentials: Credentials,
  files: WorkspaceFiles,
): HttpAsk => {
  const checker = schemaChecker(document);
  const placed = placeParameters(operation, asks.parameters, checker);
  const { body, content_type } = encodeBody(document, operation, asks, checker, files);
  const query = placed.query.map(([name, value]) => `${name}=${value}`).join("&");
  const place = `${baseOf(document, operation, asks)}${placed.path}`;
  // Some documents have a query in the template of a path.
  const url = new URL(query === "" ? place : `${place}${place.includes("?") ? "&" : "?"}${query}`);
  // Such a name would lead to another path.
  if (placed.path.split(/[/\\?#]/).some((name) => /^(?:\.|%2e){1,2}$/i.test(name)))
    throw new HoldfastError("INVALID_REQUEST", `${encoded(placed.path)} is no path of a URL.`, {
      suggestion: "Give path parameters other than `.` and `..`.",
    });
  return {
    method: operation.method,
    url: url.href,
    headers: {
      accept: "application/json, */*;q=0.1",
      ...placed.headers,
      ...(content_type !== undefined && { "content-type": content_type }),
    },
    cookies: placed.cookies,
    ...(body !== undefined && { body }),
    credentials,
  };
};

const toldHeaders = (headers: Readonly<Record<string, string>>, redact: Redactor): Record<string, string> => {
  const told = Object.entries(redact.value({ ...headers })).slice(0, HTTP_HEADERS_TOLD_MAX);
  return Object.fromEntries(
    told.map(([name, value]) => [name, cutUtf8(String(value).toWellFormed(), HTTP_HEADER_TOLD_MAX_BYTES)]),
  );
};

const outputOf = (operation: ApiOperation, result: CallResult, redact: Redactor): OpenapiOutput => {
  const { answer, content, pagination, size_bytes } = result;
  const body =
    content.encoding === undefined
      ? redact.value(content.value)
      : maskedBase64(Buffer.from(String(content.value), "base64"), redact.text);
  const { preview } = summaryOfJson(Array.isArray(body) ? body : [body], size_bytes);
  return {
    operation: {
      ...(operation.id !== undefined && { operation_id: operation.id }),
      method: operation.method,
      url: redact.text(placeOf(answer.url)),
    },
    summary: {
      status_code: answer.status,
      kind: content.kind,
      size_bytes,
      ...(Array.isArray(body) && { record_count: body.length }),
      preview: { ...preview },
      headers: toldHeaders(answer.headers, redact),
      ...(pagination !== undefined && { pagination }),
    },
    body,
    ...(content.encoding !== undefined && { encoding: content.encoding }),
  };
};

export const httpOpenapi: BuiltinSkill<OpenapiInput, OpenapiOutput> = {
  name: "http/openapi",
  summary: "Call an operation of a server by its OpenAPI document.",
  version: "1.0.0",
  effect: "any",
  input,
  output,
  network: "declared",
  urls: (given) => {
    const { document, base_url, allowed_origins = [] } = input.safeParse(given).data ?? {};
    return [document, base_url, ...allowed_origins].flatMap((url) => (url === undefined ? [] : [url]));
  },
  run: async (asks, context) => {
    await breathe(context.signal);
    const credentials = credentialsOf(asks.auth, context.secret);
    const redact = makeRedactor(credentials.secrets);
    try {
      const files = new WorkspaceFiles(context.workspace);
      const document = await documentOf(asks, files, context, redact);
      const operation = findOperation(document, asks.operation);
      const ask = askOf(asks, document, operation, credentials, files);
      await context.reach(ask.url);
      const result = await call(ask, exchangeOf(asks, context, redact), operation, asks.pagination);
      return outputOf(operation, result, redact);
    } catch (cause) {
      throw redactError(asHoldfastError(cause), redact);
    }
  },
};
