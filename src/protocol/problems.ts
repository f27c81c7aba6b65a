/** The mistakes that a schema found in what a program or a client gave, one sentence each. */
import type * as z from "zod";

type Issue = z.core.$ZodIssue;

/** `path.to.field: what is wrong`; `whole` names the value itself, where nothing in it is wrong alone. */
export const problemsOf = (error: z.ZodError, whole = ""): readonly string[] =>
  error.issues.flatMap(inUnion).map(({ path, message }) => {
    const place = path.length === 0 ? whole : path.join(".");
    return place === "" ? message : `${place}: ${message}`;
  });

/** A union says of a bad value only that it is invalid. The member that the value means, by its `type`, says why. */
const inUnion = (issue: Issue): readonly Issue[] => {
  if (issue.code !== "invalid_union") return [issue];
  const meant = issue.errors.filter((member) => member.every(({ path }) => path[0] !== "type"));
  const [only] = meant;
  if (only === undefined || meant.length > 1 || only.every(({ path }) => path.length === 0)) return [issue];
  return only.flatMap((inner) => inUnion({ ...inner, path: [...issue.path, ...inner.path] } as Issue));
};
