/** The body of a request: JSON, a form, parts with files of the workspace, text, or bytes. */
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { asObject, asString, type JsonObject } from "../../base/json.ts";
import { HTTP_FILE_MAX_BYTES } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { WorkspaceFiles } from "../paths.ts";
import { type ApiDocument, below, invalidDocument, valueAt } from "./document.ts";
import type { HttpAsk } from "./exchange.ts";
import type { ApiOperation } from "./operation.ts";
import type { SchemaChecker } from "./schema-checker.ts";

export interface BodyChoice {
  readonly body?: unknown;
  readonly content_type?: string | undefined;
}

type EncodedBody = Pick<HttpAsk, "body"> & { readonly content_type?: string };

/** A type that can stand in a header. */
const MEDIA = /^[\x20-\x7e]+$/;
const isJson = (media: string): boolean => /^application\/(?:[\w.+-]+\+)?json\b/i.test(media);
const FORM = "application/x-www-form-urlencoded";
const PARTS = "multipart/form-data";

/** Fails with INVALID_REQUEST if the operation wants another body. */
export const encodeBody = (
  document: ApiDocument,
  { body }: ApiOperation,
  choice: BodyChoice,
  checker: SchemaChecker,
  files: WorkspaceFiles,
): EncodedBody => {
  if (choice.body === undefined) {
    if (body?.value.required !== true) return {};
    throw new HoldfastError("INVALID_REQUEST", "Invalid arguments: missing required body.", {
      suggestion: "Give body.",
      details: { issue: "body_validation_failed", expected_in: "body" },
    });
  }
  if (body === undefined) throw new HoldfastError("INVALID_REQUEST", "The operation takes no body.");
  const content = asObject(body.value.content);
  if (content === undefined) throw invalidDocument("a body has no content", body.pointer);
  const media = mediaOf(content, choice.content_type);
  const schema = below(body.pointer, "content", media, "schema");
  if (valueAt(document, schema) !== undefined && (isJson(media) || media === FORM)) {
    const problems = checker.body(schema, choice.body);
    if (problems.length > 0)
      throw new HoldfastError("INVALID_REQUEST", `Invalid arguments: ${problems[0]}.`, {
        problems,
        details: { issue: "body_validation_failed", expected_in: "body" },
      });
  }
  return encodedAs(media, choice.body, files);
};

const mediaOf = (content: JsonObject, wanted: string | undefined): string => {
  const all = Object.keys(content).filter((media) => MEDIA.test(media));
  if (wanted !== undefined) {
    if (all.includes(wanted)) return wanted;
    throw new HoldfastError("INVALID_REQUEST", `The operation takes no body of the type ${wanted}.`, {
      suggestion: `Give one of ${all.join(", ")} as content_type.`,
    });
  }
  const chosen = all.find(isJson) ?? [FORM, PARTS].find((media) => all.includes(media)) ?? all[0];
  if (chosen === undefined) throw invalidDocument("a body has a content without a type");
  return chosen;
};

const text = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));

const encodedAs = (media: string, value: unknown, files: WorkspaceFiles): EncodedBody => {
  if (isJson(media) || media === "*/*") {
    const content_type = media === "*/*" ? "application/json" : media;
    return { body: JSON.stringify(value), content_type };
  }
  const object = asObject(value);
  if (media === FORM || media === PARTS) {
    if (object === undefined)
      throw new HoldfastError("INVALID_REQUEST", `A body of the type ${media} is an object of fields.`);
    // For parts, fetch writes the type itself, with the boundary between them.
    return media === FORM ? { body: formOf(object), content_type: media } : { body: partsOf(object, files) };
  }
  const file = fileOf(value, files);
  if (file !== undefined) return { body: file.bytes, content_type: media };
  if (typeof value === "string") return { body: value, content_type: media };
  throw new HoldfastError("INVALID_REQUEST", `A body of the type ${media} is a text, or {"file": PATH}.`);
};

const formOf = (object: JsonObject): string => {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(object))
    for (const one of Array.isArray(value) ? value : [value])
      if (one !== undefined) form.append(name, text(one));
  return form.toString();
};

const partsOf = (object: JsonObject, files: WorkspaceFiles): FormData => {
  const form = new FormData();
  for (const [name, value] of Object.entries(object))
    for (const one of Array.isArray(value) ? value : [value]) {
      const file = fileOf(one, files);
      if (file === undefined) form.append(name, text(one));
      else form.append(name, new Blob([file.bytes]), file.name);
    }
  return form;
};

/** A file of the workspace: `{"file": PATH}`. Undefined for any other value. */
const fileOf = (
  value: unknown,
  files: WorkspaceFiles,
): { readonly name: string; readonly bytes: Uint8Array<ArrayBuffer> } | undefined => {
  const object = asObject(value);
  const path = asString(object?.file);
  if (object === undefined || path === undefined || Object.keys(object).length !== 1) return undefined;
  const { fd } = files.file(path);
  try {
    if (fstatSync(fd).size > HTTP_FILE_MAX_BYTES)
      throw new HoldfastError("REQUEST_TOO_LARGE", `${path} has more than ${HTTP_FILE_MAX_BYTES} bytes.`, {
        suggestion: "Send a smaller file.",
      });
    return { name: basename(path), bytes: new Uint8Array(readFileSync(fd)) };
  } finally {
    closeSync(fd);
  }
};
