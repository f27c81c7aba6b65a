/** Calls an operation: builds its request, follows its pages, and says what an error of the server means. */
import {
  HTTP_ERROR_TEXT_MAX_BYTES,
  HTTP_PAGES_MAX_BYTES,
  PAGE_ITEMS_DEFAULT,
  PAGES_DEFAULT,
} from "../../base/limits.ts";
import { cutUtf8 } from "../../protocol/bounds.ts";
import { sha256Digest } from "../../protocol/canonical-json.ts";
import { type ErrorCode, HoldfastError } from "../../protocol/errors.ts";
import {
  type Exchange,
  elsewhere,
  exchanged,
  type HttpAnswer,
  type HttpAsk,
  placeOf,
  retryAfter,
} from "./exchange.ts";
import type { ApiOperation } from "./operation.ts";
import { type PageStep, type PaginationPlugin, pagingFailed, stepOf } from "./pagination.ts";

export interface CallResult {
  /** The last answer. */
  readonly answer: HttpAnswer;
  /** The content of the answer; with pages, the items of all of them. */
  readonly content: DecodedContent;
  readonly pagination?: {
    readonly has_more: boolean;
    readonly pages: number;
    readonly total_pages?: number;
    readonly total_items?: number;
    readonly strategy_used: string;
  };
  /** Bytes of all answers. */
  readonly size_bytes: number;
}

interface DecodedContent {
  readonly kind: string;
  readonly value: unknown;
  /** The value is text that stands for bytes. */
  readonly encoding?: "base64";
}

/** The value of an answer, by its Content-Type. Fails with PARSE_ERROR. */
const decodedContent = ({ headers, bytes, url }: HttpAnswer): DecodedContent => {
  const type = headers["content-type"] ?? "";
  const kind = type.split(";")[0]?.trim().toLowerCase() || "application/octet-stream";
  if (bytes.length === 0) return { kind, value: null };
  if (/[/+]json$/.test(kind))
    try {
      return { kind, value: JSON.parse(bytes.toString("utf8")) };
    } catch (cause) {
      throw new HoldfastError(
        "PARSE_ERROR",
        `The answer of ${placeOf(url)} says that it is JSON, and is none.`,
        {
          suggestion: "Try again, or ask the owner of the server.",
          cause,
        },
      );
    }
  if (/^text\/|[/+]xml$|javascript|yaml|x-www-form-urlencoded/.test(kind)) {
    const [, charset = "utf-8"] = /charset="?([\w-]+)/i.exec(type) ?? [];
    return { kind, value: decoded(bytes, charset) };
  }
  return { kind, value: bytes.toString("base64"), encoding: "base64" };
};

const decoded = (bytes: Buffer, charset: string): string => {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
};

const ERRORS: Readonly<Record<number, ErrorCode>> = {
  401: "TOKEN_INVALID",
  403: "TOKEN_INVALID",
  404: "HTTP_NOT_FOUND",
  408: "TIMEOUT",
  410: "HTTP_NOT_FOUND",
  429: "RATE_LIMITED",
  504: "TIMEOUT",
};

/** The error of an answer with a status from 400 on. Its text is masked before it is cut, so that no part of a secret stays. */
const refusalOf = (answer: HttpAnswer, operation: ApiOperation, { mask }: Exchange): HoldfastError => {
  const { status, attempts, bytes, url } = answer;
  const code = ERRORS[status] ?? (status < 500 ? "HTTP_CLIENT_ERROR" : "HTTP_SERVER_ERROR");
  const wait = retryAfter(answer);
  const isAuth = code === "TOKEN_INVALID";
  const schemes = operation.security.join(", ");
  return new HoldfastError(code, `${placeOf(url)} answered with the status ${status}.`, {
    ...(isAuth && { suggestion: `Give auth${schemes === "" ? "" : `; the document asks for ${schemes}`}.` }),
    ...(code === "RATE_LIMITED" && { suggestion: "Wait until the server's limit resets." }),
    ...(attempts > 1 && { attempts, backoff: "as the server's Retry-After says" }),
    ...(wait !== undefined && { retry_after_s: Math.ceil(wait) }),
    details: {
      status_code: status,
      method: operation.method,
      ...(operation.id !== undefined && { operation_id: operation.id }),
      ...(wait !== undefined && { retry_after: answer.headers["retry-after"] }),
      answer: cutUtf8(mask(bytes.toString("utf8").toWellFormed()), HTTP_ERROR_TEXT_MAX_BYTES),
    },
  });
};

const answered = async (ask: HttpAsk, by: Exchange, operation: ApiOperation): Promise<HttpAnswer> => {
  const answer = await exchanged(ask, by);
  if (answer.status >= 400) throw refusalOf(answer, operation, by);
  return answer;
};

export const call = async (
  ask: HttpAsk,
  by: Exchange,
  operation: ApiOperation,
  plugin: PaginationPlugin,
): Promise<CallResult> => {
  if (plugin.strategy !== "none") return new Pages(ask, by, operation, plugin).all();
  const answer = await answered(ask, by, operation);
  return { answer, content: decodedContent(answer), size_bytes: answer.bytes.length };
};

class Pages {
  private readonly items: unknown[] = [];
  private readonly seen = new Set<string>();
  private pages = 0;
  private bytes = 0;
  private lastContent = "";
  private readonly first: HttpAsk;
  private readonly by: Exchange;
  private readonly operation: ApiOperation;
  private plugin: Exclude<PaginationPlugin, { strategy: "none" }>;

  constructor(
    first: HttpAsk,
    by: Exchange,
    operation: ApiOperation,
    plugin: Exclude<PaginationPlugin, { strategy: "none" }>,
  ) {
    this.first = first;
    this.by = by;
    this.operation = operation;
    this.plugin = plugin;
  }

  async all(): Promise<CallResult> {
    for (let ask = this.first; ; ) {
      const answer = await answered(ask, this.by, this.operation);
      const content = decodedContent(answer);
      const step = this.take(answer, content);
      const { next } = step;
      if (next === undefined || this.isFull()) return this.result(answer, content, step);
      this.refuseLoop(next, answer);
      this.refuseBound();
      ask = elsewhere({ ...this.first, url: next }, this.first.url, this.by);
    }
  }

  private take(answer: HttpAnswer, { value }: DecodedContent): PageStep {
    this.pages += 1;
    this.bytes += answer.bytes.length;
    this.seen.add(answer.url);
    const step = stepOf(this.plugin, {
      url: answer.url,
      headers: answer.headers,
      body: value,
      parameters: this.operation.parameters.filter((one) => one.in === "query").map(({ name }) => name),
      items_before: this.items.length,
    });
    // The strategy that the first page shows holds for the others.
    this.plugin = step.strategy;
    for (const item of step.items) this.items.push(item);
    return step;
  }

  /** The caller has as much as it wants. */
  private isFull(): boolean {
    const { max_pages = Number.POSITIVE_INFINITY, max_items = Number.POSITIVE_INFINITY } = this.plugin;
    return this.pages >= max_pages || this.items.length >= max_items;
  }

  private refuseLoop(next: string, { bytes }: HttpAnswer): void {
    const content = sha256Digest(bytes);
    // A server that does not know the parameter of the page answers with the first page again and again.
    const isSame = content === this.lastContent;
    this.lastContent = content;
    if (isSame || this.seen.has(next))
      throw pagingFailed("a page leads to one that was there before", {
        rule: "loop",
        strategy: this.plugin.strategy,
        pages: this.pages,
      });
  }

  private refuseBound(): void {
    const { max_pages, max_items } = this.plugin;
    const bound =
      this.bytes > HTTP_PAGES_MAX_BYTES
        ? `${HTTP_PAGES_MAX_BYTES} bytes`
        : max_pages === undefined && this.pages >= PAGES_DEFAULT
          ? `${PAGES_DEFAULT} pages`
          : max_items === undefined && this.items.length >= PAGE_ITEMS_DEFAULT
            ? `${PAGE_ITEMS_DEFAULT} items`
            : undefined;
    if (bound === undefined) return;
    throw new HoldfastError("PAGINATION_FAILED", `The list goes on after ${bound}.`, {
      suggestion:
        "Give max_pages and max_items in pagination: so many are taken, and has_more says that there are others.",
      details: { rule: "bound", pages: this.pages, items: this.items.length },
    });
  }

  private result(answer: HttpAnswer, { kind }: DecodedContent, step: PageStep): CallResult {
    const { max_items = this.items.length } = this.plugin;
    const { total_pages, total_items } = step;
    return {
      answer,
      content: { kind, value: this.items.slice(0, max_items) },
      pagination: {
        has_more: step.next !== undefined || this.items.length > max_items,
        pages: this.pages,
        ...(total_pages !== undefined && { total_pages }),
        ...(total_items !== undefined && { total_items }),
        strategy_used: step.strategy.strategy,
      },
      size_bytes: this.bytes,
    };
  }
}
