/**
 * A scripted model server, on loopback alone, for tests with real agent CLIs. It keeps no conversation, so that restarts,
 * resumed sessions and parallel runs need no reset; a scenario that differs the second time needs a prompt of its own. The scenario of a request is the prefix of its path
 * (`/s/NAME/v1/messages`), or a mark in the prompt (`[[scenario:NAME]]`), or `text`.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { listenOnLoopback } from "../net.ts";
import { anthropic } from "./anthropic.ts";
import { chat } from "./chat.ts";
import type { Dialect, End, FailedReply, ServerEvent } from "./dialect.ts";
import { gemini, isGemini } from "./gemini.ts";
import { responses } from "./responses.ts";
import { isScenario, replyOf, type ScenarioName, type Turn, turnOf } from "./scenarios.ts";

const REQUEST_MAX_BYTES = 16 * 1024 * 1024;
/** The newest requests are kept for assertions. */
const REQUESTS_KEPT_MAX = 1_000;

const DIALECTS: Readonly<Record<string, Dialect>> = {
  "/v1/messages": anthropic,
  "/v1/responses": responses,
  "/v1/chat/completions": chat,
};

const dialectOf = (path: string): Dialect | undefined =>
  DIALECTS[path] ?? (isGemini(path) ? gemini : undefined);

/** One request, as tests want to know it. */
export interface Seen {
  readonly path: string;
  readonly status: number;
  readonly scenario?: ScenarioName;
  readonly round?: number;
  readonly asked?: number;
  readonly results?: readonly string[];
  readonly schema?: unknown;
  /** The names of the tools that were offered. */
  readonly tools?: readonly string[];
  /** The prompt that the scenario was taken from, with what the CLI has put around it. */
  readonly prompt?: string;
  /** The credential as it was sent. */
  readonly credential?: string;
}

export interface FakeModel {
  readonly url: string;
  readonly requests: readonly Seen[];
  /** Base URL under which every request is of this scenario. */
  at(scenario: ScenarioName): string;
  close(): Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<Record<string, unknown>> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > REQUEST_MAX_BYTES) throw new RangeError("request too large");
    chunks.push(chunk);
  }
  return bytes === 0 ? {} : JSON.parse(Buffer.concat(chunks).toString());
};

/** A reply in the place of an answer. A text is a page. */
interface ReplyWithoutModel extends FailedReply {
  readonly headers?: Readonly<Record<string, string>>;
}

const send = (response: ServerResponse, { status, body, headers }: ReplyWithoutModel): void => {
  const isPage = typeof body === "string";
  const type = isPage ? "text/html" : "application/json";
  response.writeHead(status, { "content-type": type, ...headers }).end(isPage ? body : JSON.stringify(body));
};
const sendJson = (response: ServerResponse, status: number, body: unknown): void =>
  send(response, { status, body });

const PAGE = "<!doctype html><title>Bad gateway</title><p>Something is wrong.";

const failureOf = (turn: Turn, dialect: Dialect): ReplyWithoutModel | undefined => {
  if (!("status" in turn)) return turn.end === undefined ? undefined : failureIn(turn.end, dialect);
  const { status, html, retry_after_s } = turn;
  const headers = retry_after_s === undefined ? undefined : { "retry-after": `${retry_after_s}` };
  return { status, body: html ? PAGE : dialect.error(status), headers };
};

const failureIn = (end: End, { failures }: Dialect): FailedReply | undefined =>
  (failures as Partial<Record<End, FailedReply>> | undefined)?.[end];

const stream = async (
  response: ServerResponse,
  events: Iterable<ServerEvent>,
  frame: Dialect["frame"],
): Promise<void> => {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-cache" });
  for (const event of events) {
    if (response.destroyed) return;
    if (response.write(frame(event))) continue;
    const settled = new AbortController();
    const { signal } = settled;
    await Promise.race([once(response, "drain", { signal }), once(response, "close", { signal })]);
    settled.abort();
  }
};

/** The path without its scenario, and the scenario. */
const route = (url: string): { readonly path: string; readonly prefix?: string } => {
  const { pathname } = new URL(url, "http://localhost");
  const [, prefix, path] = /^\/s\/([\w-]+)(\/.*)$/.exec(pathname) ?? [];
  return { path: path ?? pathname, prefix };
};

const MARK = /\[\[scenario:([\w-]+)\]\]/;

/** The newest prompt with a mark counts: a CLI adds messages of its own, such as "go on". */
const scenarioOf = (prompts: readonly string[], prefix: string | undefined) => {
  const prompt = prompts.findLast((each) => MARK.test(each)) ?? prompts.at(-1) ?? "";
  const name = prefix ?? MARK.exec(prompt)?.[1] ?? "text";
  if (!isScenario(name)) throw new RangeError(`no scenario ${name}`);
  return { scenario: name, prompt, asked: prompts.filter((each) => each === prompt).length };
};

export const startFakeModel = async (): Promise<FakeModel> => {
  const requests: Seen[] = [];
  const note = (seen: Seen): void => {
    requests.push(seen);
    if (requests.length > REQUESTS_KEPT_MAX) requests.shift();
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { path, prefix } = route(request.url ?? "/");
    const body = await bodyOf(request);
    const { headers } = request;
    const credential = [headers["x-api-key"] ?? headers["x-goog-api-key"] ?? headers.authorization].flat()[0];
    const other = (status: number, json: unknown): void => {
      note({ path, status, credential });
      sendJson(response, status, json);
    };
    if (path === "/v1/messages/count_tokens") return other(200, { input_tokens: 1_234 });
    const dialect = dialectOf(path);
    if (dialect === undefined || request.method !== "POST")
      return other(404, { error: { message: `no such path: ${path}` } });

    const ask = dialect.read(body, path);
    const { scenario, prompt, asked } = scenarioOf(ask.prompts, prefix);
    const { round, results, schema } = ask;
    const isSame = (seen: Seen) => seen.path === path && seen.prompt === prompt && seen.round === round;
    const turn = turnOf(scenario, ask, asked, requests.filter(isSame).length);
    const failed = failureOf(turn, dialect);
    note({
      path,
      status: failed?.status ?? 200,
      ...{ scenario, round, asked, results, prompt, credential, schema },
      tools: ask.tools.map(({ name }) => name),
    });
    if (failed !== undefined || "status" in turn) return send(response, failed!);

    const reply = replyOf(turn, ask.tools);
    const isLost = reply.end === "reset" && reply.blocks.length === 0;
    if (isLost) return void response.socket?.resetAndDestroy();
    const isSilent = reply.end === "silence";
    if (isSilent && reply.blocks.length === 0) return;
    if (!ask.stream && !isSilent) return sendJson(response, 200, dialect.whole(reply, ask.model));
    await stream(response, dialect.events(reply, ask.model), dialect.frame);
    if (reply.end === "garbage") response.write("data: {this is no JSON\n\n");
    if (reply.end === "cut") response.socket?.destroySoon();
    else if (reply.end === "reset") response.socket?.resetAndDestroy();
    else if (!isSilent) response.end();
  };

  const server = createServer((request, response) => {
    answer(request, response).catch((cause: unknown) => {
      note({ path: request.url ?? "/", status: 500 });
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { error: { message: String(cause) } });
    });
  });
  const { url, close } = await listenOnLoopback(server);
  return { url, requests, at: (scenario) => `${url}/s/${scenario}`, close };
};
