/** The reading of a CLI's words, where it gives nothing else. */
import { expect, it } from "vitest";
import { classifyText } from "../../../src/adapters/decoding/classify.ts";

it.each([
  "5-hour limit reached ∙ resets 3pm",
  "Session limit reached ∙ resets 3pm",
  "Weekly limit reached ∙ resets Feb 3 at 10am",
  "Opus weekly limit reached",
  "Sonnet limit reached ∙ resets 3pm",
  "Rate limit reached for the model. Please try again in 1.2s.",
  "Request limit reached",
  "Claude AI usage limit reached|1749924000",
  "You've hit your limit · resets 3pm",
  "You've hit your weekly limit",
])("a limit that passes by waiting: %s", (text) => {
  expect(classifyText(text)?.code).toBe("RATE_LIMITED");
});

it.each([
  "Context limit reached · /compact or /clear to continue",
  "Memory limit reached",
  "token limit reached",
  "output-token limit reached",
  "Recursion limit reached",
  "Turn limit reached",
  "The tool said: 5-hour limit reached",
])("a limit that does not: %s", (text) => {
  expect(classifyText(text)?.code).not.toBe("RATE_LIMITED");
});

it.each([
  [
    "Codex ran out of room in the model's context window. Start a new thread or clear earlier history before retrying.",
    "PROVIDER_BAD_REQUEST",
  ],
  ["Quota exceeded. Check your plan and billing details.", "RATE_LIMITED"],
  ["The model gpt-x does not exist or you do not have access to it.", "PROVIDER_BAD_REQUEST"],
  ["The model `gpt-x` does not exist or you do not have access to it.", "PROVIDER_BAD_REQUEST"],
])("of codex: %s", (text, code) => {
  expect(classifyText(text)?.code).toBe(code);
});

it.each([
  "\u001b[91m\u001b[1mError: \u001b[0mUnexpected error\n\nFailed query: \n        CREATE TABLE `workspace` (\n          `id` text PRIMARY KEY",
  "\u001b[91m\u001b[1mError: \u001b[0mUnexpected error\n\ndatabase is locked\n",
])("a database of opencode that several of them make at once: %j", (stderr) => {
  expect(classifyText(stderr)).toEqual({
    code: "AGENT_FAILED",
    message: "The agent's CLI could not use its database, because another process was using it.",
  });
});

it.each([
  ["No conversation found with session ID: 99999999-2222-4333-8444-555555555555", "session not found"],
  ["Error: thread/resume: thread/resume failed: no rollout found for thread id 01a1", "session not found"],
  ["No conversation found to continue", "no session found"],
  ["Error resuming session: No previous sessions found for this project.", "no session found"],
])("a session that is gone is told in the contract's words (A.5): %s", (text, message) => {
  expect(classifyText(text)).toEqual({ code: "SESSION_NOT_FOUND", message });
});

it.each(["Failed to parse session 01a1: unexpected end of JSON input", "The rollout file is corrupted"])(
  "a session that is damaged: %s",
  (text) => {
    expect(classifyText(text)?.code).toBe("SESSION_NOT_FOUND");
  },
);

it.each(["Failed to load the settings of the session", "your session is fine", "cannot read the file"])(
  "none: %s",
  (text) => {
    expect(classifyText(text)?.code).not.toBe("SESSION_NOT_FOUND");
  },
);

it.each([
  'API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"OAuth token has expired. Please obtain a new token or refresh your existing token."}} · Please run /login',
  "Your access token could not be refreshed because your refresh token has expired. Please log out and sign in again.",
  'unexpected status 401 Unauthorized: {"error":{"code":"token_expired"}}',
])("credentials whose time is over: %s", (text) => {
  expect(classifyText(text)?.code).toBe("TOKEN_EXPIRED");
});

it.each([
  ["API Error: 401 Invalid bearer token, status: 401", "TOKEN_INVALID"],
  ["Not logged in · Please run /login", "TOKEN_MISSING"],
  ["status: 500, the cache of a token has expired entries", "PROVIDER_ERROR"],
])("other credentials, and no credentials at all: %s is %s", (text, code) => {
  expect(classifyText(text)?.code).toBe(code);
});
