/** token/*: names for callers. */
import type { TOKEN_REQUESTS } from "../../protocol/token-requests.ts";
import { command, type Handlers, read } from "./handler.ts";

export const TOKENS: Handlers<keyof typeof TOKEN_REQUESTS> = {
  "token/create": command(({ tokens }, { caller, ...asked }) => tokens.create(asked, { caller })),
  "token/list": read(({ tokens }) => tokens.list()),
  "token/revoke": command(({ tokens }, { name, caller }) => tokens.revoke(name, { caller })),
};
