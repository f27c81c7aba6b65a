/**
 * Classifies an error of a provider or a CLI: one row of the error catalogue, and a sentence of ours.
 * Structured facts (an HTTP status, an error type) come first. Text is used only if a CLI gives nothing else,
 * and is never passed on, because upstream messages may hold keys, paths and prompts.
 */
import { classifyStatus, providerFault as fault, PROVIDER_ERRORS } from "../../protocol/provider-errors.ts";
import type { WorkerError } from "../../protocol/records.ts";
import { readReset } from "./reset-time.ts";

export { classifyStatus };

const NAMED: ReadonlyMap<string, WorkerError> = new Map(
  Object.entries<WorkerError>({
    ...PROVIDER_ERRORS,
    authentication_failed: fault("TOKEN_MISSING", "The agent's CLI has no valid credentials."),
    oauth_org_not_allowed: fault("TOKEN_INVALID", "The provider does not allow the account's organisation."),
    FatalAuthenticationError: fault("TOKEN_MISSING", "The agent's CLI has no valid credentials."),
    ProviderAuthError: fault("TOKEN_MISSING", "The agent's CLI has no valid credentials."),
    MessageOutputLengthError: PROVIDER_ERRORS.max_output_tokens,
    ContextOverflowError: PROVIDER_ERRORS.context_length_exceeded,
    FatalConfigError: fault("INVALID_REQUEST", "The agent's CLI did not accept its settings."),
    FatalTurnLimitedError: fault("MAX_TURNS", "The agent used all the turns that it was allowed."),
    FatalUntrustedWorkspaceError: fault(
      "PERMISSION_DENIED",
      "The agent's CLI does not trust its working directory.",
    ),
    error_max_turns: fault("MAX_TURNS", "The agent used all the turns that it was allowed."),
    error_max_budget_usd: fault("BUDGET_EXCEEDED", "The agent spent all the money that it was allowed."),
    error_max_structured_output_retries: fault(
      "AGENT_FAILED",
      "The agent could not answer in the requested form.",
    ),
  }),
);

/** The error for an error type, stop reason or subtype that a provider or a CLI names. */
export const classifyName = (name: unknown): WorkerError | undefined =>
  typeof name === "string" ? NAMED.get(name) : undefined;

/** The fixed texts of agent-event notes A.5: no session with the requested id, and no newest session. */
export const SESSION_NOT_FOUND = fault("SESSION_NOT_FOUND", "session not found");
export const NO_SESSION_FOUND = fault("SESSION_NOT_FOUND", "no session found");

/** The first match decides. Each pattern includes fixed words that a CLI prints around the fact. */
const TEXTS: readonly (readonly [RegExp, WorkerError])[] = [
  [/\bno (?:conversation found to continue|previous sessions? found)\b/i, NO_SESSION_FOUND],
  [
    /\bno (?:conversation|rollout|(?:saved )?session)s? found\b|\binvalid session identifier\b|session not found\b|\bno session, task, or name matched\b/i,
    SESSION_NOT_FOUND,
  ],
  [
    /\b(?:failed to|could not|cannot) (?:parse|load|read) (?:the )?(?:conversation|rollout|session|transcript)\b|\b(?:conversation|rollout|session|transcript)(?: file)? is (?:corrupt(?:ed)?|damaged)\b/i,
    fault("SESSION_NOT_FOUND", "The agent's CLI cannot read the session, because the session is damaged."),
  ],
  [
    /\bsession id \S+ (?:is already in use|already exists)\b/i,
    fault("ALREADY_EXISTS", "The session id is already in use."),
  ],
  [
    /\bnot logged in\b|\bmissing environment variable\b|\bno api key\b|\bmust specify the \w+ environment variable\b|\bno authentication information found\b/i,
    NAMED.get("authentication_failed")!,
  ],
  [/\b(?:oauth|access|refresh|session) token (?:has |is |was )?expired\b/i, NAMED.get("token_expired")!],
  // The fixed sentences of codex for its three most common failures.
  [/\bran out of room in the model's context window\b/i, NAMED.get("context_length_exceeded")!],
  [
    /\bThe model `?[^\s`]{1,128}`? does not exist or you do not have access to it\b/,
    NAMED.get("model_not_found")!,
  ],
  [
    /\binsufficient_quota\b|\busage limit\b|^Quota exceeded\. Check your plan and billing details\b/im,
    NAMED.get("insufficient_quota")!,
  ],
  // The limits of claude: "You've hit your session limit · resets 3pm", "5-hour limit reached ∙ resets 3pm".
  // The pattern lists them by name, because a context or memory limit does not pass by waiting.
  [
    /^(?:you've hit your [a-z ]{0,40}limit\b|(?:(?:\d{1,2}-hour|session|hourly|daily|weekly|monthly|rate|requests?|opus|sonnet|haiku) ){1,3}limit reached\b)/i,
    NAMED.get("insufficient_quota")!,
  ],
  [
    /\bcannot be used with root\b/i,
    fault(
      "PERMISSION_DENIED",
      "The agent's CLI refuses to run without permission checks as root: use --sandbox workspace, or --env IS_SANDBOX=1 in a container.",
    ),
  ],
  [
    /^error: (?:unknown option|unexpected argument|unrecognized|invalid value|invalid command format|option '[^']{1,64}' argument )|^unknown arguments?:|\brequires --|\brequire an explicit model\b/im,
    fault("INVALID_REQUEST", "The agent's CLI did not accept its arguments."),
  ],
  [
    /\bno prompt provided\b|\binput must be provided\b|\bno input provided\b|\bmust provide a message\b/i,
    fault("INPUT_REQUIRED", "The agent's CLI was given no prompt."),
  ],
  [
    /\bnot (?:inside|running in) a trusted directory\b/i,
    fault("PERMISSION_DENIED", "The agent's CLI does not trust its working directory."),
  ],
  // OpenCode prints this when several start at once in a HOME in which it has never run.
  [
    /\bFailed query:\s+CREATE TABLE\b|\bdatabase is locked\b/,
    fault(
      "AGENT_FAILED",
      "The agent's CLI could not use its database, because another process was using it.",
    ),
  ],
  [/\bidle timeout\b|\btimed out\b/i, NAMED.get("timeout_error")!],
  [/\breason: max_output_tokens\b/, NAMED.get("max_output_tokens")!],
  [/\breason: content_filter\b/, NAMED.get("refusal")!],
  // The words of gemini for an answer that it cannot use, and for a quota.
  [/\bexceeded the token limit\b/, NAMED.get("max_output_tokens")!],
  [/\bresponse was blocked due to\b/, NAMED.get("refusal")!],
  [/\brequest a quota increase\b/, NAMED.get("rate_limit")!],
  [
    /\breturned an empty response\b|\bno final response text\b|\bended without a finish reason\b/,
    PROVIDER_ERRORS.empty_answer,
  ],
  [/\bmaximum session turns exceeded\b|\breached max session turns\b/i, NAMED.get("FatalTurnLimitedError")!],
  // The only text that codex prints for a 5xx of its provider.
  [/\bexperiencing high demand\b/i, NAMED.get("server_error")!],
  [/\bstream disconnected\b/i, PROVIDER_ERRORS.connection_cut],
  [
    /\bconnection failed\b|\berror sending request\b|\bconnection refused\b|\bECONNREFUSED\b|\bfetch failed\b/i,
    NAMED.get("connection_failed")!,
  ],
];

/** As prose, or as `"code": 401` in Google's JSON. */
const STATUS_IN_TEXT = /\bstatus:? (\d{3})\b|"code"\s*:\s*(\d{3})\b/;
const TYPE_IN_TEXT = /"(?:type|code)"\s*:\s*"([a-z_]{1,64})"/g;

/** The part of a message or of stderr that is searched, in UTF-16 units. */
const LOOKED_AT_MAX_UNITS = 8_192;

/** The last resort, for a CLI that gives only text. */
export const classifyText = (text: string): WorkerError | undefined => {
  const head = text.slice(0, LOOKED_AT_MAX_UNITS);
  const [, said, code] = STATUS_IN_TEXT.exec(head) ?? [];
  const status = said ?? code;
  if (status !== undefined) return withReset(classifyStatus(Number(status)), head);
  for (const [, name] of head.matchAll(TYPE_IN_TEXT)) {
    const named = classifyName(name);
    if (named !== undefined) return withReset(named, head);
  }
  return withReset(TEXTS.find(([pattern]) => pattern.test(head))?.[1], head);
};

/** Adds the time of the reset, if the CLI names it. */
const withReset = (error: WorkerError | undefined, text: string): WorkerError | undefined =>
  error?.code === "RATE_LIMITED" ? { ...error, ...readReset(text) } : error && withExpiry(error, text);

const EXPIRED =
  /\b(?:oauth|access|refresh|session|id|bearer) token (?:has |is |was )?expired\b|\btoken_expired\b/i;

/** Refused credentials that have expired: the user only needs to refresh them. */
export const withExpiry = (error: WorkerError, text: string): WorkerError =>
  (error.code === "TOKEN_INVALID" || error.code === "TOKEN_MISSING") &&
  EXPIRED.test(text.slice(0, LOOKED_AT_MAX_UNITS))
    ? NAMED.get("token_expired")!
    : error;
