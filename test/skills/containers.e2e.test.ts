/** The escape suite of runner `oci`: real containers that try to get out. On a machine without podman they are counted as skipped, and the refusal is tried. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import {
  CONTAINER_TMP_MAX_BYTES,
  SKILL_PROCESSES_MAX,
  SKILL_WRITE_MAX_BYTES,
} from "../../src/base/limits.ts";
import {
  type EscapedRunner,
  getsNowhereByLinks,
  printsNoGigabyte,
  seesItsOwnProcesses,
  triedWith,
  writesToTheWorkspace,
} from "./escape-cases.ts";
import { addContainerSkill, containersLeft, hasContainers, makeImage, podman, removeImage } from "./image.ts";
import { errorOf, printed, type SkillPlace, skillPlace } from "./support.ts";

const processes = (): readonly string[] =>
  execFileSync("ps", ["-eo", "args"], { encoding: "utf8" }).split("\n");

const OCI: EscapedRunner = { runner: "oci", add: addContainerSkill, processes_below: 8 };
const tried = triedWith(OCI);

const failing = async (script: string, more = "") => {
  const place = await skillPlace();
  addContainerSkill(place, "try/out", script.replaceAll("$ROOT", place.root), more);
  const error = await errorOf(place.runtime.skills.run("try/out", {}, { workspace: place.workspace }));
  return { error, place };
};

describe.skipIf(!hasContainers)("a skill in its container", () => {
  beforeAll(() => void makeImage());
  afterAll(removeImage);
  afterEach(() => expect(containersLeft()).toEqual([]));
  it("gets nowhere by `..`, by links, or by links that it makes", getsNowhereByLinks(OCI));
  it("sees its own processes alone, and nothing of theirs outside", seesItsOwnProcesses(OCI));
  it(
    "writes to the workspace where its manifest says so, and never to what git and the daemon run",
    writesToTheWorkspace(OCI),
  );
  it("prints no gigabyte: the kernel ends it at its bound, and the answer says why", printsNoGigabyte(OCI));

  it("reads its workspace, and writes nothing but its own /tmp", async () => {
    const script = [
      "GOT=$(cat a.txt)",
      'for at in . / /bin /etc /volume /proc /sys /run "$HOME/.."; do touch $at/hold-test 2>/dev/null && GOT="$GOT $at"; done',
      'touch /tmp/x && GOT="$GOT tmp"; id -u >/tmp/id; GOT="$GOT $(cat /tmp/id)"',
    ].join("\n");
    const { got, place } = await tried(script, "", ({ workspace }) =>
      writeFileSync(join(workspace, "a.txt"), "hello"),
    );
    expect(got).toBe("hello tmp 0");
    expect(readdirSync(place.workspace)).toEqual(["a.txt"]);
    expect(podman("volume", "ls", "--quiet")).toBe("");
  });

  it("sees no state directory, no home, no configuration of the machine, and no engine", async () => {
    const script = [
      "GOT=$(ls -A $ROOT | tr '\\n' ' ')",
      'GOT="$GOT:$(ls -A /root /home /etc/passwd /etc/shadow /etc/hosts /etc/resolv.conf /var /srv /run/podman /run/runc 2>/dev/null)"',
      'GOT="$GOT:$(find / -xdev -type s 2>/dev/null | head -1)"',
    ].join("\n");
    const { got, place } = await tried(script);
    expect(got).toBe("work ::");
    expect(existsSync(join(place.stateDir, "holdfast.db"))).toBe(true);
  });

  it("has no capability, gains none, and has no device and no setting of the kernel", async () => {
    const script = [
      'GOT=$(grep -E "^(CapPrm|CapEff|CapBnd|NoNewPrivs|Seccomp):" /proc/self/status | tr -s "\\t\\n" "  ")',
      'GOT="$GOT$(for at in sys/kernel/core_pattern sys/vm/overcommit_memory sysrq-trigger; do (: >>/proc/$at) 2>/dev/null && echo $at; done)"',
      'mknod /tmp/disk b 254 0 2>/dev/null && GOT="$GOT node"',
      'mount -t tmpfs none /tmp 2>/dev/null && GOT="$GOT mounted"',
      'GOT="$GOT$(find /dev -type b)"',
    ].join("\n");
    const { got } = await tried(script);
    const none = "0000000000000000";
    expect(got.trim()).toBe(`CapPrm: ${none} CapEff: ${none} CapBnd: ${none} NoNewPrivs: 1 Seccomp: 2`);
  });

  it("has only the variables that it is given, and its image's own", async () => {
    const script = 'GOT=$(env | cut -d= -f1 | sort | tr "\\n" " ")';
    const { got } = await tried(script, "capabilities: {state: true}\n");
    expect(got.trim().split(" ")).toEqual([
      ...["HOLDFAST_RUN", "HOLDFAST_SKILL_STATE", "HOLDFAST_SKILL_WORKSPACE", "HOME", "HOSTNAME"],
      ...["LANG", "OF_IMAGE", "PATH", "PWD", "SHLVL", "TMPDIR"],
    ]);
  });

  it("gets its declared secrets, which are masked in its answer and in no command line", async () => {
    const place = await skillPlace();
    const script = `echo there >there; while [ ! -e go ]; do sleep 0.05; done\n${printed("try/out", '{"got":"<$A_WORD>"}')}`;
    addContainerSkill(place, "try/out", script, "capabilities: {files: write, secrets: [A_WORD]}\n");
    const how = { workspace: place.workspace, secrets: { A_WORD: "orange-elephant", OTHER: "x" } };
    const run = place.runtime.skills.run("try/out", {}, how);
    await expect.poll(() => existsSync(join(place.workspace, "there")), { timeout: 60_000 }).toBe(true);
    expect(processes().filter((line) => line.includes("orange-elephant"))).toEqual([]);
    writeFileSync(join(place.workspace, "go"), "");
    expect((await run).data).toEqual({ got: "<***>" });
  });

  it("reaches no network: no address of this machine, no metadata address, no name, no socket", async () => {
    let asked = 0;
    const server = createServer((_, answer) => answer.end(String(++asked))).listen(0, "0.0.0.0");
    onTestFinished(() => void server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const script = [
      `GOT=$(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | tr '\\n' ' ')`,
      `GOT="$GOT$(tail -n +2 /proc/net/unix | wc -l)"`,
      `for url in 127.0.0.1:${port} 169.254.169.254/latest/meta-data "[::1]:1" example.com; do wget -T 2 -q -O - http://$url >/dev/null 2>&1 && GOT="$GOT $url"; done`,
      `nslookup example.com >/dev/null 2>&1 && GOT="$GOT name"`,
      `nc -w 1 8.8.8.8 53 </dev/null >/dev/null 2>&1 && GOT="$GOT raw"`,
    ].join("\n");
    const { got } = await tried(script);
    expect(got).toBe("lo 0");
    expect(asked).toBe(0);
  });

  it("keeps its state from run to run, and sees no workspace that it does not want", async () => {
    const script =
      'echo x >>$HOLDFAST_SKILL_STATE/n; GOT="$(wc -l <$HOLDFAST_SKILL_STATE/n) $(ls $ROOT 2>&1)"';
    const { got, place } = await tried(script, "capabilities: {files: none, state: true}\n");
    expect(got).toBe("1 state");
    const { data } = await place.runtime.skills.run("try/out", {}, { workspace: place.workspace });
    expect(data.got).toBe("2 state");
  });

  it("a workspace with a name of any characters is shown, and nothing else by that name", async () => {
    const place = await skillPlace();
    const workspace = join(place.root, 'a,b=c:d "e" f,rw=true');
    mkdirSync(workspace);
    writeFileSync(join(workspace, "a.txt"), "hello");
    const script = `touch x 2>/dev/null && GOT=wrote; GOT=$GOT$(cat a.txt)\n${printed("try/out", '{"got":"$GOT"}')}`;
    addContainerSkill(place, "try/out", script);
    expect((await place.runtime.skills.run("try/out", {}, { workspace })).data).toEqual({ got: "hello" });
  });

  it("fills no disk and no memory: a file ends at its bound, and /tmp at its own", async () => {
    const script = [
      "head -c 1073741824 /dev/zero >big 2>/dev/null; GOT=$(wc -c <big)",
      "for i in 1 2 3 4 5 6 7 8; do head -c 16000000 /dev/zero >/tmp/f$i 2>/dev/null; done",
      'GOT="$GOT $(cat /tmp/f* | wc -c)"',
    ].join("\n");
    const { got } = await tried(script, "capabilities: {files: write}\n");
    const [file, all] = got.split(" ").map(Number);
    expect(file).toBeLessThanOrEqual(SKILL_WRITE_MAX_BYTES);
    expect(all).toBeLessThanOrEqual(CONTAINER_TMP_MAX_BYTES);
  });

  it("takes no more memory than its manifest says, all its processes together", async () => {
    const bytes = 40_000_000;
    // tail keeps all of it in memory until it has read the end.
    const script = (count: number) =>
      [
        `for i in $(seq ${count}); do (head -c ${bytes} /dev/zero | tail -c ${bytes} | (sleep 2; wc -c) >/tmp/$i 2>/dev/null) & done`,
        'wait; GOT=$(cat /tmp/* | tr "\\n" " ")',
      ].join("\n");
    const { got: one } = await tried(script(1), "limits: {memory_mb: 64}\n");
    expect(one.trim()).toBe(String(bytes));
    const { got: four } = await tried(script(4), "limits: {memory_mb: 64}\n");
    expect(four.trim().split(" ")).toHaveLength(4);
    expect(four.split(" ").filter((size) => size === String(bytes)).length).toBeLessThan(4);
  });

  it("a fork bomb ends at its bound, root's too, and nothing of it is left", async () => {
    const script = "b() { sleep 600 & b; }; (: $ROOT; b) 2>/dev/null; set -- /proc/[0-9]*; GOT=$#";
    const { got, place } = await tried(script, "limits: {timeout_ms: 30000}\n");
    expect(Number(got)).toBeGreaterThan(SKILL_PROCESSES_MAX / 2);
    expect(Number(got)).toBeLessThanOrEqual(SKILL_PROCESSES_MAX);
    expect(processes().filter((line) => line.includes(place.root))).toEqual([]);
  });

  it("its processes in the background end with it", async () => {
    const { place } = await tried("(setsid sh -c 'sleep 600; : $ROOT' >/dev/null 2>&1 &)");
    expect(processes().filter((line) => line.includes(place.root))).toEqual([]);
  });

  it("is ended at the end of its time, and by a kill", async () => {
    const { error } = await failing("sleep 600", "limits: {timeout_ms: 1500}\n");
    expect(error).toMatchObject({ code: "TIMEOUT" });
    const place = await skillPlace();
    addContainerSkill(place, "try/out", `echo there >there; sleep 600 # ${place.root}`, WRITES);
    const run = errorOf(place.runtime.skills.run("try/out", {}, { workspace: place.workspace }));
    await expect.poll(() => existsSync(join(place.workspace, "there")), { timeout: 60_000 }).toBe(true);
    const [{ id } = { id: "" }] = await place.runtime.list();
    await place.runtime.kill(id);
    expect(await run).toMatchObject({ code: "WORKER_CANCELLED" });
    expect(processes().filter((line) => line.includes(place.root))).toEqual([]);
  });

  it("an image that is not here is told before a start, with the next step; nothing is pulled", async () => {
    const place = await skillPlace();
    addContainerSkill(place, "try/none", "true", "", "localhost/holdfast-none:1");
    const error = await errorOf(place.runtime.skills.run("try/none", {}, { workspace: place.workspace }));
    expect(error).toMatchObject({
      code: "SANDBOX_UNAVAILABLE",
      info: { details: { image: "localhost/holdfast-none:1" } },
    });
    expect(error.suggestion).toContain("podman pull localhost/holdfast-none:1");
    expect(await place.runtime.list({ all: true })).toEqual([]);
  });

  it("a program that is not in its image is a failure of the skill, in the words of podman", async () => {
    const place = await skillPlace();
    addContainerSkill(place, "try/out", "true", "", undefined, "/no/such");
    const error = await errorOf(place.runtime.skills.run("try/out", {}, { workspace: place.workspace }));
    expect(error).toMatchObject({ code: "SKILL_FAILED", info: { details: { skill: "try/out" } } });
  });

  it("a workspace that would show the machine is refused", async () => {
    const place = await skillPlace();
    addContainerSkill(place, "try/out", "true");
    for (const workspace of ["/", "/proc", "/dev", "/etc", place.stateDir])
      expect(await errorOf(place.runtime.skills.run("try/out", {}, { workspace }))).toMatchObject({
        code: "INVALID_REQUEST",
        info: { details: { rule: "workspace" } },
      });
  });
});

const WRITES = "capabilities: {files: write}\n";

it.skipIf(hasContainers)("without podman a run is refused before anything starts", async () => {
  const place: SkillPlace = await skillPlace();
  addContainerSkill(place, "try/out", "true", "", "localhost/none");
  const error = await errorOf(place.runtime.skills.run("try/out", {}, { workspace: place.workspace }));
  expect(error).toMatchObject({ code: "SANDBOX_UNAVAILABLE" });
  expect(await place.runtime.list({ all: true })).toEqual([]);
});
