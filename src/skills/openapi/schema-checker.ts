/**
 * Holds values to the schemas of a document, by Ajv. The schemas come from anybody, so their patterns run on RE2, whose time
 * is linear, and a pattern that RE2 does not have, or only as a large program, is left to the server. The values themselves are never told.
 */
import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { RE2JS } from "re2js";
import { asList, asObject } from "../../base/json.ts";
import { SCHEMA_PROBLEMS_MAX } from "../../base/limits.ts";
import { compilePattern } from "../patterns.ts";
import { type ApiDocument, invalidDocument } from "./document.ts";

export interface SchemaChecker {
  /** The mistakes of a value, a sentence each. On the wire it is text, so text that reads as a number is one. */
  parameter(pointer: string, value: unknown, name: string): readonly string[];
  body(pointer: string, value: unknown): readonly string[];
}

const pattern = Object.assign(
  (text: string): { test(value: string): boolean } => {
    try {
      const form = compilePattern(RE2JS.translateRegExp(text));
      return { test: (value) => form.matcher(value).find() };
    } catch {
      return { test: () => true };
    }
  },
  { code: "linear" },
);

const OPTIONS: Options = {
  strict: false,
  allErrors: true,
  validateSchema: false,
  validateFormats: false,
  logger: false,
  code: { regExp: pattern },
};

const DOCUMENT = "document:api";

export const schemaChecker = (document: ApiDocument): SchemaChecker => {
  const root = document.version === "3.0" ? asDraft7(document.root) : document.root;
  const made = new Map<boolean, Ajv>();
  const checker = (coerceTypes: boolean): Ajv => {
    const known = made.get(coerceTypes);
    if (known !== undefined) return known;
    const options = { ...OPTIONS, coerceTypes };
    const ajv = document.version === "3.0" ? new Ajv(options) : new Ajv2020(options);
    ajv.addSchema(root as AnySchemaObject, DOCUMENT);
    made.set(coerceTypes, ajv);
    return ajv;
  };
  const check = (pointer: string, value: unknown, name: string, coerceTypes: boolean): readonly string[] => {
    const fragment = pointer.split("/").map(encodeURIComponent).join("/");
    let holds: ValidateFunction;
    try {
      holds = checker(coerceTypes).compile({
        type: "object",
        properties: { value: { $ref: `${DOCUMENT}#${fragment}` } },
      });
    } catch (cause) {
      throw invalidDocument(
        `the schema of ${name} cannot be used: ${(cause as Error).message}`,
        pointer,
        cause,
      );
    }
    // A check that reads text as a number writes the number into what it checks.
    if (holds({ value: coerceTypes ? structuredClone(value) : value })) return [];
    return (holds.errors ?? []).slice(0, SCHEMA_PROBLEMS_MAX).map((error) => sentenceOf(error, name));
  };
  return {
    parameter: (pointer, value, name) => check(pointer, value, name, true),
    body: (pointer, value) => check(pointer, value, "the body", false),
  };
};

const sentenceOf = ({ instancePath, message, params }: ErrorObject, name: string): string => {
  const path = instancePath.split("/").slice(2).join("/");
  const allowed = asList(params.allowedValues);
  return [
    name,
    ...(path === "" ? [] : [`at ${path}`]),
    message ?? "is not valid",
    ...(allowed.length > 0 ? [`(${allowed.slice(0, SCHEMA_PROBLEMS_MAX).join(", ")})`] : []),
  ].join(" ");
};

/** Schemas of OpenAPI 3.0 in the words of draft 7: `nullable`, and bounds that a boolean makes exclusive. */
const asDraft7 = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(asDraft7);
  const object = asObject(value);
  if (object === undefined) return value;
  const copy: Record<string, unknown> = Object.fromEntries(
    Object.entries(object).map(([name, member]) => [name, asDraft7(member)]),
  );
  if (typeof copy.nullable === "boolean") {
    if (copy.nullable && typeof copy.type === "string") {
      copy.type = [copy.type, "null"];
      if (Array.isArray(copy.enum) && !copy.enum.includes(null)) copy.enum = [...copy.enum, null];
    }
    delete copy.nullable;
  }
  for (const [bound, exclusive] of [
    ["minimum", "exclusiveMinimum"],
    ["maximum", "exclusiveMaximum"],
  ] as const) {
    if (typeof copy[exclusive] !== "boolean") continue;
    const isExclusive = copy[exclusive] && typeof copy[bound] === "number";
    if (isExclusive) copy[exclusive] = copy[bound];
    else delete copy[exclusive];
    if (isExclusive) delete copy[bound];
  }
  return copy;
};
