/** agent bb …: work that agents and people share, one holder at a time. */
import { resolve } from "node:path";
import { BB_BODY_MAX_BYTES } from "../../base/limits.ts";
import { success } from "../../protocol/outcome.ts";
import type { RequestInput } from "../../protocol/requests.ts";
import { type CommandHandler, type Context, keyOf } from "../context.ts";
import { type Call, invalid } from "../parse.ts";
import { pageAsked, pageShown } from "./paging.ts";
import { readBounded, whyUnreadable } from "./read-file.ts";
import { readStdin } from "./spawn.ts";
import { watchStream } from "./watch-stream.ts";

const namespaceOf = ({ flags }: Context): string | undefined => flags.ns as string | undefined;
const inNamespace = (context: Context): readonly string[] => {
  const ns = namespaceOf(context);
  return ns === undefined ? [] : ["--ns", ns];
};
const tagsOf = ({ flags }: Context): string[] => (flags.tag as string[] | undefined) ?? [];

const dataProblem = (text: string): string[] => {
  try {
    JSON.parse(text);
    return [];
  } catch {
    return [`--data is no valid JSON: ${text}`];
  }
};

export const postProblems = ({ args, flags }: Call): readonly string[] => [
  ...(flags.body !== undefined && flags["body-file"] !== undefined
    ? ["agent bb post takes --body or --body-file, not both"]
    : []),
  ...(args.length === 0 && ["body", "body-file", "data"].every((name) => flags[name] === undefined)
    ? ["agent bb post needs TITLE, --body, --body-file or --data"]
    : []),
  ...(flags.data === undefined ? [] : dataProblem(flags.data as string)),
];

export const claimProblems = ({ args, flags }: Call): readonly string[] => {
  const isOfOne = args.length > 0;
  return [
    ...(isOfOne && (flags.ns !== undefined || flags.tag !== undefined)
      ? ["agent bb claim takes ITEM, or --ns and --tag, not both"]
      : []),
    ...(!isOfOne && flags.token !== undefined ? ["--token extends the lease of one item: give ITEM"] : []),
  ];
};

export const releaseProblems = ({ given }: Call): readonly string[] =>
  !given.has("token") ? ["agent bb release needs --token, as agent bb claim printed it"] : [];

const bodyOf = async (context: Context): Promise<string | undefined> => {
  const file = context.flags["body-file"] as string | undefined;
  if (file === undefined) return context.flags.body as string | undefined;
  if (file === "-") return readStdin(context, BB_BODY_MAX_BYTES);
  try {
    const bytes = await readBounded(resolve(context.cwd, file), BB_BODY_MAX_BYTES);
    if (bytes !== undefined) return bytes.toString("utf8");
  } catch (cause) {
    throw invalid([`--body-file ${file} ${whyUnreadable(cause)}`], "bb post");
  }
  throw invalid(
    [
      `--body-file ${file} is over ${BB_BODY_MAX_BYTES} bytes: keep it with agent cas put, and give --artifact`,
    ],
    "bb post",
  );
};

export const post: CommandHandler = async (context) => {
  const { call, flags } = context;
  const body = await bodyOf(context);
  const client = await context.connect({ start: true });
  return success(
    await client.request("bb/post", {
      ns: namespaceOf(context),
      title: call.args[0],
      body,
      data: flags.data === undefined ? undefined : JSON.parse(flags.data as string),
      tags: tagsOf(context),
      artifacts: flags.artifact as string[] | undefined,
      ttl_ms: flags.ttl as number | undefined,
      idempotency_key: keyOf(context),
    }),
  );
};

const queryOf = (context: Context): RequestInput<"bb/list"> => ({
  ns: namespaceOf(context),
  tags: tagsOf(context),
  state: context.flags.state as "free" | "claimed" | undefined,
  ...pageAsked(context),
});

/** The words of the same command, for the next page. */
const againOf = (context: Context, ...words: readonly string[]): readonly string[] => {
  const state = context.flags.state as string | undefined;
  return [
    ...["agent", "bb", ...words, ...inNamespace(context)],
    ...tagsOf(context).flatMap((tag) => ["--tag", tag]),
    ...(state === undefined ? [] : ["--state", state]),
  ];
};

export const list: CommandHandler = async (context) => {
  const page = await (await context.connect()).request("bb/list", queryOf(context));
  if (page.items.length === 0) context.hint("No item. Post one with: agent bb post TITLE");
  return pageShown(context, page, { words: againOf(context, "list"), there: "There are more" });
};

export const search: CommandHandler = async (context) => {
  const text = context.call.args.join(" ");
  const page = await (await context.connect()).request("bb/search", { ...queryOf(context), text });
  if (page.items.length === 0)
    context.hint("No item has all these words. A beginning of a word ends with a star: log*");
  return pageShown(context, page, {
    words: againOf(context, "search", ...context.call.args),
    there: "There are more",
  });
};

export const claim: CommandHandler = async (context) => {
  const { call, flags } = context;
  const reply = await (await context.connect()).request("bb/claim", {
    id: call.args[0],
    ns: namespaceOf(context),
    tags: tagsOf(context),
    lease_ms: flags.lease as number | undefined,
    token: flags.token as number | undefined,
    idempotency_key: keyOf(context),
  });
  context.hint(`When it is done: agent bb release ${reply.item_id} --token ${reply.token} --done`, "after");
  return success(reply);
};

export const release: CommandHandler = async (context) => {
  const { call, flags } = context;
  return success(
    await (await context.connect()).request("bb/release", {
      id: call.args[0]!,
      token: flags.token as number,
      done: flags.done === true,
      idempotency_key: keyOf(context),
    }),
  );
};

export const watch: CommandHandler = (context) => {
  const words = ["bb", "watch", ...inNamespace(context)];
  return watchStream(context, { command: "bb/watch", words, of: { ns: namespaceOf(context) } });
};
