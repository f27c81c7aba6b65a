import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { launchdPlist, type Service, systemdUnit } from "../../../src/cli/commands/service.ts";

const service: Service = {
  stateDir: '/home/me/my "state" 100%',
  node: "/opt/node/bin/node",
  program: "/opt/hold$fast/dist/daemon.js",
  env: {
    PATH: "/usr/bin:/opt/<b>",
    HOME: "/home/me",
    XDG_RUNTIME_DIR: "/run/user/1",
    XDG_SESSION_ID: "4",
    HOLDFAST_MAX_RUNNING: "7",
    HOLDFAST_RUN: "s/w/1",
    HOLDFAST_OUTPUT: "json",
    API_KEY: "secret",
  },
};

test("the systemd unit", () => {
  expect(
    systemdUnit(service),
  ).toBe(`# Written by agent daemon install; run it again with --force to write it anew.
[Unit]
Description=Holdfast: supervises agent CLIs

[Service]
ExecStart="/opt/node/bin/node" "--max-semi-space-size=2" "--expose-gc" "--no-allocation-site-pretenuring" "--v8-pool-size=1" "/opt/hold$$fast/dist/daemon.js" "--state-dir" "/home/me/my \\"state\\" 100%%"
Environment="HOLDFAST_HOME=/home/me/my \\"state\\" 100%%"
Environment="HOLDFAST_MAX_RUNNING=7"
Environment="HOME=/home/me"
Environment="PATH=/usr/bin:/opt/<b>"
Restart=on-failure
RestartSec=1
KillMode=process
OOMPolicy=continue
Delegate=yes

[Install]
WantedBy=default.target
`);
});

test("the launchd plist", () => {
  expect(launchdPlist(service)).toMatchInlineSnapshot(`
    "<?xml version="1.0" encoding="UTF-8"?>
    <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
    <!-- Written by agent daemon install; its flag force writes it anew. -->
    <plist version="1.0">
    <dict>
      <key>Label</key><string>dev.holdfast.daemon</string>
      <key>ProgramArguments</key>
      <array>
        <string>/opt/node/bin/node</string>
        <string>--max-semi-space-size=2</string>
        <string>--expose-gc</string>
        <string>--no-allocation-site-pretenuring</string>
        <string>--v8-pool-size=1</string>
        <string>/opt/hold$fast/dist/daemon.js</string>
        <string>--state-dir</string>
        <string>/home/me/my "state" 100%</string>
      </array>
      <key>EnvironmentVariables</key>
      <dict>
        <key>HOLDFAST_HOME</key><string>/home/me/my "state" 100%</string>
        <key>HOLDFAST_MAX_RUNNING</key><string>7</string>
        <key>HOME</key><string>/home/me</string>
        <key>PATH</key><string>/usr/bin:/opt/&lt;b&gt;</string>
      </dict>
      <key>RunAtLoad</key><true/>
      <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
      <key>AbandonProcessGroup</key><true/>
      <key>StandardErrorPath</key><string>/home/me/my "state" 100%/daemon.log</string>
    </dict>
    </plist>
    "
  `);
});

interface Answer {
  readonly data: { readonly effect: string; readonly text: string; readonly commands: readonly string[] };
  readonly error: { readonly message: string; readonly suggestion: string };
  readonly warnings: readonly string[];
}

const hasAnalyze = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe("agent daemon install", () => {
  let root: string;
  let unit: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "holdfast-service-"));
    unit = join(root, "config/systemd/user/holdfast.service");
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const agent = (args: readonly string[], path = process.env.PATH) => {
    const main = join(import.meta.dirname, "../../../bin/agent");
    const ran = spawnSync(process.execPath, [main, "daemon", ...args, "-o", "json"], {
      encoding: "utf8",
      env: {
        PATH: path,
        HOME: root,
        HOLDFAST_HOME: join(root, "state"),
        XDG_CONFIG_HOME: join(root, "config"),
      },
    });
    return { exit: ran.status, ...(JSON.parse(ran.stdout) as Answer) };
  };

  test("writes a unit, shows it with --dry-run, and is not needed twice; uninstall removes it", () => {
    const shown = agent(["install", "--dry-run"]);
    expect(shown.data.effect).toBe("would_create");
    expect(existsSync(unit)).toBe(false);
    expect(agent(["install"]).data).toMatchObject({ path: unit, effect: "created", ran: false });
    expect(readFileSync(unit, "utf8")).toBe(shown.data.text);
    expect(agent(["install"]).data.effect).toBe("noop");
    if (hasAnalyze)
      execFileSync("systemd-analyze", ["verify", "--user", unit], {
        stdio: "pipe",
        env: { ...process.env, XDG_RUNTIME_DIR: root },
      });
    expect(agent(["uninstall"]).data.effect).toBe("deleted");
    expect(existsSync(unit)).toBe(false);
    expect(agent(["uninstall"]).data.effect).toBe("noop");
  });

  test("does not touch a unit that somebody has written or edited without --force", () => {
    agent(["install"]);
    const edited = readFileSync(unit, "utf8").replace("RestartSec=1", "RestartSec=9");
    for (const text of [edited, "[Service]\nExecStart=/bin/true\n"]) {
      mkdirSync(dirname(unit), { recursive: true });
      writeFileSync(unit, text);
      for (const command of ["install", "uninstall"]) {
        const { exit, error } = agent([command]);
        expect(exit).toBe(6);
        expect(error.message).toBe(`${unit} was written or edited by somebody else.`);
        expect(error.suggestion).toContain(
          command === "install" ? "--force writes it" : "--force removes it",
        );
      }
      expect(readFileSync(unit, "utf8")).toBe(text);
    }
    expect(agent(["install", "--force"]).data.effect).toBe("updated");
  });

  test("--now runs the commands where a manager of the user answers, and says them where none does", () => {
    const bin = join(root, "bin");
    mkdirSync(bin);
    const commands = ["systemctl --user daemon-reload", "systemctl --user enable --now holdfast.service"];
    const manager = (exit: number) =>
      writeFileSync(
        join(bin, "systemctl"),
        `#!/bin/sh\necho "systemctl $*" >>${root}/ran\necho no bus >&2\nexit ${exit}\n`,
        {
          mode: 0o755,
        },
      );
    manager(1);
    expect(agent(["install", "--now"], `${bin}:${process.env.PATH}`).data).toMatchObject({
      ran: false,
      commands,
    });
    const { data, warnings } = agent(["uninstall", "--now"], `${bin}:${process.env.PATH}`);
    expect(warnings).toEqual(["Your service manager did not do it: no bus"]);
    // The file is gone by then, and systemctl disables nothing that it cannot find.
    expect(data.commands[0]).toBe("systemctl --user stop holdfast.service");
    rmSync(join(root, "ran"));
    manager(0);
    expect(agent(["install", "--now"], `${bin}:${process.env.PATH}`).data).toMatchObject({
      ran: true,
      commands,
    });
    expect(readFileSync(join(root, "ran"), "utf8").trim().split("\n")).toEqual(commands);
  });
});
