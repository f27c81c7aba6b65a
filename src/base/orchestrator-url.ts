/** The address of an orchestrator, as a person writes it. Pure. */
import { isIP } from "node:net";
import { WEBLISK_URL_MAX_CHARS } from "./limits.ts";

/** Without the slash at its end; undefined if it is no address of HTTP, or has a query. */
export const orchestratorUrl = (text: string): string | undefined => {
  const isAddress =
    text.length <= WEBLISK_URL_MAX_CHARS && /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/.test(text);
  return isAddress && URL.canParse(text) ? text.replace(/\/+$/, "") : undefined;
};

/** A name leads where its owner wants; an address, and this machine by its name, are what they say. */
export const saysItsAddress = (url: string): boolean => {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return host === "localhost" || isIP(host) !== 0;
};
