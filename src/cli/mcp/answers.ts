/** Answers of the tools: bounded, and as JSON both in the text and in the structured content. Pure. */
import type { CallToolResult } from "@modelcontextprotocol/server";
import { MCP_SERVED_MAX_BYTES, MCP_SERVED_TEXT_MAX_BYTES } from "../../base/limits.ts";
import { cutUtf8 } from "../../protocol/bounds.ts";
import { ERROR_CATALOGUE, HoldfastError } from "../../protocol/errors.ts";
import { redactText, redactValue } from "../../protocol/redact.ts";

/** Each text at most MCP_SERVED_TEXT_MAX_BYTES long, with a mark where it was cut. */
const withShortTexts = (value: unknown): unknown => {
  if (typeof value === "string") return shortText(value);
  if (Array.isArray(value)) return value.map(withShortTexts);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withShortTexts(each)]));
};

const shortText = (text: string): string => {
  const bytes = Buffer.byteLength(text);
  if (bytes <= MCP_SERVED_TEXT_MAX_BYTES) return text;
  const kept = cutUtf8(text, MCP_SERVED_TEXT_MAX_BYTES);
  return `${kept} [${bytes - Buffer.byteLength(kept)} bytes cut]`;
};

/** Throws OUTPUT_TOO_LARGE for a value that is too large even with short texts. `isWhole`: its texts are bounded already. */
export const boundedJson = (value: object, isWhole = false): string => {
  const json = JSON.stringify(redactValue(isWhole ? value : withShortTexts(value)));
  const bytes = Buffer.byteLength(json);
  if (bytes <= MCP_SERVED_MAX_BYTES) return json;
  throw new HoldfastError(
    "OUTPUT_TOO_LARGE",
    `The answer has ${bytes} bytes; at most ${MCP_SERVED_MAX_BYTES} are sent.`,
    { suggestion: "Ask for less: name a worker, a limit or a cursor." },
  );
};

export const answerOf = (value: object, isWhole = false): CallToolResult => {
  const text = boundedJson(value, isWhole);
  return {
    content: [{ type: "text", text }],
    structuredContent: JSON.parse(text) as Record<string, unknown>,
  };
};

export const refusalOf = ({ code, message, info }: HoldfastError): CallToolResult => {
  const { retryable, next } = ERROR_CATALOGUE[code];
  const told = { code, message, suggestion: info.suggestion ?? next, retryable };
  return { isError: true, content: [{ type: "text", text: redactText(JSON.stringify(told)) }] };
};
