/** A listener with TLS, over real sockets: HTTP/1.1 and HTTP/2 alike, and clients that go beyond its bounds. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from "node:http2";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  WEBLISK_BODIES_MAX_BYTES,
  WEBLISK_BODY_MAX_BYTES,
  WEBLISK_HEAD_MAX_BYTES,
  WEBLISK_RESETS_BURST_MAX,
  WEBLISK_STREAMS_MAX,
} from "../../../src/base/limits.ts";
import { exchange } from "../../../src/weblisk/client/exchange.ts";
import { BodyRoom } from "../../../src/weblisk/server/bodies.ts";
import { PATIENCE } from "../../../src/weblisk/server/http-parts.ts";
import { type Listening, listen } from "../../../src/weblisk/server/listener.ts";
import type { WireRequest } from "../../../src/weblisk/server/server.ts";
import { readTlsPair, type TlsFiles } from "../../../src/weblisk/server/tls-files.ts";
import { answerOfRefusal, WebliskRefusal, type WireAnswer } from "../../../src/weblisk/wire/refusal.ts";
import { type Authority, makeAuthority, makePair, pem } from "../support/certificates.ts";

const QUICK = { head_ms: 300, request_ms: 300, look_ms: 20, idle_ms: 300, stalled_ms: 300 };
const DAY_MS = 86_400_000;

/** It answers with what it has read; a request to /wait has its answer when `open` is called. */
let open: () => void = () => undefined;
const gate = new Promise<void>((resolve) => {
  open = resolve;
});
/** Called when a request is there. */
let arrived: () => void = () => undefined;
const answer = async ({ method, url, body }: WireRequest): Promise<WireAnswer> => {
  arrived();
  try {
    const read = method === "POST" ? (await body(WEBLISK_BODY_MAX_BYTES)).length : 0;
    if (url === "/wait") await gate;
    if (url === "/large") return { status: 200, body: { text: "x".repeat(1_000_000) }, headers: {} };
    return { status: 200, body: { method, url, read }, headers: {} };
  } catch (cause) {
    return answerOfRefusal(cause as WebliskRefusal);
  }
};

let directory: string;
let ca: Authority;
let files: TlsFiles;
let patient: Listening;
let quick: Listening;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "holdfast-tls-"));
  ca = makeAuthority(directory);
  files = makePair(ca, "server");
  const tls = { ...readTlsPair(files, new Date()), minVersion: "TLSv1.2" as const };
  const place = { host: "127.0.0.1", port: 0 };
  patient = await listen({ answer }, place, { tls });
  quick = await listen({ answer }, place, { tls, patience: QUICK });
});
afterAll(() => {
  open();
  for (const one of [patient, quick]) one.close();
  rmSync(directory, { recursive: true, force: true });
});

/** A connection of HTTP/2, closed after `work`. */
const over = async <T>(to: Listening, work: (session: ClientHttp2Session) => Promise<T>): Promise<T> => {
  const session = connect(to.url, { ca: pem(ca.cert) });
  session.on("error", () => undefined);
  try {
    return await work(session);
  } finally {
    session.destroy();
  }
};

interface Heard {
  readonly head: IncomingHttpHeaders & { readonly ":status"?: number };
  readonly body: Record<string, unknown>;
}

const heard = (stream: ClientHttp2Stream): Promise<Heard> =>
  new Promise((resolve, reject) => {
    let [head, text] = [{} as Heard["head"], ""];
    stream.setEncoding("utf8");
    stream.on("response", (headers) => {
      head = headers;
    });
    stream.on("data", (chunk) => {
      text += chunk;
    });
    stream.on("end", () => resolve({ head, body: text === "" ? {} : JSON.parse(text) }));
    stream.on("error", reject);
  });

const POST = { ":method": "POST", ":path": "/v1/task", "content-type": "application/json" };
const asked = (session: ClientHttp2Session, head: OutgoingHttpHeaders, body?: string): Promise<Heard> => {
  const stream = session.request(head, { endStream: body === undefined });
  if (body !== undefined) stream.end(body);
  return heard(stream);
};

const closed = (session: ClientHttp2Session): Promise<void> =>
  new Promise((resolve) => session.once("close", resolve));

describe("both versions of HTTP", () => {
  it("HTTP/1.1 is served", async () => {
    const heard = await new Promise((resolve, reject) => {
      const sent = request(
        `${patient.url}/v1/task`,
        { method: "POST", ca: pem(ca.cert), agent: false, headers: { "content-type": "application/json" } },
        (reply) => {
          const chunks: Buffer[] = [];
          reply.on("data", (chunk: Buffer) => chunks.push(chunk));
          reply.on("end", () => resolve([reply.httpVersion, JSON.parse(Buffer.concat(chunks).toString())]));
        },
      );
      sent.on("error", reject);
      sent.end("{}");
    });
    expect(heard).toEqual(["1.1", { method: "POST", url: "/v1/task", read: 2 }]);
  });

  it("HTTP/2 is served, with several requests on one connection", async () => {
    await over(patient, async (session) => {
      const replies = await Promise.all([
        asked(session, POST, "{}"),
        asked(session, { ":path": "/v1/health" }),
        asked(session, POST, '{"a":1}'),
      ]);
      expect(session.alpnProtocol).toBe("h2");
      expect(replies.map(({ head, body }) => [head[":status"], head["content-type"], body.read])).toEqual([
        [200, "application/json", 2],
        [200, "application/json", 0],
        [200, "application/json", 7],
      ]);
    });
  });

  it.each(["TLSv1.1", "TLSv1.2", "TLSv1.3"] as const)(
    "%s: 1.2 and newer ones are spoken",
    async (version) => {
      const spoken = await new Promise<unknown>((resolve) => {
        const socket = connectTls({
          ...{ host: "127.0.0.1", port: patient.address.port, ca: pem(ca.cert) },
          ...{ minVersion: version, maxVersion: version, ciphers: "DEFAULT@SECLEVEL=0" },
        });
        socket.once("error", (cause) => resolve((cause as NodeJS.ErrnoException).code));
        socket.once("secureConnect", () => {
          resolve(socket.getProtocol());
          socket.destroy();
        });
      });
      expect(spoken).toBe(version === "TLSv1.1" ? "ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION" : version);
    },
  );

  it("our own client names the variable of a private authority where it does not know the certificate", async () => {
    const call = { method: "GET", url: new URL(`${patient.url}/v1/health`), isPrivateAllowed: true } as const;
    await expect(exchange(call)).rejects.toMatchObject({
      code: "POLICY_VIOLATION",
      message: expect.stringContaining("is not trusted"),
      info: { suggestion: expect.stringContaining("NODE_EXTRA_CA_CERTS") },
    });
  });
});

describe("bounds of HTTP/2", () => {
  it("a client that never asks is let go", async () => {
    await over(quick, async (session) => {
      const began = performance.now();
      await closed(session);
      expect(performance.now() - began).toBeLessThan(PATIENCE.head_ms);
    });
  });

  it("a connection whose requests are over is let go, and one with a request is kept", async () => {
    await over(quick, async (session) => {
      const gone = closed(session);
      expect((await asked(session, { ":path": "/v1/health" })).head[":status"]).toBe(200);
      await gone;
    });
    await over(quick, async (session) => {
      const waiting = asked(session, { ":path": "/wait" });
      // It would be let go at the same time as this one.
      await over(quick, closed);
      open();
      expect((await waiting).head[":status"]).toBe(200);
    });
  });

  it("a body that does not end is refused at its time, and others on the connection are served", async () => {
    await over(quick, async (session) => {
      const stream = session.request(POST);
      stream.write("{");
      const told = heard(stream);
      expect((await asked(session, POST, "{}")).head[":status"]).toBe(200);
      expect(await told).toMatchObject({
        head: { ":status": 408 },
        body: { code: "INVALID_REQUEST", detail: { reason: "body_slow" } },
      });
    });
  });

  it("an answer that is not taken is cancelled", async () => {
    const session = connect(quick.url, { ca: pem(ca.cert), settings: { initialWindowSize: 0 } });
    const stream = session.request({ ":path": "/large" });
    const code = await new Promise((resolve) => {
      stream.on("error", () => undefined);
      stream.once("close", () => resolve(stream.rstCode));
    });
    expect(code).toBe(constants.NGHTTP2_CANCEL);
    session.destroy();
  });

  it("a body over its bound has 413, also without its length, and its stream is over", async () => {
    await over(patient, async (session) => {
      const stream = session.request(POST);
      const told = heard(stream);
      stream.on("error", () => undefined);
      stream.write(Buffer.alloc(WEBLISK_BODY_MAX_BYTES + 1, " "));
      expect(await told).toMatchObject({
        head: { ":status": 413 },
        body: { detail: { reason: "body_too_large" } },
      });
      expect((await asked(session, POST, "{}")).body.read).toBe(2);
    });
  });

  it("a head over its bound is refused", async () => {
    await over(patient, async (session) => {
      const head = { ":path": "/v1/health", "x-large": "a".repeat(WEBLISK_HEAD_MAX_BYTES) };
      expect(await asked(session, head)).toMatchObject({
        head: { ":status": 431 },
        body: { code: "INVALID_REQUEST", detail: { reason: "http" } },
      });
      // By now the client has acknowledged the bound, and node:http2 looks after it.
      await expect(asked(session, head)).rejects.toMatchObject({ code: "ERR_HTTP2_STREAM_ERROR" });
    });
  });

  it("one connection has so many streams at a time, and no more", async () => {
    await over(patient, async (session) => {
      await asked(session, { ":path": "/v1/health" });
      expect(session.remoteSettings.maxConcurrentStreams).toBe(WEBLISK_STREAMS_MAX);
    });
  });

  it("a client that resets its requests at once loses its connection", async () => {
    await over(patient, async (session) => {
      let isGone = false;
      const gone = closed(session).then(() => {
        isGone = true;
      });
      let sent = 0;
      for (; !isGone && sent < 2 * WEBLISK_RESETS_BURST_MAX; sent += 1) {
        const there = new Promise<void>((resolve) => {
          arrived = resolve;
        });
        const stream = session.request(POST);
        stream.on("error", () => undefined);
        await Promise.race([there, gone]);
        stream.close(constants.NGHTTP2_CANCEL);
      }
      await gone;
      expect(sent).toBeGreaterThanOrEqual(WEBLISK_RESETS_BURST_MAX);
    });
    await over(patient, async (session) => {
      expect((await asked(session, { ":path": "/v1/health" })).head[":status"]).toBe(200);
    });
  });
});

it("the bodies of all requests together have a bound", () => {
  const room = new BodyRoom();
  room.take(WEBLISK_BODIES_MAX_BYTES);
  expect(() => room.take(1)).toThrow(WebliskRefusal);
  room.free(1);
  expect(() => room.take(1)).not.toThrow();
});

describe("the files of a pair", () => {
  const refusal = (pair: TlsFiles, now = new Date()): unknown => {
    try {
      return readTlsPair(pair, now);
    } catch (cause) {
      const { code, message } = cause as { readonly code: string; readonly message: string };
      return [code, message];
    }
  };
  const refused = (code: string, words: string): unknown => [code, expect.stringContaining(words)];

  it("a key that others can read is refused", () => {
    const pair = makePair(ca, "readable");
    for (const mode of [0o640, 0o604]) {
      chmodSync(pair.key, mode);
      expect(refusal(pair)).toEqual(refused("PERMISSION_DENIED", "can be read by others"));
    }
  });

  it("files that are none, or not for each other, or of another time, are refused by a sentence of their own", () => {
    const other = makePair(ca, "other");
    const junk = join(directory, "junk.pem");
    writeFileSync(junk, "no PEM", { mode: 0o600 });
    const large = join(directory, "large.pem");
    writeFileSync(large, Buffer.alloc(100_000), { mode: 0o600 });
    const rows: readonly (readonly [TlsFiles, Date, string])[] = [
      [{ ...files, key: other.key }, new Date(), "is not the key of the certificate"],
      [{ ...files, key: junk }, new Date(), "holds no private key"],
      [{ ...files, cert: junk }, new Date(), "holds no certificate"],
      [{ ...files, cert: files.key }, new Date(), "holds no certificate"],
      [{ ...files, cert: large }, new Date(), "bytes, which is no certificate"],
      [{ ...files, cert: join(directory, "missing") }, new Date(), "cannot be read"],
      [files, new Date(Date.now() + 2 * DAY_MS), "expired on"],
      [files, new Date(Date.now() - DAY_MS), "is not valid before"],
    ];
    for (const [pair, now, words] of rows)
      expect(refusal(pair, now)).toEqual(refused("INVALID_REQUEST", words));
  });
});
