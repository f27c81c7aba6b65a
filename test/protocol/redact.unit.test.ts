import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { KNOWN_SECRET_MIN_CHARS } from "../../src/protocol/limits.ts";
import {
  isSecretName,
  makeRedactor,
  redactEnv,
  redactError,
  redactText,
  redactValue,
  secretArguments,
} from "../../src/protocol/redact.ts";

/** Made here, so that no scanner takes this file for a leak. */
const a = (length: number): string => "aB3dE5gH7j".repeat(10).slice(0, length);
const upper = (length: number): string => a(length).toUpperCase();

const SECRETS: readonly (readonly [string, string])[] = [
  ["an Anthropic key", `sk-ant-api03-${a(40)}`],
  ["an OpenAI project key", `sk-proj-${a(40)}`],
  ["an OpenAI key", `sk-${a(48)}`],
  ["an AWS key id", `AKIA${upper(16)}`],
  ["a Google key", `AIza${a(35)}`],
  ["a Stripe key", `sk_live_${a(24)}`],
  ["a Slack token", `xoxb-123456789012-${a(24)}`],
  ["a GitHub fine-grained token", `github_pat_${a(40)}`],
  ["a JWT", `eyJ${a(20)}.eyJ${a(30)}.${a(43)}`],
  ["a private key", `-----BEGIN RSA PRIVATE KEY-----\n${a(64)}\n${a(64)}\n-----END RSA PRIVATE KEY-----`],
  ...["p", "o", "u", "s", "r"].map(
    (letter) => [`a GitHub gh${letter}_ token`, `gh${letter}_${a(36)}`] as const,
  ),
];

describe("redactText", () => {
  it.each(SECRETS)("masks %s wherever it stands", (_name, secret) => {
    expect(redactText(secret)).toBe("***");
    expect(redactText(`see ${secret}, twice: "${secret}"`)).toBe('see ***, twice: "***"');
    expect(redactText(JSON.stringify({ output: `x\n${secret}\ny` }))).toBe(
      String.raw`{"output":"x\n***\ny"}`,
    );
  });

  it.each([
    [`Authorization: Bearer ${a(20)}`, "Authorization: Bearer ***"],
    [`{"authorization":"Basic dXNlcjpwYXNz"}`, `{"authorization":"Basic ***"}`],
    [`curl -H 'authorization: bearer ${a(9)}'`, "curl -H 'authorization: bearer ***'"],
    [`the bearer ${a(30)} was sent`, "the bearer *** was sent"],
    ["postgres://me:hunter2@db:5432/x", "postgres://me:***@db:5432/x"],
    [String.raw`"a\nAPI_KEY=abcdef\nb"`, String.raw`"a\nAPI_KEY=***"`],
    ["ANTHROPIC_API_KEY=abcdef123", "ANTHROPIC_API_KEY=***"],
    [`export DB_PASSWORD="hunter22"`, `export DB_PASSWORD="***"`],
    [`{"api_key": "abcdef", "n": 1}`, `{"api_key": "***", "n": 1}`],
    [`-----BEGIN PRIVATE KEY-----\n${a(64)}`, "***"],
  ])("masks the secret and nothing else in %j", (text, masked) => {
    expect(redactText(text)).toBe(masked);
    expect(redactText(masked)).toBe(masked);
  });

  it.each([
    "The bearer authentication of the API is basic authentication.",
    "const token = getToken(); // author: me",
    "MAX_TOKENS=200000 KEYBOARD=dvorak CACHE_KEY=main-branch-17",
    "API_KEY=$OTHER_KEY and TOKEN=@env:TOKEN",
    `{"max_tokens": "unlimited", "cache_key": "sha256:abc", "key": "Enter"}`,
    "https://example.org:8080/a@b task-runner risk-assessment-of-the-whole-thing",
    "eyJ is how a JWT begins; sk- is how a key begins",
  ])("leaves %j as it is", (text) => expect(redactText(text)).toBe(text));

  it("takes time in proportion to the text, whatever the text", () => {
    const awkward = [
      "eyJ",
      "-eyJ",
      "eyJaaaaaaaaa.",
      "\\neyJ",
      "-----BEGIN PRIVATE KEY-----",
      "://a:",
      "sk-",
      "xoxb-",
      "AIza",
      "Bearer aaaaaaa ",
      "bearer a1",
      "authorization:",
      "authorization: bearer ",
      "KEY",
      "A_",
      "TOKEN   ",
      "TOKEN=",
      'key":"',
      '"token": "aaaaaaa',
      "a",
    ];
    for (const unit of awkward) {
      const began = performance.now();
      redactText(`KEY ${unit.repeat(100_000 / unit.length)}`);
      expect(performance.now() - began, unit).toBeLessThan(10_000);
    }
  });
});

describe("isSecretName", () => {
  it.each([
    "ANTHROPIC_API_KEY",
    "apiKey",
    "x-api-key",
    "api_key",
    "GITHUB_TOKEN",
    "accessToken",
    "token",
    "client_secret",
    "AWS_SECRET_ACCESS_KEY",
    "SECRET_KEY_BASE",
    "DB_PASSWORD",
    "password",
    "PGPASSWORD",
    "Authorization",
    "REGISTRY_AUTH",
    "credentials",
    "Cookie",
    "MYSQL_PWD",
    "passphrase",
    "privateKey",
  ])("%s holds a secret", (name) => expect(isSecretName(name)).toBe(true));
  it.each([
    "author",
    "authors",
    "max_tokens",
    "input_tokens",
    "tokens",
    "keyboard",
    "key",
    "keys",
    "monkey",
    "PWD",
    "OLDPWD",
    "cache_key",
    "idempotency_key",
    "public_key",
    "PATH",
    "pattern",
    "token_count",
    "PASSWORD_FILE",
    "SSH_AUTH_SOCK",
    "auth_type",
    "compass",
    "",
    "secretary",
  ])("%s does not", (name) => expect(isSecretName(name)).toBe(false));
});

describe("redactValue", () => {
  it("masks deep, by shape and by name, and leaves numbers and empty strings", () => {
    const value = {
      argv: ["curl", `sk-ant-${a(30)}`],
      headers: { authorization: a(5), accept: "x" },
      max_tokens: 5,
      token: "",
      credentials: { user: "me", parts: ["p", 7] },
    };
    expect(redactValue(value)).toEqual({
      argv: ["curl", "***"],
      headers: { authorization: "***", accept: "x" },
      max_tokens: 5,
      token: "",
      credentials: { user: "***", parts: ["***", 7] },
    });
  });

  it("gives back the same object when there is nothing to mask", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: fc.constantFrom("x", "é", " ", "7") }), (value) => {
        expect(redactValue(value)).toBe(value);
      }),
    );
  });

  it("lets nothing through below the greatest depth, and survives any nesting", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(100_000)}"${`sk-ant-${a(30)}`}"${"]".repeat(100_000)}`);
    expect(JSON.stringify(redactValue(deep))).toMatch(/^\[+"\*\*\*"\]+$/);
  });
});

describe("redactEnv", () => {
  it("masks secret names and shapes, and shows references and the rest", () => {
    expect(
      redactEnv({
        PATH: "/bin",
        OPENAI_API_KEY: "short",
        A_TOKEN: "@env:A_TOKEN",
        B_TOKEN: "@file:b",
        EMPTY_KEY: "",
        URL: "http://u:p4ssw0rd@h",
      }),
    ).toEqual({
      PATH: "/bin",
      OPENAI_API_KEY: "***",
      A_TOKEN: "@env:A_TOKEN",
      B_TOKEN: "@file:b",
      EMPTY_KEY: "",
      URL: "http://u:***@h",
    });
  });
});

describe("makeRedactor", () => {
  it("masks known values as they are, escaped in JSON, and line by line", () => {
    const secret = 'first "line"\nsecond line (.*)';
    const { text, value } = makeRedactor([secret]);
    expect(text(`a ${secret} b`)).toBe("a *** b");
    expect(text(JSON.stringify({ secret }))).toBe('{"secret":"***"}');
    expect(text("it said: second line (.*)!")).toBe("it said: ***!");
    expect(value({ out: [secret] })).toEqual({ out: ["***"] });
  });

  it("masks the longer of two that begin alike whole", () => {
    expect(makeRedactor(["hunter2", "hunter2-extra"]).text("hunter2-extra hunter2")).toBe("*** ***");
  });

  it("does not look for values so short that they are words", () => {
    const short = "x".repeat(KNOWN_SECRET_MIN_CHARS - 1);
    expect(makeRedactor([short, ""]).text(`${short} y`)).toBe(`${short} y`);
  });

  it("never lets a known value through, whatever stands around it", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: KNOWN_SECRET_MIN_CHARS, maxLength: 30 }),
        fc.string(),
        fc.string(),
        (secret, before, after) => {
          expect(makeRedactor([secret]).text(before + secret + after)).not.toContain(secret);
        },
      ),
    );
  });
});

describe("known values, however they are spelled", () => {
  const SECRET = 'a"b\\c-é-0123';
  const redact = makeRedactor([SECRET]);
  const ascii = (text: string) =>
    text.replace(/[\u0080-\uffff]/g, (unit) => `\\u00${unit.charCodeAt(0).toString(16)}`);

  it.each([
    ["as it is", SECRET],
    ["in JSON", JSON.stringify(SECRET)],
    ["in JSON of ASCII", ascii(JSON.stringify(SECRET))],
    ["in JSON inside JSON", JSON.stringify(JSON.stringify({ key: SECRET }))],
    ["in a URL", encodeURIComponent(SECRET)],
  ])("%s", (_how, text) => {
    for (const mask of [redact.text, redact.line]) {
      expect(mask(text)).toContain("***");
      expect(mask(text)).not.toMatch(/0123|a.{1,4}b/);
    }
  });

  it("a line that is not decoded yet keeps what may be a word or a number of a protocol, and the shapes", () => {
    const shared = makeRedactor(["assistant", "1234567"]);
    const line = '{"type":"assistant","at":12345678,"key":"sk-ant-abcdefgh12345678"}';
    expect(shared.line(line)).toBe(line);
    expect(shared.text(line)).not.toMatch(/assistant|1234567|sk-ant/);
  });

  it("an error keeps its code and says nothing that is secret, nor what caused it", () => {
    const error = redactError(
      new HoldfastError("EXEC_FAILED", `${SECRET} is no program`, {
        problems: [SECRET],
        suggestion: `Mend ${SECRET}.`,
        details: { program: SECRET },
        cause: new Error(SECRET),
      }),
      redact,
    );
    expect([error.code, error.message, error.cause]).toEqual(["EXEC_FAILED", "*** is no program", undefined]);
    expect(error.info).toEqual({ problems: ["***"], suggestion: "Mend ***.", details: { program: "***" } });
  });
});

describe("what a command line says is secret", () => {
  it.each([
    [["run", "--api-key", "abc123", "--verbose"], ["abc123"]],
    [
      ["--auth-token=x=y", "-password", "pw"],
      ["x=y", "pw"],
    ],
    [["--token", "--other", "--password-file", "/p", "--author", "me", "--key", "k"], []],
    [["--token"], []],
  ])("%j", (argv, secrets) => {
    expect(secretArguments(argv)).toEqual(secrets);
  });
});
