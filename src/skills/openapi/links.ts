/** The places of an answer that tell of its next page: fields of its body, and the header Link (RFC 8288). */

/** The target of the first link with this relation; undefined if there is none. */
export const linkTo = (header: string, relation: string): string | undefined => {
  // A link is `<target>` and parameters; a comma may also stand in its target, or in a quoted parameter.
  for (const [, target, parameters = ""] of header.matchAll(/<([^<>]*)>((?:[^,"<>]|"[^"]*")*)/g)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i.exec(parameters) ?? [];
    const relations = (quoted ?? plain ?? "").toLowerCase().split(/\s+/);
    if (relations.includes(relation)) return target;
  }
  return undefined;
};

/** The value at a path such as `meta.next`; the names are own members. */
export const fieldOf = (body: unknown, path: string): unknown => {
  let value = body;
  for (const name of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
};
