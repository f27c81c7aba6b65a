/** A pet store on 127.0.0.1 with its OpenAPI document: pages in each way, credentials in each place, and bad manners. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

export const PETS = Array.from({ length: 25 }, (_, at) => ({
  id: at + 1,
  name: `pet ${at + 1}`,
  tags: ["small"],
}));
const PAGE = 10;

export interface PetRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface PetStore {
  readonly origin: string;
  /** All requests so far, oldest first. */
  readonly requests: PetRequest[];
}

const listen = async (answer: (request: PetRequest, response: ServerResponse) => void): Promise<PetStore> => {
  const requests: PetRequest[] = [];
  const server = createServer((incoming, response) => {
    const parts: Buffer[] = [];
    incoming.on("data", (part: Buffer) => parts.push(part));
    incoming.on("end", () => {
      const { method = "", url = "", headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(parts).toString("utf8") };
      requests.push(request);
      answer(request, response);
    });
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
};

const json = (
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
  status = 200,
): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
};

/** Answers at the path `/say`; the tests of one server's manners give it. */
export type Manners = (request: PetRequest, response: ServerResponse) => void;

export const petStore = (manners: Manners = (_, response) => json(response, {})): Promise<PetStore> =>
  listen((request, response) => {
    const url = new URL(request.url, "http://store");
    const query = url.searchParams;
    const from = Number(query.get("offset") ?? (Number(query.get("page") ?? "1") - 1) * PAGE);
    const cursor = Number(query.get("cursor") ?? "0");
    const list = (start: number) => PETS.slice(start, start + PAGE);
    switch (url.pathname) {
      case "/openapi.json":
        return json(response, petDocument());
      case "/v1/by-link": {
        const more = from + PAGE < PETS.length;
        const next = `</v1/by-link?offset=${from + PAGE}>; rel="next", </v1/by-link?offset=0>; rel="first"`;
        return json(
          response,
          list(from),
          more ? { link: next } : { link: '</v1/by-link?offset=0>; rel="first"' },
        );
      }
      case "/v1/by-cursor": {
        const next = cursor + PAGE < PETS.length ? String(cursor + PAGE) : null;
        return json(response, { data: list(cursor), meta: { next_cursor: next, total: PETS.length } });
      }
      case "/v1/by-page":
        return json(response, { pets: list(from), pages: 3 });
      case "/v1/by-offset":
        return json(response, { pets: list(from), total: PETS.length });
      case "/v1/echo":
        return json(response, { url: request.url, headers: request.headers, body: request.body });
      case "/v1/say":
        return manners(request, response);
      default: {
        const [, id] = /^\/v1\/pets\/(\d+)$/.exec(url.pathname) ?? [];
        const pet = PETS.find((one) => String(one.id) === id);
        return pet === undefined ? json(response, { error: "no such pet" }, {}, 404) : json(response, pet);
      }
    }
  });

const list = (id: string, names: readonly string[]) => ({
  get: {
    operationId: id,
    parameters: names.map((name) => ({ name, in: "query", schema: { type: "string" } })),
    responses: { 200: { description: "pets" } },
  },
});

/** `server` is relative by default: the document and the pets have one origin. */
export const petDocument = (server = "/v1", version = "3.1.0") => ({
  openapi: version,
  info: { title: "Pet store", version: "1.0.0" },
  servers: [
    { url: server },
    { url: "http://{host}/v2", variables: { host: { default: "a", enum: ["a", "b"] } } },
  ],
  security: [{ petKey: [] }],
  paths: {
    "/by-link": list("listByLink", ["offset"]),
    "/by-cursor": list("listByCursor", ["cursor"]),
    "/by-page": list("listByPage", ["page"]),
    "/by-offset": list("listByOffset", ["offset"]),
    "/pets/{petId}": {
      parameters: [{ $ref: "#/components/parameters/PetId" }],
      get: { operationId: "getPet", responses: { 200: { description: "a pet" } } },
    },
    "/echo": {
      post: {
        operationId: "echo",
        parameters: [
          { name: "tags", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "filter", in: "query", style: "deepObject", explode: true, schema: { type: "object" } },
          { name: "ids", in: "query", style: "pipeDelimited", explode: false, schema: { type: "array" } },
          { name: "limit", in: "query", schema: { type: "integer", minimum: 1, maximum: 50 } },
          { name: "X-Trace", in: "header", schema: { type: "string" } },
          { name: "session", in: "cookie", schema: { type: "string" } },
        ],
        requestBody: {
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/NewPet" } },
            "application/x-www-form-urlencoded": { schema: { type: "object" } },
            "multipart/form-data": { schema: { type: "object" } },
            "text/plain": {},
          },
        },
        responses: { 200: { description: "the request" } },
      },
    },
    "/say": {
      get: { operationId: "say", responses: {} },
      post: { operationId: "tell", responses: {} },
    },
  },
  components: {
    parameters: {
      PetId: { name: "petId", in: "path", required: true, schema: { $ref: "#/components/schemas/Id" } },
    },
    schemas: {
      Id: { type: "integer", minimum: 1 },
      NewPet: {
        type: "object",
        required: ["name"],
        properties: {
          name: { type: "string", pattern: "^[a-z]+$" },
          kind: { enum: ["cat", "dog"] },
          parent: { $ref: "#/components/schemas/NewPet" },
        },
      },
    },
    securitySchemes: { petKey: { type: "apiKey", in: "header", name: "X-Key" } },
  },
});

/** A document of at least a megabyte, as large services have: hundreds of paths, schemas that refer to one another. */
export const largeDocument = (server: string) => {
  const paths: Record<string, unknown> = { ...petDocument().paths };
  const schemas: Record<string, unknown> = { ...petDocument().components.schemas };
  const description = "This resource belongs to an account, and is told with all of its fields. ".repeat(6);
  for (let at = 0; at < 600; at += 1) {
    const properties = Object.fromEntries(
      ["id", "owner", "state", "created"].map((name) => [
        name,
        { type: "string", description, example: `${name}-${at}` },
      ]),
    );
    schemas[`Resource${at}`] = {
      type: "object",
      description,
      properties: { ...properties, next: { $ref: `#/components/schemas/Resource${(at + 1) % 600}` } },
    };
    paths[`/resources/kind-${at}/{id}`] = {
      get: {
        operationId: `getResource${at}`,
        description,
        parameters: [{ name: "id", in: "path", required: true, schema: { type: "string" } }],
        responses: {
          200: {
            description,
            content: { "application/json": { schema: { $ref: `#/components/schemas/Resource${at}` } } },
          },
        },
      },
    };
  }
  return { ...petDocument(server), paths, components: { ...petDocument().components, schemas } };
};
