/** The token of a state directory as a connection presents it (decision 0018). */
import { timingSafeEqual } from "node:crypto";

/** The token that a client must present before anything is done for it; undefined where the socket's modes keep others out. */
export interface Guard {
  readonly token: string;
  readonly isNeeded: () => boolean;
}

/** In a time that does not tell how much of it is right. */
export const isSameToken = (given: string, token: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
};
