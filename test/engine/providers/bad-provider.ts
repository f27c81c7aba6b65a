/** A provider that does one thing wrong, by the name in its path: `URL/SIN`. It writes bytes, and knows no library. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Listening, listenOnLoopback } from "../../support/net.ts";

type WireDialect = "anthropic" | "openai";

const frame = (event: { readonly type?: string }): string =>
  `${event.type === undefined ? "" : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`;
const chunk = (delta: object, finish_reason: string | null = null): string =>
  frame({
    id: "c1",
    object: "chat.completion.chunk",
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
  } as object);

/** The beginning of an answer with a little text. */
const BEGINNING: Readonly<Record<WireDialect, string>> = {
  anthropic: [
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 7, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Partial" } },
  ]
    .map(frame)
    .join(""),
  openai: chunk({ role: "assistant", content: "Partial" }),
};

const NOT_JSON = '{"command": ls';
/** A call whose input is no JSON, and the end of the answer. */
const BAD_CALL: Readonly<Record<WireDialect, string>> = {
  anthropic: [
    {
      type: "content_block_start",
      index: 1,
      content_block: { type: "tool_use", id: "t1", name: "bash", input: {} },
    },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: NOT_JSON } },
    { type: "content_block_stop", index: 1 },
  ]
    .map(frame)
    .join(""),
  openai: chunk(
    {
      tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "bash", arguments: NOT_JSON } }],
    },
    "tool_calls",
  ),
};

const told = (type: string, message: string, code: string | null = null) => ({
  type: "error",
  error: { type, code, message },
});

interface Exchange {
  readonly dialect: WireDialect;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const answer = ({ response }: Exchange, status: number, body: unknown, headers: object = {}): void => {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
};
const begin = ({ response, dialect }: Exchange): void => {
  response.writeHead(200, { "content-type": "text/event-stream" }).write(BEGINNING[dialect]);
};

const FLOOD_CHUNK = `: ${"x".repeat(1024 * 1024)}\n`;

const sins = {
  wait_seconds: (exchange) => answer(exchange, 429, told("rate_limit_error", "slow"), { "retry-after": "7" }),
  wait_ms: (exchange) => answer(exchange, 429, told("rate_limit_error", "slow"), { "retry-after-ms": "250" }),
  wait_for_ages: (exchange) =>
    answer(exchange, 429, told("rate_limit_error", "slow"), { "retry-after": "99999999" }),
  /** The error shows the key, the way some proxies do. */
  echoes_key: (exchange) => {
    const { headers } = exchange.request;
    const key = String(headers["x-api-key"] ?? headers.authorization);
    answer(exchange, 401, told("authentication_error", `Incorrect API key provided: ${key}`));
  },
  overflow_in_words: (exchange) =>
    answer(
      exchange,
      400,
      told("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    ),
  overflow_by_code: (exchange) =>
    answer(exchange, 400, told("invalid_request_error", "too long", "context_length_exceeded")),
  too_large: (exchange) =>
    answer(exchange, 413, told("request_too_large", "Request exceeds the maximum size")),
  no_money: (exchange) => answer(exchange, 429, told("insufficient_quota", "no quota", "insufficient_quota")),
  html_502: ({ response }) =>
    response.writeHead(502, { "content-type": "text/html" }).end("<html>Bad gateway</html>"),
  html_200: ({ response }) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<html>Log in</html>"),
  nothing_200: ({ response }) => response.writeHead(200, { "content-type": "text/event-stream" }).end(),
  not_json: (exchange) => {
    begin(exchange);
    exchange.response.end("data: {not json\n\n");
  },
  ends_early: (exchange) => {
    begin(exchange);
    exchange.response.end();
  },
  resets: (exchange) => {
    begin(exchange);
    setImmediate(() => exchange.response.socket?.resetAndDestroy());
  },
  resets_at_once: ({ response }) => response.socket?.resetAndDestroy(),
  error_in_stream: (exchange) => {
    begin(exchange);
    exchange.response.end(frame(told("overloaded_error", "Overloaded")));
  },
  bad_call: (exchange) => {
    begin(exchange);
    exchange.response.end(BAD_CALL[exchange.dialect]);
  },
  /** To an address that would learn the key. */
  redirects: ({ request, response }) =>
    response.writeHead(307, { location: request.url!.replace("redirects", "echoes_key") }).end(),
  /** Without a bound. */
  floods: ({ response }) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const more = (): void => {
      while (!response.destroyed && response.write(FLOOD_CHUNK));
    };
    response.on("drain", more);
    more();
  },
} satisfies Record<string, (exchange: Exchange) => void>;

export type Sin = keyof typeof sins;
export const SINS = Object.keys(sins) as readonly Sin[];

export interface BadProvider extends Listening {
  /** The paths of all requests. */
  readonly paths: readonly string[];
}

export const startBadProvider = async (): Promise<BadProvider> => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const path = request.url ?? "/";
      paths.push(path);
      const sin = sins[path.split("/")[1] as Sin] as (exchange: Exchange) => void;
      sin({ dialect: path.endsWith("/messages") ? "anthropic" : "openai", request, response });
    });
  });
  return { ...(await listenOnLoopback(server)), paths };
};
