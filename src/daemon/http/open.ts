/** HTTP as a part of the daemon's life: asked for by a flag or in config.yaml, beside the socket, kept open. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Effect, type Scope } from "effect";
import type { Defects } from "../../actors/defects.ts";
import { HTTP_VARIABLE } from "../../base/environment.ts";
import { type HttpAddress, parseAddress } from "../../base/http-address.ts";
import { API_CONNECTIONS_MAX } from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { readConfiguration } from "../configuration.ts";
import { startingFibers } from "../fibers.ts";
import type { HandlerServices } from "../handlers/handler.ts";
import type { KeptFile } from "../keeping.ts";
import type { Log } from "../log.ts";
import type { Environment } from "../paths.ts";
import type { SocketServer } from "../socket.ts";
import type { Turns } from "../turns.ts";
import { type HttpServer, serveHttp } from "./listener.ts";
import { type PageFiles, readPages } from "./pages.ts";
import { makeRefusals } from "./refusals.ts";

export type { HttpServer };

/** The needs of the daemon's life. */
interface HttpOptions {
  readonly stateDir: string;
  readonly env: Environment;
  readonly log: Log;
  readonly defects: Defects;
}

interface HttpPlace {
  readonly address: HttpAddress;
  readonly hosts: readonly string[];
}

/** The flag wins over the configuration. Undefined if nobody asks. Fails with INVALID_REQUEST for an address that is none. */
const askedOf = ({ env, stateDir }: HttpOptions): HttpPlace | undefined => {
  const { listen, hosts = [] } = readConfiguration(stateDir)?.configuration.http ?? {};
  const text = env[HTTP_VARIABLE] || listen;
  if (text === undefined) return undefined;
  const address = parseAddress(text);
  if (address === undefined)
    throw new HoldfastError(
      "INVALID_REQUEST",
      `${HTTP_VARIABLE} is no [HOST:]PORT with an IP address: ${text}.`,
    );
  return { address, hosts };
};

/** The document that the build writes beside the daemon. */
const openapi = (): string | undefined => {
  try {
    return readFileSync(new URL("schemas/openapi.json", import.meta.url), "utf8");
  } catch {
    return undefined;
  }
};

/** Read at the first visit: most clients of HTTP are programs. */
const makePages = (): (() => PageFiles) => {
  let pages: PageFiles | undefined;
  return () => {
    pages ??= readPages(fileURLToPath(new URL("web/", import.meta.url)));
    return pages;
  };
};

/** Undefined if nobody asks for HTTP. If it cannot listen, the daemon says so and goes on; a later look tries again. */
export const openHttp = (
  options: HttpOptions,
  services: Omit<HandlerServices, "caller">,
  turns: Turns,
  artifact: (digest: string) => Promise<Uint8Array>,
  isHealthy: () => boolean,
): Effect.Effect<HttpServer | undefined, HoldfastError, Scope.Scope> =>
  Effect.gen(function* () {
    const asked = yield* Effect.try({
      try: () => askedOf(options),
      catch: (cause) => cause as HoldfastError,
    });
    if (asked === undefined) return undefined;
    const { log, defects } = options;
    const { runtime } = services;
    const run = yield* startingFibers;
    const http = yield* serveHttp({
      ...asked,
      services,
      run,
      defects,
      turns,
      connectionsMax: API_CONNECTIONS_MAX,
      principalOf: runtime.principalOf,
      status: Effect.map(runtime.status(), (known) => ({ ...known, ...services.facts() })),
      isHealthy,
      openapi,
      artifact,
      pages: makePages(),
      refused: makeRefusals(
        (refused) => log("warn", "a request over HTTP was refused", { ...refused }),
        () => performance.now(),
      ),
    });
    yield* Effect.match(http.keep, {
      onSuccess: () => log("info", "serving HTTP", { url: http.url() }),
      onFailure: (error) => log("error", error.message, { next: error.suggestion }),
    });
    return http;
  });

export const keptHttp = (http: HttpServer): KeptFile => ({
  what: "the HTTP listener",
  words: { wrong: "cannot listen", right: "listens again" },
  keep: http.keep,
});

/** Both doors of the daemon open and close as one. */
export const withHttp = (
  server: SocketServer,
  http: HttpServer,
): Pick<SocketServer, "refuse" | "accept" | "drain"> => ({
  refuse: (reason) => {
    http.refuse(reason);
    return server.refuse(reason);
  },
  accept: Effect.andThen(
    server.accept,
    Effect.sync(() => http.refuse(undefined)),
  ),
  drain: (reason) =>
    Effect.asVoid(Effect.all([server.drain(reason), http.drain(reason)], { concurrency: "unbounded" })),
});
