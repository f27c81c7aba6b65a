/** Listens for HTTP at an address, within bounds of time and size. `node:http` is loaded only where HTTP is asked for. */
import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Effect, type Scope } from "effect";
import { authorityOf, type HttpAddress } from "../../base/http-address.ts";
import {
  API_HEAD_MAX_BYTES,
  API_HEAD_MAX_MS,
  API_KEEP_ALIVE_MS,
  API_OVERDUE_LOOK_MS,
  API_REQUEST_MAX_MS,
  DAEMON_DRAIN_MS,
} from "../../base/limits.ts";
import { HoldfastError } from "../../protocol/errors.ts";
import { HttpApi, type HttpGround } from "./api.ts";

export interface ListenerGround extends HttpGround {
  readonly address: HttpAddress;
  /** Names of `http.hosts`. */
  readonly hosts: readonly string[];
  readonly connectionsMax: number;
}

export interface HttpServer {
  /** `http://HOST:PORT`; undefined while it does not listen. */
  url(): string | undefined;
  /** The sentence of the system if it cannot listen; undefined if it does. */
  trouble(): string | undefined;
  /** Listens if it does not. True if that was needed. Fails with UNAVAILABLE, and may be called again. */
  readonly keep: Effect.Effect<boolean, HoldfastError>;
  /** Refuses requests from now on, or serves them again. */
  refuse(reason: HoldfastError | undefined): void;
  /** Ends streams, answers what is in flight, and closes; by force after DAEMON_DRAIN_MS. */
  drain(reason: HoldfastError): Effect.Effect<void>;
}

class HttpListener implements HttpServer {
  private readonly ground: ListenerGround;
  private readonly api: HttpApi;
  private server: Server | undefined;
  private bound: HttpAddress | undefined;
  private failure: HoldfastError | undefined;
  private isEnded = false;

  constructor(ground: ListenerGround) {
    this.ground = ground;
    const { address, hosts } = ground;
    this.api = new HttpApi(ground, () => ({ address: this.bound ?? address, hosts }));
  }

  url(): string | undefined {
    return this.bound === undefined ? undefined : `http://${authorityOf(this.bound)}`;
  }

  trouble(): string | undefined {
    return this.failure?.message;
  }

  readonly keep: HttpServer["keep"] = Effect.suspend(() =>
    this.server !== undefined || this.isEnded ? Effect.succeed(false) : Effect.as(this.listen(), true),
  );

  refuse(reason: HoldfastError | undefined): void {
    this.api.refusal = reason;
  }

  drain(reason: HoldfastError): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      this.refuse(reason);
      this.isEnded = true;
      const { server } = this;
      if (server === undefined) return resume(Effect.void);
      server.close(() => resume(Effect.void));
      this.api.endOpen(reason);
      server.closeIdleConnections();
    }).pipe(Effect.timeoutOption(DAEMON_DRAIN_MS), Effect.asVoid);
  }

  end(): void {
    this.isEnded = true;
    this.server?.close();
    this.server?.closeAllConnections();
  }

  private listen(): Effect.Effect<void, HoldfastError> {
    return Effect.callback((resume) => {
      const { createServer } = process.getBuiltinModule("node:http");
      const { host, port } = this.ground.address;
      const server = createServer(
        {
          maxHeaderSize: API_HEAD_MAX_BYTES,
          headersTimeout: API_HEAD_MAX_MS,
          requestTimeout: API_REQUEST_MAX_MS,
          keepAliveTimeout: API_KEEP_ALIVE_MS,
          connectionsCheckingInterval: API_OVERDUE_LOOK_MS,
        },
        (request, response) => this.api.serve(request, response),
      );
      server.maxConnections = this.ground.connectionsMax;
      server.on("clientError", (cause: NodeJS.ErrnoException, socket: Socket) =>
        this.mistaken(cause, socket),
      );
      // A protocol that this server does not speak: it answers with the plain text of HTTP.
      server.on("upgrade", (_request, socket: Socket) =>
        socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n"),
      );
      this.server = server;
      const failed = (cause: Error): void => {
        this.server = undefined;
        this.bound = undefined;
        this.failure = new HoldfastError(
          "UNAVAILABLE",
          `HTTP cannot be served at ${authorityOf({ host, port })}: ${cause.message}.`,
          { cause, suggestion: "End the program that has the port, or choose another one with --http PORT." },
        );
        resume(Effect.fail(this.failure));
      };
      server.once("error", failed);
      server.listen({ host, port }, () => {
        server.off("error", failed);
        server.on("error", (cause) => this.ground.defects.tell("the HTTP server", cause));
        const address = server.address();
        this.bound = { host, port: typeof address === "object" && address !== null ? address.port : port };
        this.failure = undefined;
        resume(Effect.void);
      });
    });
  }

  /** Bytes that are no HTTP, or too many of them, or too slow. */
  private mistaken({ code }: NodeJS.ErrnoException, socket: Socket): void {
    if (code === "ECONNRESET" || !socket.writable) return void socket.destroy();
    const isLate = code === "ERR_HTTP_REQUEST_TIMEOUT";
    const isLarge = code === "HPE_HEADER_OVERFLOW";
    const error = isLate
      ? new HoldfastError("TIMEOUT", `A request is sent within ${API_REQUEST_MAX_MS / 1000} s.`)
      : isLarge
        ? new HoldfastError(
            "REQUEST_TOO_LARGE",
            `The head of a request is at most ${API_HEAD_MAX_BYTES} bytes.`,
          )
        : new HoldfastError("ENVELOPE_INVALID", "The bytes are no HTTP request.");
    this.ground.refused(error, socket.remoteAddress);
    const status = isLate
      ? "408 Request Timeout"
      : isLarge
        ? "431 Request Header Fields Too Large"
        : "400 Bad Request";
    socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  }
}

/** The server begins with the first `keep`. */
export const serveHttp = (ground: ListenerGround): Effect.Effect<HttpServer, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => new HttpListener(ground)),
    (http) => Effect.sync(() => http.end()),
  );
