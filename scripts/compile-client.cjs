/** Runs the client once, `agent --version`, and writes what V8 has compiled of it beside it, as bin/agent reads it: cli.cjs to cli.code. */
"use strict";

const { readFileSync, writeFileSync } = require("node:fs");
const { createRequire, wrap } = require("node:module");
const { dirname, join } = require("node:path");
const { Script, constants } = require("node:vm");

const [, , program] = process.argv;
const script = new Script(wrap(readFileSync(program, "latin1")), {
  filename: program,
  importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
});
process.argv = [process.argv[0], "agent", "--version"];
process.on("exit", () => writeFileSync(join(dirname(program), "cli.code"), script.createCachedData()));
const made = { exports: {} };
script.runInThisContext()(made.exports, createRequire(program), made, program, dirname(program));
