import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/protocol/canonical-json.ts";
import { SIGNING_ALGORITHMS } from "../../../src/protocol/words.ts";
import {
  ALGORITHMS,
  newKey,
  publicTextOf,
  signText,
  verifierOf,
} from "../../../src/weblisk/identity/algorithms.ts";
import { profileOfMember, profileOfSignature, signedBy } from "../../../src/weblisk/signing/operations.ts";
import { readBody, wireJson } from "../../../src/weblisk/wire/body.ts";

const bodyOf = (text: string) => readBody(Buffer.from(text));

describe.each(SIGNING_ALGORITHMS)("%s", (algorithm) => {
  const key = newKey(ALGORITHMS[algorithm]);
  const verifier = verifierOf({ algorithm, publicKey: publicTextOf(key) })!;
  const result = { task_id: "1", status: "success", output: { z: 1, "10": 2, "9": "<é>" }, changes: [] };

  it("our signature holds in both profiles once it is on the wire", () => {
    const body = bodyOf(wireJson({ ...result, ...signedBy(key, "result", result) }));
    const { signature, signature_jcs } = body.value;
    expect(profileOfSignature(verifier, "result", body, signature)).toBe("literal");
    expect(profileOfSignature(verifier, "result", body, signature_jcs)).toBe("jcs");
    expect(profileOfSignature(verifier, "result", body, signature, "jcs")).toBeUndefined();
    expect(profileOfSignature(verifier, "result", body, signature_jcs, "literal")).toBeUndefined();
    const pinned = signedBy(key, "result", result, "jcs");
    expect(profileOfSignature(verifier, "result", body, pinned.signature)).toBe("jcs");
  });

  it("covers the members of the document, in its order, and no others", () => {
    const signature = signText(
      key,
      JSON.stringify({ task_id: "1", status: "failed", output: { b: 1, a: "é" } }),
    );
    const sent = { output: { b: 1, a: "é" }, status: "failed", extra: 1, task_id: "1", duration_ms: 3 };
    expect(profileOfSignature(verifier, "result", bodyOf(JSON.stringify(sent)), signature)).toBe("literal");
    const changed = JSON.stringify({ ...sent, status: "success" });
    expect(profileOfSignature(verifier, "result", bodyOf(changed), signature)).toBeUndefined();
    const spaced = JSON.stringify(sent, null, 2);
    expect(profileOfSignature(verifier, "result", bodyOf(spaced), signature)).toBe("literal");
  });

  it("a manifest is verified as it came: escapes, order, members that nobody knows", () => {
    const manifest = '{"name":"a","undefined_field":{"10":1,"9":2},"description":"\\u003cb\\u003e"}';
    const body = bodyOf(`{"manifest": ${manifest} ,"timestamp":1}`);
    expect(profileOfMember(verifier, body, "manifest", signText(key, manifest))).toBe("literal");
    expect(
      profileOfMember(verifier, body, "manifest", signText(key, canonicalJson(JSON.parse(manifest)))),
    ).toBe("jcs");
    expect(profileOfMember(verifier, body, "manifest", signText(key, "{}"))).toBeUndefined();
    expect(profileOfMember(verifier, body, "other", signText(key, manifest))).toBeUndefined();
    expect(profileOfMember(verifier, body, "manifest", undefined)).toBeUndefined();
  });
});

it("a signature of any message survives the wire", () => {
  const key = newKey(ALGORITHMS.Ed25519);
  const verifier = verifierOf({ algorithm: "Ed25519", publicKey: publicTextOf(key) })!;
  const payload = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ noUnicodeString: false }));
  fc.assert(
    fc.property(payload, (given) => {
      const message = { from: "a", to: "b", action: "c", payload: given };
      const text = wireJson(message);
      let body: ReturnType<typeof bodyOf>;
      try {
        body = bodyOf(text);
      } catch {
        return; // A number or a text that the wire refuses.
      }
      const { signature } = signedBy(key, "message", message);
      expect(profileOfSignature(verifier, "message", body, signature)).toBe("literal");
    }),
    { numRuns: 60 },
  );
});
