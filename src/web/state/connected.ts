/** The needs of every part of the page: the login, and the records that come. */
import { createContext } from "preact";
import type { RecordFeed } from "./feed.ts";
import type { Login } from "./login.ts";

export interface PageConnection {
  readonly session: Login;
  readonly feed: RecordFeed;
}

/** There is a connection wherever a page is drawn. */
export const Connected = createContext<PageConnection>(undefined as unknown as PageConnection);
