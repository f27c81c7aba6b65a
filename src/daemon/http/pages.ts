/**
 * The files of the dashboard, as the build made them: read once and kept, so that a path is a key of a table and opens no
 * file. They hold no data, so they need no token. The build packs them in Brotli alone, which takes long to make and little
 * to read; gzip takes milliseconds.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { basename, extname, join } from "node:path";

const BROTLI = ".br";
/** The smallest first. */
const ENCODINGS = ["br", "gzip"] as const;
type Encoding = (typeof ENCODINGS)[number];

export interface PageFile {
  readonly type: string;
  /** Its name changes with its content, so a browser may keep it for ever. */
  readonly isHashed: boolean;
  readonly etag: string;
  readonly body: Buffer;
  readonly encoded: Readonly<Partial<Record<Encoding, Buffer>>>;
}

/** Files by their whole path, `/` and `/dashboard-HASH.js`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** Empty if this build has no dashboard. */
export const readPages = (directory: string): PageFiles => {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch {
    return new Map();
  }
  const { brotliDecompressSync, gzipSync } = process.getBuiltinModule("node:zlib");
  return new Map(
    names.flatMap((packed): [string, PageFile][] => {
      const name = basename(packed, BROTLI);
      const type = TYPES[extname(name)];
      if (type === undefined || name === packed) return [];
      const br = readFileSync(join(directory, packed));
      const body = brotliDecompressSync(br);
      const isPage = name === "index.html";
      const encoded = { br, gzip: gzipSync(body, { level: 9 }) };
      return [[isPage ? "/" : `/${name}`, { type, isHashed: !isPage, etag: etagOf(body), body, encoded }]];
    }),
  );
};

const etagOf = (body: Buffer): string =>
  `"${process.getBuiltinModule("node:crypto").createHash("sha256").update(body).digest("base64url").slice(0, 27)}"`;

/** The smallest form that a browser accepts. Pure. */
export const encodingFor = (accepted: string | undefined, { encoded }: PageFile): Encoding | undefined => {
  const words = (accepted ?? "").split(",").map((word) =>
    word
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/),
  );
  const takes = (encoding: Encoding): boolean =>
    words.some(([name, ...more]) => name === encoding && !more.some((one) => /^q=0(\.0*)?$/.test(one)));
  return ENCODINGS.find((one) => encoded[one] !== undefined && takes(one));
};

const SECURITY = [
  [
    "content-security-policy",
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  ],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["referrer-policy", "no-referrer"],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
].flat();

const NOT_MODIFIED = 304;

/** Answers GET and HEAD. */
export const sendPage = (headers: IncomingHttpHeaders, response: ServerResponse, file: PageFile): void => {
  const kept = file.isHashed ? "public, max-age=31536000, immutable" : "no-cache";
  const common = [...SECURITY, "cache-control", kept, "etag", file.etag, "vary", "accept-encoding"];
  const known = (headers["if-none-match"] ?? "").split(/\s*,\s*/);
  if (known.includes(file.etag) || known.includes(`W/${file.etag}`)) {
    response.writeHead(NOT_MODIFIED, common).end();
    return;
  }
  const encoding = encodingFor(headers["accept-encoding"], file);
  const body = encoding === undefined ? file.body : (file.encoded[encoding] as Buffer);
  const coding = encoding === undefined ? [] : ["content-encoding", encoding];
  const length = ["content-length", String(body.byteLength)];
  response.writeHead(200, [...common, ...coding, ...length, "content-type", file.type]).end(body);
};
