/**
 * The page behind a link of a notification (docs/how-to/notifications.md). Its address is its right: it needs no token. GET
 * shows a button, because programs that scan messages for viruses follow links; only POST gives the answer.
 */
import type { ServerResponse } from "node:http";
import { Effect } from "effect";
import type { AnswerLink, NotificationsApi } from "../notifications-api.ts";

/** The token in a path; undefined for another path. */
export const answerTokenIn = (path: string): string | undefined =>
  /^\/answer\/([\w-]{20,128})$/.exec(path)?.[1];

const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

const STYLE =
  "body{font:1.1rem/1.5 system-ui,sans-serif;max-width:34rem;margin:3rem auto;padding:0 1rem}pre{white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;padding:.8rem 2rem}";
/** Only this style, no script, and no form but to here. */
const policy = (): string =>
  `default-src 'none'; style-src 'sha256-${process.getBuiltinModule("node:crypto").createHash("sha256").update(STYLE).digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

const pageOf = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title><style>${STYLE}</style><h1>${escaped(title)}</h1>${body}</html>\n`;

const wordOf = ({ answer }: AnswerLink): string => `${answer.slice(0, 1).toUpperCase()}${answer.slice(1)}`;

const asking = (link: AnswerLink): string =>
  pageOf(
    link.title,
    `<pre>${escaped(link.text)}</pre><form method="post"><button>${escaped(wordOf(link))}</button></form>`,
  );
const answered = (link: AnswerLink): string =>
  pageOf(
    link.title,
    `<pre>${escaped(link.text)}</pre><p>Your answer is recorded: ${escaped(wordOf(link))}.</p>`,
  );
const refused = (sentence: string): string => pageOf("Nothing was answered", `<p>${escaped(sentence)}</p>`);
const over = refused("This link is over: it was used, its question is answered, or its day has passed.");

const OK = 200;
const NOT_FOUND = 404;
const NOT_ALLOWED = 405;

/** Answers GET, HEAD and POST. */
export const serveAnswer = async (
  { linkOf, use }: Pick<NotificationsApi, "linkOf" | "use">,
  token: string,
  response: ServerResponse,
): Promise<void> => {
  const { method } = response.req;
  if (method === "GET" || method === "HEAD") {
    const link = linkOf(token);
    return link === undefined ? send(response, NOT_FOUND, over) : send(response, OK, asking(link));
  }
  if (method !== "POST") return send(response, NOT_ALLOWED, refused("Use GET or POST."));
  response.req.resume();
  const [status, page] = await Effect.runPromise(
    Effect.match(use(token), {
      onSuccess: (link) =>
        link === undefined ? ([NOT_FOUND, over] as const) : ([OK, answered(link)] as const),
      onFailure: ({ message, row }) => [row.http, refused(message)] as const,
    }),
  );
  send(response, status, page);
};

const send = (response: ServerResponse, status: number, page: string): void => {
  const headers = [
    ...["content-type", "text/html; charset=utf-8", "content-length", String(Buffer.byteLength(page))],
    ...["content-security-policy", policy(), "x-content-type-options", "nosniff", "x-frame-options", "DENY"],
    // With no-referrer a browser would hide the origin of the form, and the doors would refuse it.
    ...["cache-control", "no-store", "referrer-policy", "same-origin", "x-robots-tag", "noindex"],
    ...(status === NOT_ALLOWED ? ["allow", "GET, POST"] : []),
  ];
  response.writeHead(status, headers).end(response.req.method === "HEAD" ? undefined : page);
};
