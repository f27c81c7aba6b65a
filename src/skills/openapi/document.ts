/**
 * An OpenAPI document, version 3.0 or 3.1, in JSON or YAML. Only what a call needs is checked: documents that servers publish
 * have mistakes in places that nobody uses. References lead to places in the same document, and nowhere else.
 */
import { parse as parseYaml, YAMLParseError } from "yaml";
import { asObject, type JsonObject } from "../../base/json.ts";
import {
  OPENAPI_DEPTH_MAX,
  OPENAPI_REFERENCES_MAX,
  OPENAPI_VALUES_MAX,
  YAML_ALIASES_MAX,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";

export interface ApiDocument {
  readonly root: JsonObject;
  readonly version: "3.0" | "3.1";
  /** The URL from which it was read; relative servers begin there. */
  readonly url?: string;
}

/** A value of a document, and where it stands there. */
export interface DocumentNode {
  readonly value: JsonObject;
  /** RFC 6901: `/paths/~1pets/get`. */
  readonly pointer: string;
}

/** The sentence ends without a full stop. */
export const invalidDocument = (sentence: string, pointer?: string, cause?: unknown): HoldfastError =>
  new HoldfastError(
    "OPENAPI_INVALID",
    `The OpenAPI document is not valid: ${sentence}${pointer === undefined ? "" : ` (at #${pointer})`}.`,
    { details: pointer === undefined ? {} : { pointer: `#${pointer}` }, cause },
  );

/** Fails with OPENAPI_INVALID. */
export const readDocument = (text: string, url?: string): ApiDocument => {
  const parsed = parsedText(text);
  refuseDeep(parsed);
  const root = asObject(parsed);
  if (root === undefined) throw invalidDocument("it is no object");
  const { openapi, swagger, paths } = root;
  if (swagger !== undefined)
    throw invalidDocument(`it is of version ${String(swagger)} of Swagger; convert it to OpenAPI 3`);
  const [, version] = /^(3\.[01])(?:\.\d+)?(?:-|$)/.exec(String(openapi)) ?? [];
  if (version === undefined)
    throw invalidDocument(
      openapi === undefined
        ? "it has no member `openapi`"
        : `its version is ${String(openapi).slice(0, 32)}, and 3.0 and 3.1 are known`,
      openapi === undefined ? undefined : "/openapi",
    );
  if (asObject(paths) === undefined) throw invalidDocument("`paths` is no object", "/paths");
  return { root, version: version as ApiDocument["version"], ...(url !== undefined && { url }) };
};

const parsedText = (text: string): unknown => {
  try {
    return /^\s*\{/.test(text)
      ? JSON.parse(text)
      : parseYaml(text, { maxAliasCount: YAML_ALIASES_MAX, logLevel: "error" });
  } catch (cause) {
    const [place] = cause instanceof YAMLParseError ? (cause.linePos ?? []) : [];
    throw place === undefined
      ? invalidDocument(
          `it is neither JSON nor YAML: ${(cause as Error).message.split("\n")[0]}`,
          undefined,
          cause,
        )
      : invalidDocument(`its YAML is broken at line ${place.line}, column ${place.col}`, undefined, cause);
  }
};

/** Anchors of YAML can make a value that contains itself, or one that is small as text and large as a value. */
const refuseDeep = (top: unknown): void => {
  let values = 0;
  const visit = (value: unknown, depth: number): void => {
    values += 1;
    if (values > OPENAPI_VALUES_MAX) throw invalidDocument(`it has more than ${OPENAPI_VALUES_MAX} values`);
    if (typeof value !== "object" || value === null) return;
    if (depth === OPENAPI_DEPTH_MAX)
      throw invalidDocument(`it nests deeper than ${OPENAPI_DEPTH_MAX} levels`);
    for (const member of Object.values(value)) visit(member, depth + 1);
  };
  visit(top, 0);
};

export const below = (pointer: string, ...names: readonly (string | number)[]): string =>
  names.reduce<string>(
    (at, name) => `${at}/${String(name).replaceAll("~", "~0").replaceAll("/", "~1")}`,
    pointer,
  );

/** The object at a place, or at the place to which it refers. Fails with OPENAPI_INVALID if there is none. */
export const nodeAt = (document: ApiDocument, pointer: string): DocumentNode => {
  let at = pointer;
  for (let count = 0; count <= OPENAPI_REFERENCES_MAX; count += 1) {
    const value = asObject(valueAt(document, at));
    if (value === undefined)
      throw invalidDocument(count === 0 ? "an object is missing" : "a reference leads to no object", at);
    const { $ref } = value;
    if ($ref === undefined) return { value, pointer: at };
    if (typeof $ref !== "string" || !/^#(?:\/|$)/.test($ref))
      throw invalidDocument(
        `the reference ${String($ref).slice(0, 128)} leads to another document; bundle both into one`,
        at,
      );
    at = fragmentOf($ref, at);
  }
  throw invalidDocument(`a reference leads through more than ${OPENAPI_REFERENCES_MAX} others`, pointer);
};

const fragmentOf = ($ref: string, at: string): string => {
  try {
    return decodeURIComponent($ref.slice(1));
  } catch (cause) {
    throw invalidDocument("a reference is not encoded as in a URL", at, cause);
  }
};

/** Undefined if the document has nothing there. */
export const valueAt = ({ root }: ApiDocument, pointer: string): unknown => {
  let value: unknown = root;
  for (const name of pointer.split("/").slice(1)) {
    if (typeof value !== "object" || value === null) return undefined;
    const key = name.replaceAll("~1", "/").replaceAll("~0", "~");
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
};
