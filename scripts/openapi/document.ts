/**
 * The OpenAPI 3.1 document of the HTTP API, made of the requests, their replies and the registry of commands. The build
 * writes it beside the daemon, which serves it at /api/openapi.json.
 */
import * as z from "zod";
import { record } from "../../src/cli/schemas.ts";
import { COMMANDS } from "../../src/commands/commands.ts";
import { isRead } from "../../src/daemon/http/routes.ts";
import { EnvelopeV1 } from "../../src/protocol/envelope-schemas.ts";
import { ERROR_CATALOGUE } from "../../src/protocol/errors.ts";
import { type RequestName, Requests } from "../../src/protocol/requests.ts";
import { WIRE } from "./replies.ts";

type Json = Readonly<Record<string, unknown>>;

/** Schemas that refer to themselves, such as any JSON, by the names that the document gives them. */
const recursive = new Map<string, { readonly name: string; readonly schema: Json }>();

const ROOT = "root_of_itself";

const referTo = (text: string, name: (defined: string) => string): string =>
  text.replace(/"#\/\$defs\/(\w+)"/g, (_, defined: string) => `"#/components/schemas/${name(defined)}"`);

/**
 * Draft 2020-12 is the dialect of OpenAPI 3.1. The dialect is the document's, so no schema repeats it. A reference counts from
 * the root of the document, so definitions move to its components, each content once.
 */
const schemaOf = (type: z.ZodType, io: "input" | "output"): Json => {
  const made = z.toJSONSchema(type, { io, unrepresentable: "any", target: "draft-2020-12" });
  const { $schema: _, $defs: given = {}, ...root } = made;
  // A schema whose root refers to itself becomes a definition like the others.
  const isOwnChild = JSON.stringify(made).includes('"$ref":"#"');
  const rooted = (part: unknown): Json =>
    JSON.parse(JSON.stringify(part).replaceAll('"$ref":"#"', `"$ref":"#/$defs/${ROOT}"`));
  const $defs: Json = isOwnChild ? rooted({ ...given, [ROOT]: root }) : given;
  const schema = isOwnChild ? { $ref: `#/$defs/${ROOT}` } : root;
  const nameOf = (defined: string): string => {
    const content = JSON.stringify($defs[defined]);
    const known = recursive.get(content);
    if (known !== undefined) return known.name;
    const name = `Recursive${recursive.size + 1}`;
    // First the name: the definition refers to itself.
    recursive.set(content, { name, schema: {} });
    recursive.set(content, { name, schema: JSON.parse(referTo(content, nameOf)) });
    return name;
  };
  return JSON.parse(referTo(JSON.stringify(schema), nameOf));
};

const summaryOf = (name: RequestName): string =>
  COMMANDS.find(({ request, command }) => request === name || command === name)?.summary ?? name;

const operationId = (name: RequestName): string =>
  name.replace(/[/-]+(\w)/g, (_, letter: string) => letter.toUpperCase());

const ERROR = { $ref: "#/components/responses/Error" };
const body = (schema: Json, type = "application/json"): Json => ({ content: { [type]: { schema } } });

/** The statuses that an error of the catalogue has. */
const failures = (): Json =>
  Object.fromEntries(
    [...new Set(Object.values(ERROR_CATALOGUE).map(({ http }) => http))].map((status) => [status, ERROR]),
  );

/** The answer: an envelope whose data are the reply; of a stream, one line of JSON for each envelope. */
const answerOf = (name: RequestName): Json => ({
  description: "The envelope with the reply",
  ...body({
    allOf: [
      { $ref: "#/components/schemas/Envelope" },
      { type: "object", properties: { status: { const: "ok" }, data: schemaOf(WIRE[name], "output") } },
    ],
  }),
});

/** Each member of the data is a parameter of the query; a list is a parameter that is repeated. */
const parametersOf = (schema: Json): readonly Json[] =>
  Object.entries((schema.properties ?? {}) as Record<string, Json>).map(([member, of]) => ({
    name: member,
    in: "query",
    required: ((schema.required ?? []) as readonly string[]).includes(member),
    schema: of,
  }));

const operationsOf = (name: RequestName): Json => {
  const schema = schemaOf(Requests[name], "input");
  const common = {
    summary: summaryOf(name),
    tags: [name.split("/")[0]],
    responses: { 200: answerOf(name), ...failures() },
  };
  const required = ((schema.required ?? []) as readonly string[]).length > 0;
  return {
    post: { operationId: operationId(name), ...common, requestBody: { required, ...body(schema) } },
    ...(isRead(name) && {
      get: { operationId: `${operationId(name)}ByQuery`, ...common, parameters: parametersOf(schema) },
    }),
  };
};

const text = (description: string, type: string): Json => ({
  200: { description, ...body({ type: "string" }, type) },
});

const eventsPath = (): Json => ({
  get: {
    operationId: "events",
    summary: "Follow records as server-sent events",
    description:
      "The id of an event is the cursor behind its record; send it as Last-Event-ID, or in `after`, to go on there. " +
      "The last event is `end`.",
    parameters: [
      { name: "Last-Event-ID", in: "header", schema: { type: "string" } },
      { name: "after", in: "query", schema: { type: "string" } },
      ...parametersOf(schemaOf(Requests["agent/watch"].omit({ from: true }), "input")),
    ],
    responses: { ...text("Events whose data are records", "text/event-stream"), ...failures() },
  },
});

const PLAIN = {
  "/api/events": eventsPath,
  "/api/artifacts/{digest}": (): Json => ({
    get: {
      operationId: "artifact",
      summary: "Read an artifact",
      parameters: [{ name: "digest", in: "path", required: true, schema: { type: "string" } }],
      responses: { ...text("Its bytes", "application/octet-stream"), ...failures() },
    },
  }),
  "/metrics": (): Json => ({
    get: {
      operationId: "metrics",
      summary: "Read the metrics of the daemon",
      responses: { ...text("The text format of Prometheus", "text/plain"), ...failures() },
    },
  }),
  "/healthz": (): Json => ({
    get: {
      operationId: "health",
      summary: "Ask whether the supervisor works",
      security: [],
      responses: { 200: { description: "It works" }, 503: { description: "It does not, or it stops" } },
    },
  }),
};

export const openApi = (version: string): Json => {
  const paths = {
    ...Object.fromEntries(
      (Object.keys(Requests) as RequestName[]).map((name) => [`/api/${name}`, operationsOf(name)]),
    ),
    ...Object.fromEntries(Object.entries(PLAIN).map(([path, make]) => [path, make()])),
  };
  const schemas = { Envelope: schemaOf(EnvelopeV1, "output"), Record: schemaOf(record, "output") };
  return {
    openapi: "3.1.0",
    info: {
      title: "Holdfast",
      version,
      description: "The control plane of a Holdfast daemon. Each answer is a Protocol v1 envelope.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "A named token: agent token create NAME" },
      },
      schemas: {
        ...schemas,
        ...Object.fromEntries([...recursive.values()].map(({ name, schema }) => [name, schema])),
      },
      responses: {
        Error: {
          description: "The envelope with the error",
          ...body({ $ref: "#/components/schemas/Envelope" }),
        },
      },
    },
  };
};
