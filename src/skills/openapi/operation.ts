/** An operation of an OpenAPI document: its method and path, its parameters, its body, and its server. */
import { asList, asObject, asString, type JsonObject } from "../../base/json.ts";
import { OPERATIONS_TOLD_MAX } from "../../base/limits.ts";
import { didYouMean } from "../../base/suggest.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { isHeaderName, TOKEN } from "./auth.ts";
import { type ApiDocument, below, type DocumentNode, invalidDocument, nodeAt, valueAt } from "./document.ts";

const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"] as const;
const PLACES = ["path", "query", "header", "cookie"] as const;
export type ParameterPlace = (typeof PLACES)[number];

export interface ApiParameter {
  readonly name: string;
  readonly in: ParameterPlace;
  readonly required: boolean;
  readonly style: string;
  readonly explode: boolean;
  readonly allowReserved: boolean;
  /** The media type of a parameter that has `content` in place of `schema`. */
  readonly media?: string;
  /** The place of its schema; undefined if it has none. */
  readonly schema?: string;
}

export interface ApiOperation {
  readonly id?: string;
  /** In capitals. */
  readonly method: string;
  /** The template: `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly ApiParameter[];
  readonly body?: DocumentNode;
  /** Place of the servers that hold for it; undefined if the document names none. */
  readonly servers?: string;
  /** Names of the security schemes that the document asks for. */
  readonly security: readonly string[];
}

interface OperationPlace {
  readonly id: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly item: DocumentNode;
}

/** All operations of a document. A path item that refers elsewhere is followed. */
const operationsOf = function* (document: ApiDocument): Generator<OperationPlace> {
  for (const path of Object.keys(asObject(document.root.paths) ?? {})) {
    if (!path.startsWith("/")) continue;
    const item = nodeAt(document, below("/paths", path));
    for (const method of METHODS) {
      const operation = asObject(item.value[method]);
      if (operation !== undefined) yield { id: asString(operation.operationId), method, path, item };
    }
  }
};

const nameOf = ({ id, method, path }: OperationPlace): string => id ?? `${method.toUpperCase()} ${path}`;

/** `name` is an operationId, or a method and a path: `GET /pets`. Fails with OPENAPI_INVALID. */
export const findOperation = (document: ApiDocument, name: string): ApiOperation => {
  const all = [...operationsOf(document)];
  const [, method, path] = /^([A-Za-z]+) +(\/.*)$/.exec(name) ?? [];
  const found = all.filter((place) =>
    method === undefined ? place.id === name : place.method === method.toLowerCase() && place.path === path,
  );
  const [place] = found;
  if (place === undefined) throw unknownOperation(name, all.map(nameOf));
  if (found.length > 1)
    throw invalidDocument(
      `${found.length} operations have the operationId ${name}; give a method and a path`,
    );
  return described(document, place);
};

const unknownOperation = (name: string, names: readonly string[]): HoldfastError =>
  new HoldfastError(
    "OPENAPI_INVALID",
    `The OpenAPI document has no operation ${name}${didYouMean(name, names)}`.replace(
      /\??$/,
      (end) => end || ".",
    ),
    {
      suggestion: "Give an operationId of the document, or a method and a path such as `GET /pets`.",
      details: {
        operation: name,
        operations: names.slice(0, OPERATIONS_TOLD_MAX),
        operation_count: names.length,
      },
    },
  );

const described = (document: ApiDocument, { id, method, path, item }: OperationPlace): ApiOperation => {
  const pointer = below(item.pointer, method);
  const operation = nodeAt(document, pointer).value;
  const parameters = new Map<string, ApiParameter>();
  // Those of the operation replace those of its path.
  for (const at of [item.pointer, pointer])
    for (const parameter of parametersAt(document, below(at, "parameters")))
      parameters.set(`${parameter.in}:${parameter.name}`, parameter);
  for (const [, name] of path.matchAll(/\{([^{}]+)\}/g))
    if (!parameters.has(`path:${name}`))
      throw invalidDocument(`the path ${path} has {${name}}, and no parameter has this name`, pointer);
  const servers = [pointer, item.pointer, ""]
    .map((at) => below(at, "servers"))
    .find((at) => asList(valueAt(document, at)).length > 0);
  const security = asList(operation.security ?? document.root.security);
  return {
    ...(id !== undefined && { id }),
    method: method.toUpperCase(),
    path,
    parameters: [...parameters.values()],
    ...(operation.requestBody !== undefined && { body: nodeAt(document, below(pointer, "requestBody")) }),
    ...(servers !== undefined && { servers }),
    security: [...new Set(security.flatMap((one) => Object.keys(asObject(one) ?? {})))],
  };
};

/** OpenAPI, Parameter Object: the document may not describe these headers as parameters. */
const NO_PARAMETERS: ReadonlySet<string> = new Set(["accept", "content-type", "authorization"]);

const parametersAt = (document: ApiDocument, pointer: string): readonly ApiParameter[] => {
  const list = valueAt(document, pointer);
  if (list === undefined) return [];
  if (!Array.isArray(list)) throw invalidDocument("`parameters` is no list", pointer);
  return list
    .map((_, at) => parameterAt(document, nodeAt(document, below(pointer, at))))
    .filter((one) => one.in !== "header" || !NO_PARAMETERS.has(one.name.toLowerCase()));
};

const parameterAt = (document: ApiDocument, { value, pointer }: DocumentNode): ApiParameter => {
  const name = asString(value.name);
  const place = PLACES.find((one) => one === value.in);
  if (name === undefined || name === "") throw invalidDocument("a parameter has no name", pointer);
  if (place === undefined)
    throw invalidDocument(`the parameter ${name} is in none of ${PLACES.join(", ")}`, pointer);
  if ((place === "header" && !isHeaderName(name)) || (place === "cookie" && !TOKEN.test(name)))
    throw invalidDocument(`${JSON.stringify(name)} is no name for a ${place}`, pointer);
  const style = asString(value.style) ?? (place === "query" || place === "cookie" ? "form" : "simple");
  return {
    name,
    in: place,
    required: place === "path" || value.required === true,
    style,
    explode: typeof value.explode === "boolean" ? value.explode : style === "form",
    allowReserved: value.allowReserved === true,
    ...schemaOf(document, value, pointer, name),
  };
};

const schemaOf = (
  document: ApiDocument,
  value: JsonObject,
  pointer: string,
  name: string,
): Pick<ApiParameter, "media" | "schema"> => {
  if (value.schema !== undefined) return { schema: below(pointer, "schema") };
  const [media] = Object.keys(asObject(value.content) ?? {});
  if (media === undefined)
    throw invalidDocument(`the parameter ${name} has neither a schema nor a content`, pointer);
  const at = below(pointer, "content", media, "schema");
  return { media, ...(valueAt(document, at) !== undefined && { schema: at }) };
};

/** The choices of a caller among the servers of a document. */
export interface ServerChoice {
  readonly base_url?: string | undefined;
  readonly server?: number | undefined;
  readonly server_variables?: Readonly<Record<string, string>> | undefined;
}

/** The URL before the path of the operation, without a slash at its end. */
export const baseOf = (document: ApiDocument, { servers }: ApiOperation, choice: ServerChoice): string => {
  const text = choice.base_url ?? serverOf(document, servers, choice);
  let url: URL;
  try {
    url = new URL(text, document.url);
  } catch (cause) {
    throw new HoldfastError("INVALID_REQUEST", `The server ${text} is no absolute URL.`, {
      suggestion: "Give base_url, such as https://api.example.com/v1.",
      cause,
    });
  }
  if (!/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw new HoldfastError(
      "INVALID_REQUEST",
      "The URL of a server begins with http or https, and names no user.",
      {
        suggestion: "Give base_url without a user, and the credentials by auth.",
      },
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
};

const serverOf = (document: ApiDocument, servers: string | undefined, choice: ServerChoice): string => {
  const count = servers === undefined ? 0 : asList(valueAt(document, servers)).length;
  const index = choice.server ?? 0;
  if (servers === undefined && index === 0) return "/";
  if (servers === undefined || index >= count)
    throw new HoldfastError(
      "INVALID_REQUEST",
      `The document has ${count} servers, and none has the number ${index}.`,
      {
        suggestion: "Leave server out for the first one, or give base_url.",
      },
    );
  const { value, pointer } = nodeAt(document, below(servers, index));
  const template = asString(value.url);
  if (template === undefined) throw invalidDocument("a server has no url", pointer);
  const given = choice.server_variables ?? {};
  return template.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = asObject(asObject(value.variables)?.[name]);
    const chosen = Object.hasOwn(given, name) ? given[name] : asString(variable?.default);
    if (chosen === undefined)
      throw variable === undefined
        ? invalidDocument(`the server has {${name}}, and no variable has this name`, pointer)
        : invalidDocument(`the variable ${name} of a server has no default`, pointer);
    const known = asList(variable?.enum);
    if (known.length > 0 && !known.includes(chosen))
      throw new HoldfastError(
        "INVALID_REQUEST",
        `The variable ${name} of the server is one of ${known.join(", ")}.`,
      );
    return chosen;
  });
};
