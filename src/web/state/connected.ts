/** The needs of every part of the page: the login, and the records that come. */
import { createContext } from "preact";
import type { RecordFeed } from "./feed.ts";
import type { Login } from "./login.ts";

/** A feed without records tells no more than that now is the time to ask again. */
export type LiveFeed = Pick<RecordFeed, "state" | "onRecords" | "onState" | "close">;

export interface PageConnection {
  readonly session: Login;
  readonly feed: LiveFeed;
  /** Stands before the fragment of a link to a page; empty where it is a page of the same host. */
  readonly path: string;
}

/** There is a connection wherever a page is drawn. */
export const Connected = createContext<PageConnection>(undefined as unknown as PageConnection);
