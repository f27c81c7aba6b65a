/** The escape suite of runner `exec`: real runs that try to get out. On a machine without a sandbox they are counted as skipped, and the refusal is tried. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { SKILL_WRITE_MAX_BYTES } from "../../src/base/limits.ts";
import { lookForSandbox } from "../../src/workspace/sandbox/sandbox.ts";
import {
  type EscapedRunner,
  getsNowhereByLinks,
  printsNoGigabyte,
  seesItsOwnProcesses,
  triedWith,
  writesToTheWorkspace,
} from "./escape-cases.ts";
import { errorOf, printed, skillPlace } from "./support.ts";

const isHere = "program" in (await lookForSandbox());
const isRoot = process.getuid?.() === 0;
const EXEC: EscapedRunner = {
  runner: "exec",
  add: (place, name, script, more) => place.add(name, script, more),
  processes_below: 12,
};
const tried = triedWith(EXEC);

describe.skipIf(!isHere)("a skill in its sandbox", () => {
  it("gets nowhere by `..`, by links, or by links that it makes", getsNowhereByLinks(EXEC));
  it("sees its own processes alone, and nothing of theirs outside", seesItsOwnProcesses(EXEC));
  it(
    "writes to the workspace where its manifest says so, and never to what git and the daemon run",
    writesToTheWorkspace(EXEC),
  );
  it("prints no gigabyte: the kernel ends it at its bound, and the answer says why", printsNoGigabyte(EXEC));

  it("reads its workspace, and writes nothing anywhere", async () => {
    const script = [
      "GOT=$(cat a.txt)",
      'for at in . /usr /etc / /bin "$HOME/.." /proc /dev; do touch $at/hold-test 2>/dev/null && GOT="$GOT $at"; done',
    ].join("\n");
    const { got, place } = await tried(script, "", ({ workspace }) =>
      writeFileSync(join(workspace, "a.txt"), "hello"),
    );
    // /dev is the sandbox's own.
    expect(got.replace(" /dev", "")).toBe("hello");
    expect(readdirSync(place.workspace)).toEqual(["a.txt"]);
    expect(existsSync("/dev/hold-test")).toBe(false);
  });

  it("sees no state directory, no home, no configuration of the machine, and no skill but itself", async () => {
    const script =
      'GOT=$(ls -A $ROOT/state /root /home /etc/passwd /etc/shadow /var /run /srv /mnt 2>/dev/null | tr "\\n" " ")';
    const { got, place } = await tried(script);
    expect(got).toContain("skills");
    expect(got.replace(`${place.root}/state: `, "").trim().replace(/^.*:/, "").trim()).toBe("skills");
    expect(existsSync(join(place.stateDir, "holdfast.db"))).toBe(true);
  });

  it("changes no setting of the kernel, also where the daemon is root's", async () => {
    const { got } = await tried(
      "GOT=$(for at in sys/kernel/core_pattern sys/vm/overcommit_memory sysrq-trigger; do (: >>/proc/$at) 2>/dev/null && echo $at; done)",
    );
    expect(got).toBe("");
  });

  it("has only the variables that it is given", async () => {
    const script = 'GOT=$(env | cut -d= -f1 | sort | tr "\\n" " ")';
    const { got } = await tried(script, "capabilities: {state: true}\n");
    expect(got.trim().split(" ")).toEqual([
      ...[
        "HOLDFAST_RUN",
        "HOLDFAST_SKILL_STATE",
        "HOLDFAST_SKILL_WORKSPACE",
        "HOME",
        "LANG",
        "PATH",
        "PWD",
        "TMPDIR",
      ],
    ]);
  });

  it("gets its declared secrets, whose values are masked in its answer", async () => {
    const place = await skillPlace();
    place.add("try/out", printed("try/out", '{"got":"<$A_WORD>"}'), "capabilities: {secrets: [A_WORD]}\n");
    const how = { workspace: place.workspace, secrets: { A_WORD: "orange-elephant", OTHER: "x" } };
    expect((await place.runtime.skills.run("try/out", {}, how)).data).toEqual({ got: "<***>" });
  });

  it("reaches no network: no address of this machine, no metadata address, no name, no socket", async () => {
    let asked = 0;
    const server = createServer((_, answer) => answer.end(String(++asked))).listen(0, "0.0.0.0");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const node = process.execPath;
    const urls = [
      `http://127.0.0.1:${port}`,
      "http://169.254.169.254/latest/meta-data",
      "http://example.com",
      "http://[::1]:1",
    ];
    const script = [
      `GOT=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ' ')`,
      `GOT="$GOT$(find / -xdev -type s 2>/dev/null | head -1)"`,
      `GOT="$GOT$(tail -n +2 /proc/net/unix | wc -l)"`,
      `GOT="$GOT $(exec 3<>/dev/tcp/127.0.0.1/${port} && echo open)"`,
    ].join("\n");
    const { got, place } = await tried(script);
    expect(got.trim()).toBe("lo 0");
    // A program with a network library gets no further.
    const js = `Promise.allSettled(${JSON.stringify(urls)}.map(u=>fetch(u))).then(a=>console.log(a.map(r=>r.status)+""))`;
    writeFileSync(join(place.workspace, "net.js"), js);
    place.add("try/js", `GOT=$(${node} ./net.js)\n${printed("try/js", '{"got":"$GOT"}')}`);
    const ran = place.runtime.skills.run("try/js", {}, { workspace: place.workspace });
    // The program itself is only there where it is one of the system's.
    expect(["", "rejected,rejected,rejected,rejected"]).toContain((await ran).data.got);
    expect(asked).toBe(0);
  });

  it("makes no .git and no skill of the project where there is none", async () => {
    const script = "mkdir -p .holdfast/skills/evil .git/hooks 2>/dev/null || GOT=refused";
    const { got, place } = await tried(script, "capabilities: {files: write}\n");
    expect(got).toBe("refused");
    expect(readdirSync(place.workspace)).toEqual([]);
  });

  it("fills no disk: a file that it writes ends at the same bound", async () => {
    const script = "head -c 1073741824 /dev/zero >big 2>/dev/null; GOT=$(wc -c <big)";
    const { got } = await tried(script, "capabilities: {files: write}\n");
    expect(Number(got)).toBeLessThanOrEqual(SKILL_WRITE_MAX_BYTES);
  });

  // The kernel does not count the processes of root (docs/explanation/skills.md).
  it.skipIf(isRoot)("a fork bomb ends at its bound, and nothing of it is left", async () => {
    const place = await skillPlace();
    place.add("try/out", "b() { b & b; }; b; sleep 600", "limits: {timeout_ms: 5000}\n");
    const error = await errorOf(place.runtime.skills.run("try/out", {}, { workspace: place.workspace }));
    expect(["TIMEOUT", "SKILL_FAILED", "SKILL_ENVELOPE_INVALID"]).toContain(error.code);
    const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
    expect(left.filter((line) => line.includes(place.root))).toEqual([]);
  });

  it("its processes in the background end with it", async () => {
    const place = await skillPlace();
    const script = `(setsid sh -c 'sleep 600; : ${place.root}' >/dev/null 2>&1 &)\n${printed("try/out", "{}")}`;
    place.add("try/out", script);
    await place.runtime.skills.run("try/out", {}, { workspace: place.workspace });
    const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");
    expect(left.filter((line) => line.includes(`: ${place.root}`))).toEqual([]);
  });

  it("is ended at the end of its time", async () => {
    const place = await skillPlace();
    place.add("try/out", "sleep 600", "limits: {timeout_ms: 300}\n");
    const run = place.runtime.skills.run("try/out", {}, { workspace: place.workspace });
    expect(await errorOf(run)).toMatchObject({ code: "TIMEOUT" });
  });

  it("a workspace that would show the machine is refused", async () => {
    const { runtime, stateDir } = await skillPlace();
    for (const workspace of ["/", "/proc", "/dev", "/etc", "/etc/ssl", stateDir])
      expect(await errorOf(runtime.skills.run("fs/ls", {}, { workspace }))).toMatchObject({
        code: "INVALID_REQUEST",
        info: { details: { rule: "workspace" } },
      });
  });
});

it.skipIf(isHere)("without a sandbox on this machine a run is refused before anything starts", async () => {
  const { runtime, workspace } = await skillPlace();
  const error = await errorOf(runtime.skills.run("fs/ls", {}, { workspace }));
  expect(error).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  expect(error.suggestion).toContain("bubblewrap");
  expect(await runtime.list({ all: true })).toEqual([]);
});
