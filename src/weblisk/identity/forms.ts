/** Bytes as text on the wire, read strictly: a text that another encoder would have written otherwise is refused. Pure. */

/** Lower-case hex (weblisk.txt, Key Generation: "64-character hex string"). */
export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Undefined unless it is lower-case hex of exactly so many bytes. */
export const bytesOfHex = (text: string, length: number): Buffer | undefined =>
  text.length === 2 * length && /^[0-9a-f]*$/.test(text) ? Buffer.from(text, "hex") : undefined;

/** Without padding. */
export const base64urlOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");

/** Undefined unless it is base64url of exactly so many bytes, without padding and without loose bits at its end. */
export const bytesOfBase64url = (text: string, length: number): Buffer | undefined => {
  if (!/^[\w-]*$/.test(text)) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return bytes.length === length && bytes.toString("base64url") === text ? bytes : undefined;
};
