/** What a program gives the library, checked as a request over the socket is. */
import { HoldfastError } from "./protocol/errors.ts";
import { type RequestData, type RequestInput, type RequestName, Requests } from "./protocol/requests.ts";

/** The same bounds as over the socket. */
export const checked = <N extends RequestName>(name: N, input: RequestInput<N>): RequestData<N> => {
  const parsed = Requests[name].safeParse(input);
  if (parsed.success) return parsed.data as RequestData<N>;
  throw invalid(parsed.error.issues.map(({ path, message }) => `${path.join(".") || "options"}: ${message}`));
};

export const invalid = (problems: readonly string[]): HoldfastError =>
  new HoldfastError("INVALID_REQUEST", `${problems.join("; ")}.`, {
    problems,
    phase: "validation",
    suggestion: "Correct the options; nothing was done.",
  });
