/** Tokens with names as text for people. */
import type { TokenChange, TokensReply, TokenView } from "../../protocol/replies/tokens.ts";
import { age } from "./pairs.ts";
import { oneLine, type Paint, table } from "./terminal.ts";
import type { TextOf } from "./text.ts";
import { duration } from "./units.ts";

const endOf = ({ expires_at, expired }: TokenView, paint: Paint, now: number): string => {
  if (expires_at === null) return "never";
  return expired ? paint("bad", "expired") : `in ${duration(Math.max(0, Date.parse(expires_at) - now))}`;
};

const listText: TextOf<TokensReply> = ({ tokens }, { paint, now, columns }) => {
  if (tokens.length === 0) return "";
  const head = ["NAME", "EXPIRES", "AGE", "MADE BY"].map((cell) => paint("dim", cell));
  const rows = tokens.map((token) => [
    paint("bold", token.name),
    endOf(token, paint, now),
    age(token.created_at, now),
    oneLine(token.by),
  ]);
  return table([head, ...rows], { fit: columns });
};

/** Without a file, the command has printed the secret alone. */
const createText: TextOf<TokenChange & { readonly file: string | null }> = (token, { paint, now }) =>
  token.file === null
    ? ""
    : `${paint("bold", token.name)}  made, its secret is in ${oneLine(token.file)}  ${paint("dim", `expires ${endOf(token, paint, now)}`)}`;

/** By command. */
export const TOKEN_TEXTS = {
  "token/create": createText,
  "agent/dashboard": createText,
  "token/list": listText,
  "token/revoke": (({ name }, { paint }) => `${paint("bold", name)}  revoked`) satisfies TextOf<TokenChange>,
};
