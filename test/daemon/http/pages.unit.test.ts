import { describe, expect, it } from "vitest";
import { encodingFor, type PageFile } from "../../../src/daemon/http/pages.ts";

const bytes = Buffer.from("x");
const file = (encoded: PageFile["encoded"]): PageFile => ({
  type: "",
  isHashed: true,
  etag: "",
  body: bytes,
  encoded,
});
const both = file({ br: bytes, gzip: bytes });

describe("the encoding of a file", () => {
  it.each([
    ["gzip, deflate, br, zstd", both, "br"],
    ["GZIP", both, "gzip"],
    ["br;q=0, gzip;q=0.5", both, "gzip"],
    ["br ; q=0.000", both, undefined],
    ["brotli", both, undefined],
    ["", both, undefined],
    [undefined, both, undefined],
    ["br, gzip", file({ gzip: bytes }), "gzip"],
    ["br", file({}), undefined],
  ])("accepted: %j", (accepted, one, encoding) => expect(encodingFor(accepted, one)).toBe(encoding));
});
