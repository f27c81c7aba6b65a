/** Permission requests that wait for a person, as they open and close; and programs that answer them. */
import { Effect, Stream } from "effect";
import type { HoldfastError } from "../protocol/errors.ts";
import { permissionFor } from "../protocol/permission-rules.ts";
import type { LogRecord } from "../protocol/records.ts";
import type { ApprovalView } from "../runtime/replies.ts";
import type { ApprovalAnswer, OnApproval } from "./answers.ts";
import type { RuntimeCalls } from "./calls.ts";
import { checked } from "./checked.ts";

type RequestChange = { readonly opened: ApprovalView } | { readonly closed: string };

const TYPES = ["approval_requested", "approval_answered", "approval_withdrawn"] as const;

/** Open requests, and then their changes. With an id it ends with that worker. */
const changes = (api: RuntimeCalls, id?: string): Stream.Stream<RequestChange, HoldfastError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      // Later requests are in the records after this seq, earlier ones in the list.
      const { head } = yield* api.status();
      const open = yield* everyOpen(api, id);
      const known = new Set(open.map(({ approval_id }) => approval_id));
      const later = api.watch({
        from: head,
        follow: id === undefined,
        ...(id !== undefined && { ids: [id] }),
        filter: { types: [...TYPES] },
      });
      const listed = Stream.fromIterable(open.map((opened): RequestChange => ({ opened })));
      const changed = Stream.mapEffect(later, (record) => changeOf(api, record, known));
      return Stream.concat(listed, Stream.flattenIterable(changed));
    }),
  );

const changeOf = (
  api: RuntimeCalls,
  record: LogRecord,
  known: ReadonlySet<string>,
): Effect.Effect<readonly RequestChange[], HoldfastError> => {
  if (record.type === "approval_answered" || record.type === "approval_withdrawn")
    return Effect.succeed([{ closed: record.payload.approval_id }]);
  if (record.type !== "approval_requested" || known.has(record.payload.approval_id))
    return Effect.succeed([]);
  return Effect.map(waiting(api, checked("agent/approvals", { id: record.payload.approval_id })), (open) =>
    open.map((opened) => ({ opened })),
  );
};

/** The first page of open requests that wait for a person. */
const waiting = (
  api: RuntimeCalls,
  page: Parameters<RuntimeCalls["approvals"]>[0],
): Effect.Effect<readonly ApprovalView[], HoldfastError> =>
  Effect.flatMap(api.approvals(page), ({ approvals }) =>
    Effect.filter(approvals, (one) => waitsForPerson(api, one)),
  );

const everyOpen = (
  api: RuntimeCalls,
  id: string | undefined,
): Effect.Effect<readonly ApprovalView[], HoldfastError> =>
  Effect.gen(function* () {
    const open: ApprovalView[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = yield* api.approvals(checked("agent/approvals", { id, cursor }));
      open.push(...(yield* Effect.filter(page.approvals, (one) => waitsForPerson(api, one))));
      cursor = page.cursor;
      if (cursor === undefined) return open;
    }
  });

/** A request that a rule decides is open for a moment, until that is on record. */
const waitsForPerson = (
  api: RuntimeCalls,
  { state, worker_id, tool, input }: ApprovalView,
): Effect.Effect<boolean, HoldfastError> =>
  state === "open"
    ? Effect.map(
        api.info(worker_id),
        ({ spec }) => permissionFor({ tool, input }, spec.permission_rules, spec.permission) === "ask",
      )
    : Effect.succeed(false);

export const openApprovals = (api: RuntimeCalls, id?: string): Stream.Stream<ApprovalView, HoldfastError> =>
  Stream.flattenIterable(
    Stream.map(changes(api, id), (change) => ("opened" in change ? [change.opened] : [])),
  );

/** Asks a program about each open request, and answers as it says. With an id it ends with that worker. */
export const answering = (
  api: RuntimeCalls,
  { id, onApproval, report }: AnsweringOptions,
): Effect.Effect<void, HoldfastError> =>
  Effect.suspend(() => {
    const asked = new Map<string, AbortController>();
    const ask = (approval: ApprovalView): void => {
      const { approval_id } = approval;
      const over = new AbortController();
      asked.set(approval_id, over);
      const answered = askedOf(onApproval, approval, over.signal)
        .then((answer) => answer && Effect.runPromise(answerWith(api, approval_id, answer)))
        .catch((cause) => report(`a request for permission was not answered: ${approval_id}`, cause));
      void answered.finally(() => asked.delete(approval_id));
    };
    const end = (approval_id: string): void => asked.get(approval_id)?.abort();
    const told = Stream.runForEach(changes(api, id), (change) =>
      Effect.sync(() => ("opened" in change ? ask(change.opened) : end(change.closed))),
    );
    return Effect.ensuring(
      told,
      Effect.sync(() => {
        for (const over of asked.values()) over.abort();
      }),
    );
  });

interface AnsweringOptions {
  readonly id?: string;
  readonly onApproval: OnApproval;
  readonly report: (message: string, cause?: unknown) => void;
}

const askedOf = async (
  onApproval: OnApproval,
  approval: ApprovalView,
  signal: AbortSignal,
): Promise<Exclude<ApprovalAnswer, string> | undefined> => {
  const answer = await onApproval(approval, { signal });
  return typeof answer === "string" ? { decision: answer } : answer;
};

/** An answer that comes too late is no error: somebody else, or the deadline, was first. */
const answerWith = (
  api: RuntimeCalls,
  approval_id: string,
  answer: { readonly decision: "allow" | "deny"; readonly message?: string },
): Effect.Effect<void, HoldfastError> =>
  Effect.gen(function* () {
    const { decision, message } = checked("agent/approve", { id: approval_id, ...answer });
    yield* Effect.catch(api.approve(approval_id, decision, { message }), (error) =>
      error.code === "INVALID_STATE" ? Effect.void : Effect.fail(error),
    );
  });
