/**
 * The credentials of a request (plugin/auth). A caller names secrets, and never gives them: their values go into the request
 * alone, and everything that is told afterwards is masked by them.
 */
import * as z from "zod";
import { KNOWN_SECRET_MIN_CHARS, SKILL_NAME_MAX_UNITS } from "../../base/limits.ts";
import { MASK } from "../../base/secrets/shapes.ts";
import { HoldfastError } from "../../protocol/errors.ts";

/** The name of a header (RFC 9110, token). */
export const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Headers that belong to the connection. */
const NOT_OURS =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|keep-alive|proxy-.*)$/i;

export const isHeaderName = (name: string): boolean => TOKEN.test(name) && !NOT_OURS.test(name);

const name = z.string().min(1).max(SKILL_NAME_MAX_UNITS);
const headerName = name
  .regex(TOKEN, "a header has a name of letters, digits and hyphens")
  .refine((text) => !NOT_OURS.test(text), "this header belongs to the connection");
const secret = name.describe("name of the secret");

export const authSchema = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("none") }),
  z.strictObject({ type: z.literal("bearer"), secret }),
  z.strictObject({
    type: z.literal("basic"),
    username: z.string().max(SKILL_NAME_MAX_UNITS).describe("name of the user; the secret is the password"),
    secret,
  }),
  z.strictObject({
    type: z.literal("api_key"),
    in: z.enum(["header", "query", "cookie"]).describe("place of the key"),
    name: name.regex(TOKEN, "the key has a name of letters, digits and hyphens").describe("name of the key"),
    secret,
  }),
  z.strictObject({
    type: z.literal("header"),
    name: headerName.describe("name of the header"),
    secret,
    prefix: z
      .string()
      .max(SKILL_NAME_MAX_UNITS)
      .regex(/^[\x20-\x7e]*$/)
      .default("")
      .describe("text before the secret"),
  }),
]);
export type AuthPlugin = z.output<typeof authSchema>;

/** One place of a request that holds a credential. */
export interface Credential {
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
  /** Never told. */
  readonly value: string;
  /** As it may be told: `Bearer ***`. */
  readonly shown: string;
}

export interface Credentials {
  readonly placed: readonly Credential[];
  /** All texts that must be masked wherever they appear. */
  readonly secrets: readonly string[];
}

export const NO_CREDENTIALS: Credentials = { placed: [], secrets: [] };

/** Fails with SECRET_UNAVAILABLE if the caller has no such secret, or one that cannot be sent or masked. */
export const credentialsOf = (
  plugin: AuthPlugin,
  secretOf: (name: string) => string | undefined,
): Credentials => {
  if (plugin.type === "none") return NO_CREDENTIALS;
  const value = known(plugin.secret, secretOf(plugin.secret));
  switch (plugin.type) {
    case "bearer":
      return inHeader("Authorization", "Bearer ", value, [value]);
    case "basic": {
      const pair = Buffer.from(`${plugin.username}:${value}`, "utf8").toString("base64");
      return inHeader("Authorization", "Basic ", pair, [value, pair]);
    }
    case "header":
      return inHeader(plugin.name, plugin.prefix, value, [value]);
    case "api_key": {
      if (plugin.in === "header" && NOT_OURS.test(plugin.name))
        throw new HoldfastError("INVALID_REQUEST", `The header ${plugin.name} belongs to the connection.`);
      const { in: place, name } = plugin;
      return { placed: [{ in: place, name, value, shown: MASK }], secrets: [value] };
    }
  }
};

const inHeader = (name: string, prefix: string, value: string, secrets: readonly string[]): Credentials => ({
  placed: [{ in: "header", name, value: `${prefix}${value}`, shown: `${prefix}${MASK}` }],
  secrets,
});

const known = (name: string, value: string | undefined): string => {
  const text = value?.trim() ?? "";
  if (text.length >= KNOWN_SECRET_MIN_CHARS && /^[\x20-\x7e]+$/.test(text)) return text;
  const why =
    text === ""
      ? "is not set"
      : text.length < KNOWN_SECRET_MIN_CHARS
        ? `is shorter than ${KNOWN_SECRET_MIN_CHARS} characters, so that it could not be masked`
        : "is not one line of printable ASCII";
  throw new HoldfastError("SECRET_UNAVAILABLE", `The secret ${name} ${why}.`, {
    suggestion: "Give the skill a secret of this name.",
    details: { secret_name: name },
  });
};
