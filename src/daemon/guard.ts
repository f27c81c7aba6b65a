/** Checks the token of a state directory that a connection presents (decision 0018). */
import { timingSafeEqual } from "node:crypto";

/**
 * The token that a client must present before its requests are served; `isNeeded` is false if the socket's
 * modes keep others out.
 */
export interface Guard {
  readonly token: string;
  readonly isNeeded: () => boolean;
}

/** Compares in constant time. */
export const isSameToken = (given: string, token: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(token)];
  return a.length === b.length && timingSafeEqual(a, b);
};
