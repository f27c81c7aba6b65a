/** To which server a URL leads, and whether it is encrypted. */
import { expect, it } from "vitest";
import { connectionUrl } from "../../../src/cluster/postgres/address.ts";

it.each([
  [
    "another machine",
    "postgres://u:p@db.example/holdfast",
    "postgres://u:p@db.example/holdfast?sslmode=verify-full",
  ],
  [
    "another machine, with an authority of its own",
    "postgres://db.example/h?sslrootcert=/etc/ca.pem",
    "postgres://db.example/h?sslrootcert=%2Fetc%2Fca.pem&sslmode=verify-full",
  ],
  [
    "another machine, as the URL says",
    "postgres://db.example/h?sslmode=disable",
    "postgres://db.example/h?sslmode=disable",
  ],
  ...["prefer", "require", "verify-ca"].map((mode): [string, string, string] => [
    `a server that is checked, by ${mode}, without a warning of pg`,
    `postgres://db.example/h?sslmode=${mode}`,
    "postgres://db.example/h?sslmode=verify-full",
  ]),
  [
    "a server that is not checked, as libpq reads it",
    "postgres://db.example/h?uselibpqcompat=true&sslmode=require",
    "postgres://db.example/h?uselibpqcompat=true&sslmode=require",
  ],
  ["this machine", "postgres://localhost:5432/h", "postgres://localhost:5432/h"],
  ["this machine, by number", "postgres://127.0.0.1/h", "postgres://127.0.0.1/h"],
  [
    "another machine, by a parameter that decides over the authority",
    "postgres://u:p@localhost/h?host=db.example",
    "postgres://u:p@localhost/h?host=db.example&sslmode=verify-full",
  ],
  [
    "another machine, with an empty parameter",
    "postgres://db.example/h?host=",
    "postgres://db.example/h?host=&sslmode=verify-full",
  ],
  [
    "another machine, by the last of two parameters",
    "postgres:///h?host=/run&host=db.example",
    "postgres:///h?host=%2Frun&host=db.example&sslmode=verify-full",
  ],
  [
    "another machine, with an empty sslmode",
    "postgres://db.example/h?sslmode=",
    "postgres://db.example/h?sslmode=verify-full",
  ],
  ["this machine, by a parameter", "postgres://db.example/h?host=::1", "postgres://db.example/h?host=::1"],
  ["a socket in the authority", "postgres://%2Frun%2Fpostgresql/h", "postgres://%2Frun%2Fpostgresql/h"],
  ["a socket", "postgres:///h?host=/run/postgresql", "postgres:///h?host=/run/postgresql"],
])("%s", (_, url, expected) => {
  expect(connectionUrl(url)).toBe(expected);
});

it("a URL without a host leads to the usual one", () => {
  expect(connectionUrl("postgres:///h", "db.example")).toBe("postgres:///h?sslmode=verify-full");
  expect(connectionUrl("postgres:///h", "/run/postgresql")).toBe("postgres:///h");
});
