/** Puts the values of parameters into a request, by their style (OpenAPI, Style Values; RFC 6570). */
import { asObject } from "../../base/json.ts";
import { didYouMean } from "../../base/suggest.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import type { ApiOperation, ApiParameter, ParameterPlace } from "./operation.ts";
import type { SchemaChecker } from "./schema-checker.ts";

/** A name and its encoded value in a query. */
export type QueryPair = readonly [name: string, value: string];

export interface PlacedParameters {
  /** The path with its values, encoded. */
  readonly path: string;
  readonly query: readonly QueryPair[];
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
}

export const encoded = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );

/** Leaves reserved characters as they are, but for those that would end the value in a query. */
const encodedReserved = (text: string): string =>
  encodeURIComponent(text.toWellFormed()).replace(/%(?:3A|2F|3F|40|24|2C|3B|3D)/g, (sequence) =>
    decodeURIComponent(sequence),
  );

/**
 * `given` has values by the name of their parameter, or by `place:name` where two parameters have one name. Fails with
 * INVALID_REQUEST, which names all missing parameters of a place.
 */
export const placeParameters = (
  { path, parameters }: ApiOperation,
  given: Readonly<Record<string, unknown>>,
  checker: SchemaChecker,
): PlacedParameters => {
  const values = valuesOf(parameters, given);
  refuseMissing(parameters, values);
  const problems = parameters.flatMap((parameter) =>
    !values.has(parameter) || parameter.schema === undefined
      ? []
      : checker.parameter(
          parameter.schema,
          values.get(parameter),
          `the ${parameter.in} parameter ${parameter.name}`,
        ),
  );
  if (problems.length > 0)
    throw new HoldfastError("INVALID_REQUEST", `Invalid arguments: ${problems[0]}.`, { problems });
  const of = (place: ParameterPlace): readonly (readonly [ApiParameter, unknown])[] =>
    [...values].filter(([parameter]) => parameter.in === place);
  const inPath = new Map(
    of("path").map(([parameter, value]) => [parameter.name, pathText(parameter, value)]),
  );
  return {
    path: path.replace(/\{([^{}]+)\}/g, (_, name: string) => inPath.get(name) ?? ""),
    query: of("query").flatMap(([parameter, value]) => queryPairs(parameter, value)),
    headers: Object.fromEntries(
      of("header").map(([parameter, value]) => [parameter.name, headerText(parameter, value)]),
    ),
    cookies: of("cookie").flatMap(([parameter, value]) =>
      queryPairs(parameter, value).map(([name, text]) => `${name}=${text}`),
    ),
  };
};

const valuesOf = (
  parameters: readonly ApiParameter[],
  given: Readonly<Record<string, unknown>>,
): ReadonlyMap<ApiParameter, unknown> => {
  const values = new Map<ApiParameter, unknown>();
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined || value === null) continue;
    const named = parameters.filter(({ name }) => name === key);
    const found = named.length > 0 ? named : parameters.filter((one) => `${one.in}:${one.name}` === key);
    const [parameter] = found;
    if (parameter === undefined)
      throw new HoldfastError(
        "INVALID_REQUEST",
        `The operation has no parameter ${key}${
          didYouMean(
            key,
            parameters.map(({ name }) => name),
          ) || "."
        }`,
        { details: { unknown_param: key, parameters: parameters.map((one) => `${one.in}:${one.name}`) } },
      );
    if (found.length > 1)
      throw new HoldfastError(
        "INVALID_REQUEST",
        `Two parameters have the name ${key}: give it as ${found.map((one) => `${one.in}:${key}`).join(" or ")}.`,
      );
    values.set(parameter, value);
  }
  return values;
};

const refuseMissing = (
  parameters: readonly ApiParameter[],
  values: ReadonlyMap<ApiParameter, unknown>,
): void => {
  const missing = parameters.filter((one) => one.required && !values.has(one));
  const [first] = missing;
  if (first === undefined) return;
  const names = missing.filter((one) => one.in === first.in).map(({ name }) => name);
  throw new HoldfastError(
    "INVALID_REQUEST",
    `Invalid arguments: missing required ${first.in} parameter ${names.map((name) => `'${name}'`).join(", ")}.`,
    {
      problems: missing.map((one) => `the ${one.in} parameter ${one.name} is missing`),
      suggestion: `Missing required parameter '${first.name}'. Expected in ${first.in} parameters.`,
      details: { issue: "parameter_validation_failed", missing_params: names, expected_in: first.in },
    },
  );
};

const scalar = (value: unknown): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

/** The pairs of an object without nested ones, which go as JSON. */
const pairsOf = (value: unknown): readonly (readonly [string, string])[] =>
  Object.entries(asObject(value) ?? {})
    .filter(([, member]) => member !== undefined)
    .map(([name, member]) => [name, scalar(member)]);

/** Style `simple` and its kin: `a,b`, `k,v` and `k=v`. */
const joined = (
  value: unknown,
  isExploded: boolean,
  separator: string,
  encode: (text: string) => string,
): string => {
  if (Array.isArray(value)) return value.map((one) => encode(scalar(one))).join(separator);
  if (asObject(value) === undefined) return encode(scalar(value));
  return pairsOf(value)
    .map(([name, text]) => `${encode(name)}${isExploded ? "=" : ","}${encode(text)}`)
    .join(isExploded ? separator : ",");
};

const matrixText = ({ name, explode }: ApiParameter, value: unknown): string => {
  const key = encoded(name);
  if (explode && Array.isArray(value)) return value.map((one) => `;${key}=${encoded(scalar(one))}`).join("");
  if (explode && asObject(value) !== undefined)
    return pairsOf(value)
      .map(([member, text]) => `;${encoded(member)}=${encoded(text)}`)
      .join("");
  return `;${key}=${joined(value, false, ",", encoded)}`;
};

const pathText = (parameter: ApiParameter, value: unknown): string => {
  const { style, explode, media, name } = parameter;
  const text =
    media !== undefined
      ? encoded(JSON.stringify(value))
      : style === "label"
        ? `.${joined(value, explode, explode ? "." : ",", encoded)}`
        : style === "matrix"
          ? matrixText(parameter, value)
          : joined(value, explode, ",", encoded);
  if (text === "")
    throw new HoldfastError("INVALID_REQUEST", `The path parameter ${name} is empty.`, {
      details: { issue: "parameter_validation_failed", expected_in: "path" },
    });
  return text;
};

const SEPARATORS: Readonly<Record<string, string>> = { spaceDelimited: "%20", pipeDelimited: "%7C" };

const queryPairs = (
  { name, style, explode, media, allowReserved }: ApiParameter,
  value: unknown,
): QueryPair[] => {
  const encode = allowReserved ? encodedReserved : encoded;
  const key = encoded(name);
  if (media !== undefined) return [[key, encode(JSON.stringify(value))]];
  if (style === "deepObject" && asObject(value) !== undefined)
    return pairsOf(value).map(([member, text]) => [`${key}[${encoded(member)}]`, encode(text)]);
  if (explode && Array.isArray(value)) return value.map((one) => [key, encode(scalar(one))]);
  if (explode && asObject(value) !== undefined)
    return pairsOf(value).map(([member, text]) => [encoded(member), encode(text)]);
  return [[key, joined(value, false, SEPARATORS[style] ?? ",", encode)]];
};

/** A header holds printable ASCII. */
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const headerText = ({ name, explode, media }: ApiParameter, value: unknown): string => {
  const text = media !== undefined ? JSON.stringify(value) : joined(value, explode, ",", (plain) => plain);
  if (HEADER_VALUE.test(text)) return text;
  throw new HoldfastError("INVALID_REQUEST", `The header parameter ${name} is one line of printable ASCII.`);
};
