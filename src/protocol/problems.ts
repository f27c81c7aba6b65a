/** The mistakes that a schema found in the input of a program or client, one sentence each. */
import type * as z from "zod";

type SchemaIssue = z.core.$ZodIssue;

/** `path.to.field: mistake`. `whole` is the name for the value itself, if the mistake is not in one of its fields. */
export const problemsOf = (error: z.ZodError, whole = ""): readonly string[] =>
  error.issues.flatMap(inUnion).map(({ path, message }) => {
    const place = path.length === 0 ? whole : path.join(".");
    return place === "" ? message : `${place}: ${message}`;
  });

/** zod reports of a bad union only that it is invalid. The member that the value's `type` selects says why. */
const inUnion = (issue: SchemaIssue): readonly SchemaIssue[] => {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.filter((member) => member.every(({ path }) => path[0] !== "type"));
  const [only] = meant;
  if (only === undefined || meant.length > 1 || only.every(({ path }) => path.length === 0)) return [issue];
  return only.flatMap((inner) => inUnion({ ...inner, path: [...issue.path, ...inner.path] } as SchemaIssue));
};
