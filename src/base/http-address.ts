/** The address at which a daemon serves HTTP, as `[HOST:]PORT`. */
import { isIP } from "node:net";
import { API_PORT_DEFAULT } from "./limits.ts";

export interface HttpAddress {
  /** An IP address. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
}

const LOOPBACK = "127.0.0.1";

/** Reads `PORT`, `HOST:PORT`, `[IPV6]:PORT` or a host alone; `localhost` is 127.0.0.1. Undefined if it is none of these. */
export const parseAddress = (text: string): HttpAddress | undefined => {
  const [, bracketed, plain, digits] = /^(?:(?:\[([^\]]*)\]|([^:]*)):)?(\d{1,5})$/.exec(text) ?? [];
  if (digits === undefined) return hostAlone(text);
  const host = hostOf(bracketed ?? plain ?? LOOPBACK);
  const port = Number(digits);
  return host === undefined || port > 65_535 ? undefined : { host, port };
};

const hostAlone = (text: string): HttpAddress | undefined => {
  const host = hostOf(text.replace(/^\[(.*)\]$/, "$1"));
  return host === undefined ? undefined : { host, port: API_PORT_DEFAULT };
};

const hostOf = (name: string): string | undefined => {
  if (name === "localhost") return LOOPBACK;
  return isIP(name) === 0 ? undefined : name;
};

export const isLoopback = (host: string): boolean => host === "::1" || /^127\./.test(host);

/** As a URL writes it. */
export const authorityOf = ({ host, port }: HttpAddress): string =>
  `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
