/**
 * The data of a request in the query of a URL: `?ids=a&ids=b&follow=false&labels.team=core`. Each value becomes what the
 * request's schema says it is; a value that it cannot be stays a text, and the schema then says what is wrong. Pure.
 */
import * as z from "zod";
import { type RequestName, Requests } from "../../protocol/requests.ts";

type Schema = z.core.JSONSchema.BaseSchema;

/** The types that a member may have, and those of the items if it is a list. */
interface QueryMember {
  readonly types: readonly string[];
  readonly items: readonly string[];
}

const known = new Map<RequestName, ReadonlyMap<string, QueryMember>>();

const membersOf = (name: RequestName): ReadonlyMap<string, QueryMember> => {
  const have = known.get(name);
  if (have !== undefined) return have;
  const schema = z.toJSONSchema(Requests[name], { io: "input", unrepresentable: "any" }) as Schema;
  const properties = Object.entries((schema.properties ?? {}) as Readonly<Record<string, Schema>>);
  const members = new Map(
    properties.map(([key, one]) => [
      key,
      { types: typesOf(one), items: typesOf((one.items ?? {}) as Schema) },
    ]),
  );
  known.set(name, members);
  return members;
};

const typesOf = (schema: Schema): readonly string[] =>
  schema.anyOf === undefined
    ? [schema.type ?? []].flat()
    : (schema.anyOf as readonly Schema[]).flatMap((one) => typesOf(one));

/** One value of the types that a schema allows. */
const valued = (text: string, types: readonly string[]): unknown => {
  const isNumber = types.includes("integer") || types.includes("number");
  if (isNumber && /^-?\d{1,15}(\.\d{1,15})?$/.test(text)) return Number(text);
  if (types.includes("boolean") && (text === "true" || text === "false")) return text === "true";
  return text;
};

const ANYTHING: QueryMember = { types: [], items: [] };

export const dataOfQuery = (name: RequestName, query: URLSearchParams): Record<string, unknown> => {
  const members = membersOf(name);
  const data: Record<string, unknown> = Object.create(null);
  for (const key of new Set(query.keys())) {
    const texts = query.getAll(key);
    const [member = key, ...rest] = key.split(".");
    const { types, items } = members.get(member) ?? ANYTHING;
    if (rest.length > 0 && types.includes("object"))
      data[member] = { ...(data[member] as object | undefined), [rest.join(".")]: texts.at(-1) };
    else if (types.includes("array")) data[key] = texts.map((text) => valued(text, items));
    else data[key] = texts.length > 1 ? texts : valued(texts[0] ?? "", types);
  }
  return data;
};
