import { expect, it, test } from "vitest";
import { HoldfastError } from "../../../src/protocol/errors.ts";
import { checkBodyHeaders, idsOf, tokenOf } from "../../../src/weblisk/wire/headers.ts";
import { answerOfRefusal, refusalOfError, WebliskRefusal } from "../../../src/weblisk/wire/refusal.ts";

const id = "0123456789abcdef0123456789abcdef";
const statusOf = (does: () => unknown): number => {
  try {
    does();
    return 200;
  } catch (cause) {
    return answerOfRefusal(cause as WebliskRefusal).status;
  }
};

it("ids are those of the client, else new ones", () => {
  const given = idsOf(
    { "x-trace-id": id, "x-request-id": "01234567-89ab-cdef-0123-456789abcdef" },
    () => "new",
  );
  expect(given).toEqual({ trace: id, request: id, isClientsRequest: true });
  expect(idsOf({}, () => "new")).toEqual({ trace: "new", request: "new", isClientsRequest: false });
  expect(statusOf(() => idsOf({ "x-trace-id": "7" }, () => "new"))).toBe(400);
});

test.each([
  [{ "content-type": "application/json" }, 200],
  [{ "content-type": "Application/JSON; charset=utf-8", "content-length": "10" }, 200],
  [{}, 415],
  [{ "content-type": "text/plain" }, 415],
  [{ "content-type": "application/jsonp" }, 415],
  [{ "content-type": "application/json", "content-encoding": "gzip" }, 415],
  [{ "content-type": "application/json", "content-length": "11" }, 413],
])("a body with the headers %j: %i", (headers, status) =>
  expect(statusOf(() => checkBodyHeaders(headers, 10))).toBe(status),
);

it("the token of the header wins over that of the body, also where it is no bearer token", () => {
  expect(tokenOf({ authorization: "Bearer a.b.c" }, { token: "d" })).toBe("a.b.c");
  expect(tokenOf({}, { token: "d" })).toBe("d");
  expect(tokenOf({ authorization: "Basic eA==" }, { token: "d" })).toBeUndefined();
  expect(tokenOf({ authorization: "Bearer " }, {})).toBeUndefined();
  expect(tokenOf({}, { token: 7 })).toBeUndefined();
});

it("a refusal has a status, a category and a detail, and never a null", () => {
  const refusal = new WebliskRefusal("RATE_LIMITED", "Too many.", { reason: "slots", retry_after: 3 });
  expect(answerOfRefusal(refusal)).toEqual({
    status: 429,
    headers: { "retry-after": "3" },
    body: {
      error: "Too many.",
      code: "RATE_LIMITED",
      category: "transient",
      retryable: true,
      detail: { reason: "slots" },
      retry_after: 3,
    },
  });
  expect(Object.keys(answerOfRefusal(new WebliskRefusal("NOT_FOUND", "No.")).body)).toEqual([
    "error",
    "code",
    "category",
    "retryable",
  ]);
});

test.each([
  ["WORKER_NOT_FOUND", 404, "NOT_FOUND"],
  ["CWD_NOT_FOUND", 400, "INVALID_REQUEST"],
  ["SUPERVISOR_DOWN", 502, "AGENT_UNREACHABLE"],
  ["UNAVAILABLE", 503, "INTERNAL_ERROR"],
] as const)("%s of the daemon is %i here, and its own code the reason", (code, status, named) => {
  const answer = answerOfRefusal(refusalOfError(new HoldfastError(code, "No.")));
  expect(answer.status).toBe(status);
  expect(answer.body).toMatchObject({ code: named, detail: { reason: code.toLowerCase() } });
  expect("retry-after" in answer.headers).toBe(status === 503);
});
