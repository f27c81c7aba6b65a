import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { httpOpenapi } from "../../../src/skills/builtin/http-openapi.ts";
import { largeDocument, type Manners, PETS, petDocument, petStore } from "../openapi/pet-store.ts";
import { freshContext, running } from "./context.ts";

const SECRET = "s3cr3t-tok/en+42";
const call = running(httpOpenapi);

/** A store, a workspace with its document, and a call of one operation. */
const scene = async (manners?: Manners) => {
  const store = await petStore(manners);
  const context = freshContext({
    fetch,
    secret: (name) => (name === "PET_KEY" ? SECRET : undefined),
  });
  writeFileSync(join(context.workspace, "pets.json"), JSON.stringify(petDocument(`${store.origin}/v1`)));
  const ask = (operation: string, rest: object = {}) =>
    call({ document: "pets.json", operation, ...rest }, context);
  return { store, context, ask };
};

/** All that a caller can see of an error. */
const told = async (failing: Promise<unknown>): Promise<{ error: HoldfastError; text: string }> => {
  try {
    await failing;
  } catch (error) {
    if (error instanceof HoldfastError)
      return { error, text: JSON.stringify([error, error.message, error.info, String(error.stack)]) };
    throw error;
  }
  throw new Error("It did not fail.");
};

describe("http/openapi", () => {
  it("calls an operation by its id, or by method and path, and sums the answer up", async () => {
    const { ask, store } = await scene();
    const answer = await ask("getPet", { parameters: { petId: 7 } });
    expect(answer).toMatchObject({
      operation: { operation_id: "getPet", method: "GET", url: `${store.origin}/v1/pets/7` },
      summary: {
        status_code: 200,
        kind: "application/json",
        size_bytes: JSON.stringify(PETS[6]).length,
        preview: { first_keys: ["id", "name", "tags"], sample_record: { id: 7, name: "pet 7" } },
        headers: { "content-type": "application/json" },
      },
      body: PETS[6],
    });
    expect((await ask("GET /pets/{petId}", { parameters: { petId: "7" } })).body).toEqual(PETS[6]);
  });

  it("reads a document in YAML, of version 3.0, and from a URL, where its servers are relative to it", async () => {
    const { context, store } = await scene();
    const yaml = stringify(petDocument(`${store.origin}/v1`, "3.0.3"));
    writeFileSync(join(context.workspace, "pets.yaml"), yaml);
    const parameters = { petId: 2 };
    for (const document of ["pets.yaml", `${store.origin}/openapi.json`])
      expect((await call({ document, operation: "getPet", parameters }, context)).body).toEqual(PETS[1]);
    expect(store.requests.map(({ url }) => url)).toEqual(["/v1/pets/2", "/openapi.json", "/v1/pets/2"]);
  });

  it("puts parameters and bodies where the document says", async () => {
    const { ask, context, store } = await scene();
    writeFileSync(join(context.workspace, "photo.txt"), "a photo");
    const parameters = {
      tags: ["a&b", "ü"],
      filter: { color: "red", size: 3 },
      ids: [1, 2],
      limit: "5",
      "X-Trace": "t 1",
      session: "s;1",
    };
    await ask("echo", { parameters, body: { name: "rex", kind: "dog", parent: { name: "rox" } } });
    const [{ url, headers, body }] = store.requests as [never] & typeof store.requests;
    expect(url).toBe("/v1/echo?tags=a%26b&tags=%C3%BC&filter[color]=red&filter[size]=3&ids=1%7C2&limit=5");
    expect(headers).toMatchObject({
      "x-trace": "t 1",
      cookie: "session=s%3B1",
      "content-type": "application/json",
    });
    expect(JSON.parse(body)).toEqual({ name: "rex", kind: "dog", parent: { name: "rox" } });
    await ask("echo", { content_type: "application/x-www-form-urlencoded", body: { a: "x y", b: [1, 2] } });
    expect(store.requests[1]?.body).toBe("a=x+y&b=1&b=2");
    await ask("echo", {
      content_type: "multipart/form-data",
      body: { name: "rex", photo: { file: "photo.txt" } },
    });
    expect(store.requests[2]?.body).toMatch(/name="photo"; filename="photo.txt"[\s\S]*a photo/);
    await ask("echo", { content_type: "text/plain", body: "plain" });
    expect(store.requests[3]).toMatchObject({ body: "plain", headers: { "content-type": "text/plain" } });
  });

  it.each([
    ["a missing parameter", "getPet", {}, "INVALID_REQUEST", "missing required path parameter 'petId'"],
    [
      "an unknown parameter",
      "getPet",
      { parameters: { petid: 1 } },
      "INVALID_REQUEST",
      "did you mean petId?",
    ],
    ["a wrong parameter", "getPet", { parameters: { petId: "x" } }, "INVALID_REQUEST", "must be integer"],
    ["one out of its bounds", "echo", { parameters: { limit: 99 } }, "INVALID_REQUEST", "must be <= 50"],
    ["a wrong body", "echo", { body: { name: "Rex" } }, "INVALID_REQUEST", "at name must match pattern"],
    ["a wrong word", "echo", { body: { name: "rex", kind: "cow" } }, "INVALID_REQUEST", "(cat, dog)"],
    [
      "a deep mistake",
      "echo",
      { body: { name: "rex", parent: {} } },
      "INVALID_REQUEST",
      "at parent must have",
    ],
    ["a body for none", "getPet", { parameters: { petId: 1 }, body: {} }, "INVALID_REQUEST", "takes no body"],
    [
      "a file outside",
      "echo",
      { content_type: "multipart/form-data", body: { f: { file: "/etc/passwd" } } },
      "POLICY_VIOLATION",
      "outside the workspace",
    ],
    ["an operation that is not there", "getPets", {}, "OPENAPI_INVALID", "did you mean getPet?"],
    ["a server that is not there", "say", { server: 5 }, "INVALID_REQUEST", "has 2 servers"],
    [
      "a wrong variable of a server",
      "say",
      { server: 1, server_variables: { host: "evil" } },
      "INVALID_REQUEST",
      "one of a, b",
    ],
    [
      "a base URL with a password",
      "say",
      { base_url: "http://u:p@127.0.0.1/" },
      "INVALID_REQUEST",
      "names no user",
    ],
    [
      "a secret that is not there",
      "say",
      { auth: { type: "bearer", secret: "OTHER" } },
      "SECRET_UNAVAILABLE",
      "OTHER is not set",
    ],
  ])("refuses %s before anything is sent", async (_what, operation, rest, code, sentence) => {
    const { ask, store } = await scene();
    const { error } = await told(ask(operation, rest));
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(sentence);
    expect(store.requests).toEqual([]);
  });

  it("names what is missing as the contract does", async () => {
    const { ask } = await scene();
    expect((await told(ask("getPet"))).error.info).toMatchObject({
      details: { issue: "parameter_validation_failed", missing_params: ["petId"], expected_in: "path" },
    });
  });

  it.each(["..", ".", "%2e%2e"])("lets no path parameter lead to another path: %s", async (value) => {
    const { context, store } = await scene();
    const document = petDocument(`${store.origin}/v1`);
    const parameters = [{ name: "petId", in: "path", required: true, schema: { type: "string" } }];
    const changed = {
      ...document,
      paths: { "/pets/{petId}/x": { get: { operationId: "get", parameters } } },
    };
    writeFileSync(join(context.workspace, "open.json"), JSON.stringify(changed));
    const asking = call({ document: "open.json", operation: "get", parameters: { petId: value } }, context);
    if (value.startsWith("%")) {
      await told(asking);
      expect(store.requests[0]?.url).toBe("/v1/pets/%252e%252e/x");
    } else {
      expect((await told(asking)).error.code).toBe("INVALID_REQUEST");
      expect(store.requests).toEqual([]);
    }
  });
});

describe("the pages of a list are followed", () => {
  it.each([
    ["listByLink", { strategy: "link" }],
    ["listByCursor", { strategy: "cursor", cursor_field: "meta.next_cursor", cursor_param: "cursor" }],
    ["listByPage", { strategy: "page", page_param: "page", total_pages_field: "pages" }],
    ["listByOffset", { strategy: "offset", offset_param: "offset", total_field: "total" }],
  ])("%s", async (operation, pagination) => {
    for (const given of [pagination, { strategy: "auto" }]) {
      const { ask, store } = await scene();
      const { body, summary } = await ask(operation, { pagination: given });
      expect(body).toEqual(PETS);
      expect(summary).toMatchObject({
        record_count: 25,
        pagination: { has_more: false, strategy_used: pagination.strategy },
      });
      // Without the number of pages the last one is found by its emptiness.
      expect(store.requests.length).toBe(given === pagination || operation !== "listByPage" ? 3 : 4);
    }
  });

  it("as far as the caller wants", async () => {
    const { ask } = await scene();
    const pages = await ask("listByLink", { pagination: { strategy: "link", max_pages: 2 } });
    expect(pages.body).toEqual(PETS.slice(0, 20));
    expect(pages.summary.pagination).toMatchObject({ has_more: true, pages: 2 });
    const items = await ask("listByCursor", { pagination: { strategy: "auto", max_items: 15 } });
    expect(items.body).toEqual(PETS.slice(0, 15));
    expect(items.summary.pagination).toMatchObject({ has_more: true, total_items: 25 });
  });

  const json =
    (value: unknown, headers: Record<string, string> = {}): Manners =>
    (_, response) => {
      response.writeHead(200, { "content-type": "application/json", ...headers });
      response.end(JSON.stringify(value));
    };
  it.each([
    [
      "a link to the page itself",
      json([1], { link: "</v1/say>; rel=next" }),
      { strategy: "link" },
      { rule: "loop" },
    ],
    ["the same page again and again", json([1]), { strategy: "page", page_param: "page" }, { rule: "loop" }],
    [
      "the same cursor again and again",
      json({ a: [1], c: "x" }),
      { strategy: "cursor", cursor_field: "c", cursor_param: "c" },
      { rule: "loop" },
    ],
    [
      "no cursor",
      json({ a: [1] }),
      { strategy: "cursor", cursor_field: "meta.next", cursor_param: "c" },
      { missing_field: "meta.next" },
    ],
    ["no list", json({ a: 1 }), { strategy: "link" }, { missing_field: "items_field" }],
    ["no such list", json({ a: [1] }), { strategy: "link", items_field: "b" }, { missing_field: "b" }],
    ["nothing that tells", json([1]), { strategy: "auto" }, { strategy: "auto" }],
  ])("not: EPAGINATION with %s", async (_what, manners, pagination, details) => {
    const { ask } = await scene(manners);
    const { error } = await told(ask("say", { pagination }));
    expect(error).toMatchObject({ code: "PAGINATION_FAILED", row: { v1: "EPAGINATION" } });
    expect(error.info.details).toMatchObject(details);
  });

  it("not without end: EPAGINATION at a bound that the caller has not set", async () => {
    let page = 0;
    const { ask, store } = await scene((_, response) => {
      page += 1;
      json([page], { link: `</v1/say?page=${page}>; rel="next"` })(_, response);
    });
    const { error } = await told(ask("say", { pagination: { strategy: "link" } }));
    expect(error).toMatchObject({
      code: "PAGINATION_FAILED",
      info: { details: { rule: "bound", pages: 10 } },
    });
    expect(store.requests.length).toBe(10);
  });
});

describe("secrets", () => {
  const plugins = [
    ["bearer", { type: "bearer", secret: "PET_KEY" }, `Bearer ${SECRET}`],
    ["basic", { type: "basic", username: "ann", secret: "PET_KEY" }, `Basic ${btoa(`ann:${SECRET}`)}`],
    ["a key in a header", { type: "api_key", in: "header", name: "X-Key", secret: "PET_KEY" }, SECRET],
    [
      "a key in the query",
      { type: "api_key", in: "query", name: "key", secret: "PET_KEY" },
      encodeURIComponent(SECRET),
    ],
    [
      "a key in a cookie",
      { type: "api_key", in: "cookie", name: "key", secret: "PET_KEY" },
      encodeURIComponent(SECRET),
    ],
    ["a header", { type: "header", name: "X-Any", prefix: "Key ", secret: "PET_KEY" }, `Key ${SECRET}`],
  ] as const;
  const spellings = [SECRET, encodeURIComponent(SECRET), btoa(SECRET), btoa(`ann:${SECRET}`)];
  const expectMasked = (text: string): void => {
    for (const spelling of spellings) expect(text).not.toContain(spelling);
  };

  it.each(plugins)("by %s reach the server, and no answer", async (_what, auth, sent) => {
    const { ask, store } = await scene();
    // The server tells all that it was sent.
    const answer = await ask("echo", { auth });
    expect(JSON.stringify(store.requests[0])).toContain(sent);
    expectMasked(JSON.stringify(answer));
    expect(JSON.stringify(answer)).toContain("***");
  });

  it.each(plugins)("by %s are masked in bytes too", async (_what, auth) => {
    const { ask } = await scene(({ headers, url }, response) => {
      response.writeHead(200, { "content-type": "application/octet-stream" });
      response.end(`\0${JSON.stringify(headers)}${url}`);
    });
    const { body } = await ask("say", { auth });
    const shown = Buffer.from(String(body), "base64").toString();
    expectMasked(shown);
    expect(shown).toContain("***");
  });

  it.each(plugins)("by %s are in no error, whatever the server says", async (_what, auth) => {
    for (const status of [400, 401, 404, 429, 500]) {
      const { ask } = await scene(({ headers, url }, response) => {
        response.writeHead(status, { "x-said": JSON.stringify(headers), "content-type": "text/plain" });
        response.end(`${"x".repeat(1_015)}${JSON.stringify(headers)}${url}`);
      });
      const { text, error } = await told(ask("say", { auth }));
      expectMasked(text);
      expect(text).not.toContain(SECRET.slice(0, 6));
      expect(error.info.details).toMatchObject({ status_code: status });
    }
  });

  it.each(plugins)("by %s are in no error of the network", async (_what, auth) => {
    const { ask } = await scene((_, response) => response.destroy());
    const { text, error } = await told(ask("say", { auth }));
    expect(error.code).toBe("UNAVAILABLE");
    expectMasked(text);
  });

  it.each(plugins)("by %s go to no other origin", async (_what, auth) => {
    const other = await petStore();
    for (const status of [301, 302, 303, 307, 308]) {
      const { ask } = await scene((_, response) => {
        response.writeHead(status, { location: `${other.origin}/v1/echo` }).end();
      });
      const { error } = await told(ask("say", { auth }));
      expect(error).toMatchObject({ code: "POLICY_VIOLATION", info: { details: { rule: "other_origin" } } });
      expect(other.requests).toEqual([]);
      // An origin that the caller allows is asked, without them.
      await ask("say", { auth, allowed_origins: [other.origin] });
      expect(other.requests.length).toBe(1);
      expectMasked(JSON.stringify(other.requests));
      other.requests.length = 0;
    }
    const { ask } = await scene((_, response) => {
      response.writeHead(200, {
        "content-type": "application/json",
        link: `<${other.origin}/v1/by-link>; rel="next"`,
      });
      response.end("[1]");
    });
    expect((await told(ask("say", { auth, pagination: { strategy: "link" } }))).error.code).toBe(
      "POLICY_VIOLATION",
    );
    expect(other.requests).toEqual([]);
  });

  it.each(plugins)("by %s stay with a redirect to the same origin", async (_what, auth, sent) => {
    const { ask, store } = await scene((_, response) => {
      response.writeHead(302, { location: "/v1/echo" }).end();
    });
    await ask("say", { auth });
    expect(JSON.stringify(store.requests[1])).toContain(sent);
  });

  it("are refused if they could not be masked, or would be more than one header", async () => {
    for (const value of ["5h0rt", "with a\r\nline"]) {
      const { store, context } = await scene();
      const asking = call(
        { document: "pets.json", operation: "say", auth: { type: "bearer", secret: "PET_KEY" } },
        { ...context, secret: () => value },
      );
      const { error, text } = await told(asking);
      expect(error.code).toBe("SECRET_UNAVAILABLE");
      expect(text).not.toContain(value);
      expect(store.requests).toEqual([]);
    }
  });
});

describe("a server with bad manners", () => {
  const failing = (status: number, times: number, headers: Record<string, string>): Manners => {
    let count = 0;
    return (_, response) => {
      count += 1;
      response.writeHead(count <= times ? status : 200, { "content-type": "application/json", ...headers });
      response.end("{}");
    };
  };

  it("is asked again only if the method is idempotent, and it says when, and soon", async () => {
    const soon = await scene(failing(429, 2, { "retry-after": "0" }));
    expect((await soon.ask("say")).summary.status_code).toBe(200);
    expect(soon.store.requests.length).toBe(3);
    const never = await scene(failing(503, 9, { "retry-after": "0" }));
    expect((await told(never.ask("say"))).error).toMatchObject({
      code: "HTTP_SERVER_ERROR",
      info: { attempts: 3, backoff: expect.any(String), retry_after_s: 0 },
    });
    for (const [operation, headers] of [
      ["tell", { "retry-after": "0" }],
      ["say", { "retry-after": "3600" }],
      ["say", {}],
    ] as const) {
      const once = await scene(failing(429, 9, headers as Record<string, string>));
      expect((await told(once.ask(operation))).error).toMatchObject({
        code: "RATE_LIMITED",
        row: { v1: "ERATELIMIT" },
      });
      expect(once.store.requests.length).toBe(1);
    }
  });

  it.each([
    [400, "HTTP_CLIENT_ERROR", "EARG"],
    [401, "TOKEN_INVALID", "EAUTH"],
    [403, "TOKEN_INVALID", "EAUTH"],
    [404, "HTTP_NOT_FOUND", "ENOTFOUND"],
    [422, "HTTP_CLIENT_ERROR", "EARG"],
    [500, "HTTP_SERVER_ERROR", "ERUNTIME"],
    [504, "TIMEOUT", "ETIMEOUT"],
  ])("that answers %i gives %s, which is %s", async (status, code, v1) => {
    const { ask } = await scene(failing(status, 9, {}));
    const { error } = await told(ask("say"));
    expect(error).toMatchObject({
      code,
      row: { v1 },
      info: { details: { status_code: status, operation_id: "say" } },
    });
    if (v1 === "EAUTH") expect(error.suggestion).toContain("petKey");
  });

  it.each([
    ["never answers", () => {}, { timeout_ms: 50 }, "TIMEOUT"],
    [
      "redirects in a circle",
      (_, response) => response.writeHead(302, { location: "/v1/say" }).end(),
      {},
      "HTTP_SERVER_ERROR",
    ],
    [
      "redirects to a file",
      (_, response) => response.writeHead(302, { location: "file:///etc/passwd" }).end(),
      {},
      "HTTP_SERVER_ERROR",
    ],
    [
      "says JSON and sends none",
      (_, response) => response.writeHead(200, { "content-type": "application/json" }).end("{"),
      {},
      "PARSE_ERROR",
    ],
    [
      "sends without end",
      (_, response) => {
        response.writeHead(200);
        const more = (): void => {
          while (!response.destroyed && response.write(Buffer.alloc(65_536)));
        };
        response.on("drain", more);
        more();
      },
      {},
      "OUTPUT_TOO_LARGE",
    ],
  ] as readonly (readonly [string, Manners, object, string])[])(
    "that %s ends in an error",
    async (_what, manners, rest, code) => {
      const { ask } = await scene(manners);
      expect((await told(ask("say", rest))).error.code).toBe(code);
    },
  );

  it("is left once the run is cancelled", async () => {
    const stop = new AbortController();
    const { context } = await scene(() => stop.abort());
    const asking = call({ document: "pets.json", operation: "say" }, { ...context, signal: stop.signal });
    expect((await told(asking)).error.code).toBe("CANCELLED");
  });

  it("that answers with bytes or text is answered so", async () => {
    const bytes = await scene((_, response) =>
      response.writeHead(200, { "content-type": "image/png" }).end(Buffer.from([1, 2])),
    );
    expect(await bytes.ask("say")).toMatchObject({ body: "AQI=", encoding: "base64" });
    const text = await scene((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<p>"),
    );
    expect(await text.ask("say")).toMatchObject({ body: "<p>", summary: { kind: "text/html" } });
    const empty = await scene((_, response) => response.writeHead(204).end());
    expect(await empty.ask("say")).toMatchObject({
      body: null,
      summary: { status_code: 204, size_bytes: 0 },
    });
  });
});

describe("a document", () => {
  it("of a megabyte is read, and called", async () => {
    const { context, store } = await scene();
    for (const [name, write] of [
      ["large.json", JSON.stringify],
      ["large.yaml", stringify],
    ] as const) {
      const text = write(largeDocument(`${store.origin}/v1`));
      expect(text.length).toBeGreaterThan(1024 * 1024);
      writeFileSync(join(context.workspace, name), text);
      const pages = await call(
        { document: name, operation: "listByLink", pagination: { strategy: "auto" } },
        context,
      );
      expect(pages.body).toEqual(PETS);
      const echoed = call({ document: name, operation: "echo", body: { name: "X" } }, context);
      expect((await told(echoed)).error.code).toBe("INVALID_REQUEST");
    }
  });

  const operation = (parts: object) => ({
    openapi: "3.1.0",
    info: {},
    paths: { "/a/{b}": { get: { operationId: "x", ...parts } } },
  });
  it.each([
    ["that is no JSON and no YAML", "{", "neither JSON nor YAML"],
    ["with broken YAML", "openapi: 3.1.0\npaths: [", "YAML is broken at line"],
    ["that is a list", "[]", "no object"],
    ["without a version", "{}", "no member `openapi`"],
    ["of Swagger", '{"swagger": "2.0"}', "convert it to OpenAPI 3"],
    ["of a version to come", '{"openapi": "4.0.0", "paths": {}}', "3.0 and 3.1 are known"],
    ["without paths", '{"openapi": "3.1.0"}', "`paths` is no object"],
    [
      "with a bomb of aliases",
      `a: &a [1,1,1,1,1,1,1,1,1]\n${[..."bcdefgh"].map((name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[at]}`)}]`).join("\n")}`,
      "not valid",
    ],
    ["that contains itself", "openapi: 3.1.0\npaths: &a\n  b: *a\n", "not valid"],
    ["with a parameter of the path that nobody describes", operation({}), "no parameter has this name"],
    [
      "with a parameter without a place",
      operation({ parameters: [{ name: "b", in: "body" }] }),
      "in none of path",
    ],
    [
      "with a reference to nothing",
      operation({ parameters: [{ $ref: "#/components/none" }] }),
      "leads to no object",
    ],
    [
      "with a reference to another document",
      operation({ parameters: [{ $ref: "other.json#/b" }] }),
      "bundle both into one",
    ],
    [
      "with a header that belongs to the connection",
      operation({ parameters: [{ name: "Transfer-Encoding", in: "header", schema: {} }] }),
      "is no name for a header",
    ],
    [
      "with references in a circle",
      {
        ...operation({ parameters: [{ $ref: "#/components/a" }] }),
        components: { a: { $ref: "#/components/b" }, b: { $ref: "#/components/a" } },
      },
      "more than 32 others",
    ],
    [
      "with a schema that nobody can use",
      operation({
        parameters: [
          { name: "b", in: "path", required: true, schema: { $ref: "#/components/schemas/None" } },
        ],
      }),
      "cannot be used",
    ],
    [
      "with one id for two operations",
      {
        ...operation({}),
        paths: { "/a": { get: { operationId: "x" } }, "/b": { get: { operationId: "x" } } },
      },
      "2 operations have the operationId x",
    ],
  ])("%s is EOPENAPI", async (_what, document, sentence) => {
    const { context } = await scene();
    const text = typeof document === "string" ? document : JSON.stringify(document);
    writeFileSync(join(context.workspace, "broken"), text);
    const asks = {
      document: "broken",
      operation: "x",
      parameters: { b: "1" },
      base_url: "http://127.0.0.1:9",
    };
    const { error } = await told(call(asks, context));
    expect(error).toMatchObject({ code: "OPENAPI_INVALID", row: { v1: "EOPENAPI" } });
    expect(error.message).toContain(sentence);
  });

  it("with a mistake in a place that nobody uses is used", async () => {
    const { context, store } = await scene();
    const document = petDocument(`${store.origin}/v1`);
    const broken = { ...document, paths: { ...document.paths, "/broken": { get: { parameters: "none" } } } };
    writeFileSync(join(context.workspace, "broken.json"), JSON.stringify(broken));
    const asking = call({ document: "broken.json", operation: "getPet", parameters: { petId: 1 } }, context);
    expect((await asking).body).toEqual(PETS[0]);
  });

  it("with a pattern on which backtracking engines hang is checked soon", async () => {
    const { context, store } = await scene();
    const schema = { type: "string", pattern: "^(a+)+$" };
    const document = {
      openapi: "3.0.3",
      servers: [{ url: store.origin }],
      paths: { "/x": { get: { operationId: "x", parameters: [{ name: "q", in: "query", schema }] } } },
    };
    writeFileSync(join(context.workspace, "slow.json"), JSON.stringify(document));
    const asking = call(
      { document: "slow.json", operation: "x", parameters: { q: `${"a".repeat(50_000)}!` } },
      context,
    );
    expect((await told(asking)).error.message).toContain("must match pattern");
  });

  it("outside the workspace is not read", async () => {
    const { context } = await scene();
    const asking = call({ document: "/etc/passwd", operation: "x" }, context);
    expect((await told(asking)).error.code).toBe("POLICY_VIOLATION");
  });
});
