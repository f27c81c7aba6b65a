import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KNOWN_SECRET_MIN_CHARS } from "../../src/base/limits.ts";
import { HoldfastError } from "../../src/protocol/errors.ts";
import { failure } from "../../src/protocol/outcome.ts";
import {
  isSecretName,
  makeRedactor,
  redactError,
  redactOnce,
  redactOutcome,
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
    [String.raw`"a\nAPI_KEY=abcdef\nb"`, String.raw`"a\nAPI_KEY=***\nb"`],
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

  it.each(SECRETS)("masks %s whatever stands before it, and keeps that", (_name, secret) => {
    for (const before of [
      "\x1b[31m",
      "\x1b[1;32m",
      "-",
      "--",
      "-p",
      "_",
      "7",
      "%3D",
      "\\n",
      "\u001b[32m",
      "é",
    ])
      expect(redactText(`${before}${secret}`)).toBe(`${before}***`);
    if (!secret.startsWith("-----"))
      expect(redactText(`\x1b[32m${secret}\x1b[0m`)).toBe("\x1b[32m***\x1b[0m");
    for (const before of ["x", "X", "tok"]) expect(redactText(`${before}${secret}`)).toBe(`${before}***`);
  });

  it.each([
    ["aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = ***"],
    ["password=hunter2secretvalue", "password=***"],
    ["Password: hunter2", "Password: ***"],
    ["db_password=letmein host=db", "db_password=*** host=db"],
    ["dbPassword=hunter2", "dbPassword=***"],
    ["spring.datasource.password=hunter2", "spring.datasource.password=***"],
    ["x-api-key: hunter2secretvalue", "x-api-key: ***"],
    ["X-API-Key: hunter2secretvalue", "X-API-Key: ***"],
    ["run --token=hunter2secretvalue now", "run --token=*** now"],
    ["mysql --password hunter2secretvalue db", "mysql --password *** db"],
    ["secret: hunter2secretvalue", "secret: ***"],
    ["\x1b[32mtoken=hunter2x\x1b[0m", "\x1b[32mtoken=***\x1b[0m"],
    ["export PGPASSWORD='correct horse battery staple'", "export PGPASSWORD='***'"],
    ["//registry.example.org/:_authToken=abc123def", "//registry.example.org/:_authToken=***"],
    ["GET /x?access_token=abc123&page=1", "GET /x?access_token=***&page=1"],
    ["a=1&client_secret%3Dabc123def", "a=1&client_secret%3D***"],
    ["AccountKey=abc123/def456==;EndpointSuffix=x", "AccountKey=***;EndpointSuffix=x"],
    ['secret := "hunter2"', 'secret := "***"'],
    ["<password>hunter2</password>", "<password>***</password>"],
    ["(password=hunter2x)", "(password=***)"],
    [`{"secret":["hunter2","b"],"n":1}`, `{"secret":["***","***"],"n":1}`],
    [
      `{"credentials": {"user":"me","pin":1234567}, "x": "y"}`,
      `{"credentials": {"user":"***","pin":***}, "x": "y"}`,
    ],
    [String.raw`{\"password\": \"hunter2\"}`, String.raw`{\"password\": \"***\"}`],
    ["Cookie: session=hunter2; theme=dark", "Cookie: session=***; theme=***"],
    ["Set-Cookie: sid=abc123; Path=/; HttpOnly", "Set-Cookie: sid=***; Path=/; HttpOnly"],
    ["Authorization: hunter2secretvalue", "Authorization: ***"],
    [`Authorization: Digest username="u", response="abc"`, "Authorization: Digest ***"],
    ["https://hunter2secretvalue@host/x", "https://***@host/x"],
    ["https://0123456789abcdef0123:x-oauth-basic@host/x", "https://***:***@host/x"],
    ["dsn='postgres://u:p@ss@h/db'", "dsn='postgres://u:***@h/db'"],
    ["curl -u me:hunter2 https://example.org", "curl -u me:*** https://example.org"],
    [`-----BEGIN PGP PRIVATE KEY BLOCK-----\n${a(64)}\n-----END PGP PRIVATE KEY BLOCK-----`, "***"],
  ])("masks what stands after a secret's name in %j", (text, masked) => {
    expect(redactText(text)).toBe(masked);
    expect(redactText(masked)).toBe(masked);
  });

  it.each([
    "tokens=3000 max_tokens: 5 token count: 5, password: 8",
    "TOKEN= python run.py\npassword=\napi_key: ''",
    "password=*** token: <token> secret=$SECRET --token ${TOKEN} key={{ vault.key }}",
    "token = getToken(); const token = next; f(token=token, password=args.password)",
    "apiKey: process.env.API_KEY, token: string; password?: string, api_key: Option<String>",
    "if token == null or secret is None; auth=none; secret: true",
    "Password: enter your password. The key: always be kind to people. Use --token to log in.",
    "authorization: required for all; Cookie: none of your business",
    "private_key: /etc/ssl/private/x.key and password_file=/run/secrets/db",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV 123e4567-e89b-12d3-a456-426614174000",
    `sha256:${"ab12".repeat(16)} ${"0123456789abcdef".repeat(2)}`,
    "/home/me/task-12345678901234567890/disk-usage-of-the-whole-machine npm_config_cache=/x",
    "git@github.com:a/b.git ssh://git@github.com/a postgres://postgres@localhost/db docker run -u 1000:1000",
    "AAAAB3NzaC1yc2EAAAADAQABAAABgQ",
  ])("leaves %j as it is, too", (text) => expect(redactText(text)).toBe(text));

  it("masks all of a long text, and a value of any length", () => {
    const many = Array.from({ length: 500 }, (_, n) => `line ${n}: ghp_${a(36)}`).join("\n");
    expect(redactText(many)).not.toContain("ghp_");
    expect(redactText(`password="${a(50).repeat(100)}"`)).toBe('password="***"');
  });

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
      "eyJaaaaaaaa.eyJaaaaaaaa",
      "eyJaaaaaaaa_",
      "-----BEGIN A PRIVATE KEY",
      "http://a",
      "://a:b",
      "SG.aaaaaaaaaaaaaaaaaaaa.",
      "glpat-",
      "password=",
      "password: a b",
      "--token ",
      "--token-",
      "a-token-",
      "token\t",
      '{"secret":[',
      '{"secret":["',
      "token=$A",
      'token="{',
      "token='$A\"",
      "Cookie: ",
      "Cookie: a=b; ",
      "Authorization: Digest ",
      "<token>",
      "curl -u a:",
      "1234567890",
      "_mmk",
      "Q~",
      "\x1b[31m",
      '"token": "aaaaaaa',
      "a",
    ];
    for (const unit of awkward) {
      const began = performance.now();
      redactText(`API_KEY=x ${unit.repeat(1_000_000 / unit.length)}`);
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

describe("members", () => {
  const key = (letter: string): string => `ghp_${a(35)}${letter}`;

  it("whose names are secrets keep their values, each under a name of its own", () => {
    expect(redactValue({ a: 1, [key("x")]: 2, [key("y")]: 3, "***": 4 })).toEqual({
      a: 1,
      "*** 2": 2,
      "*** 3": 3,
      "***": 4,
    });
  });

  it("the token of a lease is told whole in our own answers, however long the log is, and nothing else below its name", () => {
    const claimed = { token: 1_234_567, lease: { token: 100_000 }, results: [{ token: 99_999_999 }] };
    expect(redactValue(claimed)).toBe(claimed);
    const { error } = redactOutcome(
      failure(new HoldfastError("LEASE_LOST", "It is over.", { details: { token: 1_234_567 } })),
    ) as { error: HoldfastError };
    expect(error.info.details).toEqual({ token: 1_234_567 });
    // Flags in the manifest.
    expect(redactValue({ flags: { token: { type: "int" } } })).toEqual({ flags: { token: { type: "int" } } });
    expect(redactValue({ token: "1234567", auth_token: 1_234_567 })).toEqual({
      token: "***",
      auth_token: "***",
    });
    // An agent's output is masked by another redactor.
    expect(makeRedactor().value({ token: 1_234_567 })).toEqual({ token: "***" });
  });

  it("long numbers below a secret's name are masked, others and booleans are not", () => {
    expect(redactValue({ password: 12345678, token: 123, secret: true, tokens: 12345678 })).toEqual({
      password: "***",
      token: 123,
      secret: true,
      tokens: 12345678,
    });
  });

  it("references below a secret's name stay, words after a secret's flag do not", () => {
    expect(redactValue({ token: "@env:TOKEN", argv: ["--password", "hunter2", "--token", "-x"] })).toEqual({
      token: "@env:TOKEN",
      argv: ["--password", "***", "--token", "-x"],
    });
  });
});

const redactEnv = makeRedactor().env;
describe("redacting an environment", () => {
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

  it.each([
    ["base64", (text: string) => Buffer.from(text).toString("base64")],
    ["base64url", (text: string) => Buffer.from(text).toString("base64url")],
    ["hex", (text: string) => Buffer.from(text).toString("hex")],
    ["capital hex", (text: string) => Buffer.from(text).toString("hex").toUpperCase()],
    ["a form", (text: string) => new URLSearchParams({ x: text }).toString().slice(2)],
    ["a URL of small letters", (text: string) => encodeURIComponent(text).toLowerCase()],
  ])("in %s, wherever it begins in what is encoded", (_how, encode) => {
    const secret = "hunter2-secret value/x+y";
    const known = makeRedactor([secret]);
    for (const [before, after] of [
      ["", ""],
      ["a", "zz"],
      ["me:", ":z"],
      ["user:", ""],
    ]) {
      const text = `<${encode(`${before}${secret}${after}`)}>`;
      expect(known.text(text)).toContain("***");
      // At most the character on each side that it shares with what stands there.
      expect(known.text(text).length).toBeLessThan(text.length - encode(secret).length + 8);
      expect(known.line(text)).toContain("***");
    }
  });

  it("not reversed, and not in two texts", () => {
    const known = makeRedactor(["hunter2-secret"]);
    expect(known.text("terces-2retnuh")).toBe("terces-2retnuh");
    expect(known.text("hunter2-") + known.text("secret")).toBe("hunter2-secret");
  });

  it("the head of a line that was cut keeps no part of one", () => {
    const known = makeRedactor(["hunter2-secret-value"]);
    expect(known.head("x hunter2-sec")).toBe("x ***");
    expect(known.head("x ghp_aB3")).toBe("x ***");
    expect(known.head(`{"a":"eyJ${a(30)}.eyJ${a(4)}`)).toBe('{"a":"***');
    expect(known.head('{"type":"control_request"')).toBe('{"type":"control_request"');
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

describe("a secret that a command line names", () => {
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

it("an object that never changes is searched once, and not shown unmasked below a secret's name", () => {
  const spec = { env: { API_TOKEN: a(20) }, prompt: "says nothing" };
  redactOnce(spec);
  const shown = redactValue({ spec });
  expect(shown.spec).toEqual({ env: { API_TOKEN: "***" }, prompt: "says nothing" });
  expect(redactValue({ spec }).spec).toBe(shown.spec);
  expect(redactValue({ secret: spec }).secret).toEqual({ env: { API_TOKEN: "***" }, prompt: "***" });
});
