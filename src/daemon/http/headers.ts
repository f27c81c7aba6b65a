/**
 * The headers of every answer, names and values in turns: node:http writes a list faster than an object. They tell a browser to
 * keep nothing, guess nothing, and show it in no frame.
 */
export const HEADERS: readonly string[] = [
  "cache-control",
  "no-store",
  "x-content-type-options",
  "nosniff",
  "x-frame-options",
  "DENY",
  "referrer-policy",
  "no-referrer",
  "content-security-policy",
  "default-src 'none'; frame-ancestors 'none'",
];
