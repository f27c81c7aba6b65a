/** Certificates of a test's own, made by openssl: an authority, and pairs for 127.0.0.1 that it signs. */
import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TlsFiles } from "../../../src/weblisk/server/tls-files.ts";

const openssl = (...args: readonly string[]): void =>
  void execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });

export interface Authority {
  readonly directory: string;
  /** Path of its certificate. */
  readonly cert: string;
  readonly key: string;
}

export const makeAuthority = (directory: string): Authority => {
  const [cert, key] = [join(directory, "ca.pem"), join(directory, "ca.key")];
  openssl(
    ..."req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj".split(" "),
    "/CN=test",
    "-keyout",
    key,
    "-out",
    cert,
  );
  return { directory, cert, key };
};

/** A pair that it has signed for a day; its key is its owner's alone. */
export const makePair = (
  { directory, cert: ca, key: caKey }: Authority,
  name: string,
  host = "IP:127.0.0.1",
): TlsFiles => {
  const [cert, key, ext] = [`${name}.pem`, `${name}.key`, `${name}.ext`].map((file) =>
    join(directory, file),
  ) as [string, string, string];
  const request = join(directory, `${name}.csr`);
  writeFileSync(ext, `subjectAltName=${host}\n`);
  openssl(
    ..."req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj".split(" "),
    `/CN=${name}`,
    "-keyout",
    key,
    "-out",
    request,
  );
  openssl(
    "x509",
    "-req",
    "-in",
    request,
    "-CA",
    ca,
    "-CAkey",
    caKey,
    "-extfile",
    ext,
    "-days",
    "1",
    "-CAcreateserial",
    "-out",
    cert,
  );
  chmodSync(key, 0o600);
  return { cert, key };
};

export const pem = (path: string): string => readFileSync(path, "utf8");
