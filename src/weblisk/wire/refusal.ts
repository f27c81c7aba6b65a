/** A request that is refused, and its ErrorResponse (weblisk.txt, Response Envelope and Standard Error Codes). Pure. */
import type { JsonObject } from "../../base/json.ts";
import { WEBLISK_TEXT_MAX_CHARS } from "../../base/limits.ts";
import { ERROR_CATALOGUE, type HoldfastError } from "../../protocol/errors.ts";
import { WEBLISK_CODES, type WebliskCode, webliskError } from "../../protocol/weblisk-errors.ts";

export interface RefusalFacts {
  /** A word for programs; in `detail.reason`. */
  readonly reason?: string;
  /** A status that the protocol gives no code of its own: 405, 409, 413, 415, 503. Default: that of the code. */
  readonly http?: number;
  readonly detail?: JsonObject;
  /** Whole seconds; also the header Retry-After. */
  readonly retry_after?: number;
  /** Overrides what the category says. */
  readonly retryable?: boolean;
  /** The methods that a path knows, for 405. */
  readonly allow?: string;
  readonly cause?: unknown;
}

export class WebliskRefusal extends Error {
  readonly code: WebliskCode;
  readonly facts: RefusalFacts;

  /** `message`: one sentence for a person, with the next step. */
  constructor(code: WebliskCode, message: string, facts: RefusalFacts = {}) {
    super(message, { cause: facts.cause });
    this.name = "WebliskRefusal";
    this.code = code;
    this.facts = facts;
  }
}

export interface WireAnswer {
  readonly status: number;
  readonly body: JsonObject;
  /** The body as somebody else has written it, which goes on as it came. */
  readonly text?: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Somebody else's text on one line, without signs that steer a terminal. */
export const plain = (said: string): string => said.replace(/\p{C}+/gu, " ").slice(0, WEBLISK_TEXT_MAX_CHARS);

/** The answer to a request that was refused. */
export const answerOfRefusal = ({ code, message, facts }: WebliskRefusal): WireAnswer => {
  const { http, category } = WEBLISK_CODES[code];
  const detail = { ...(facts.reason !== undefined && { reason: facts.reason }), ...facts.detail };
  return {
    status: facts.http ?? http,
    body: {
      error: message.slice(0, WEBLISK_TEXT_MAX_CHARS),
      code,
      category,
      retryable: facts.retryable ?? category === "transient",
      ...(Object.keys(detail).length > 0 && { detail }),
      ...(facts.retry_after !== undefined && { retry_after: facts.retry_after }),
    },
    headers: {
      ...(facts.retry_after !== undefined && { "retry-after": String(facts.retry_after) }),
      ...(facts.allow !== undefined && { allow: facts.allow }),
    },
  };
};

/** Seconds after which an error that is over soon is worth another try. */
const RETRY_AFTER_S = 1;

/** An error of the daemon in the words of the protocol; ours is `detail.reason`. */
export const refusalOfError = ({ code, message, info }: HoldfastError): WebliskRefusal => {
  const { code: named, http } = webliskError(code);
  const isBusy = http === 429 || http === 503;
  return new WebliskRefusal(named, message, {
    reason: code.toLowerCase(),
    http,
    retryable: ERROR_CATALOGUE[code].retryable && named !== "INVALID_REQUEST",
    ...(isBusy && { retry_after: info.retry_after_s ?? RETRY_AFTER_S }),
    ...(info.suggestion !== undefined && { detail: { suggestion: info.suggestion } }),
  });
};
