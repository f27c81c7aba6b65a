/** The daemon as a service of the user: what is written for systemd and for launchd. Pure text. */
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { daemonEnvironment } from "../../daemon/start.ts";
import type { Env } from "../context.ts";

const UNIT = "holdfast.service";
const LABEL = "dev.holdfast.daemon";
/** By which a file is known as ours, as it was written. */
export const WRITTEN_BY = "Written by agent daemon install";

export interface Service {
  readonly stateDir: string;
  /** Absolute: a service has no PATH of a person's shell to find Node with. */
  readonly node: string;
  readonly program: string;
  readonly env: Env;
}

/** The variables that the daemon needs, and its agents' programs by PATH. A variable of this session or of this command has no place in it. */
const variables = ({ env, stateDir }: Service): Readonly<Record<string, string>> => {
  const sessionless = Object.entries(daemonEnvironment(env)).filter(
    ([name]) => !/^(XDG_(RUNTIME_DIR|SESSION|SEAT|VTNR)|HOLDFAST_OUTPUT$)/.test(name),
  );
  const all = { ...Object.fromEntries(sessionless), HOLDFAST_HOME: stateDir };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** systemd.syntax(7): in double quotes, with its specifiers and its variables written out. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%")}"`;
const argument = (text: string): string => quoted(text).replaceAll("$", "$$$$");

/**
 * A stop ends the daemon and not its agents (KillMode), an agent that runs out of memory takes nobody along (OOMPolicy),
 * and limits of workers may be set below it (Delegate).
 */
export const systemdUnit = (
  service: Service,
): string => `# ${WRITTEN_BY}; run it again with --force to write it anew.
[Unit]
Description=Holdfast: supervises agent CLIs

[Service]
ExecStart=${[service.node, service.program, "--state-dir", service.stateDir].map(argument).join(" ")}
${Object.entries(variables(service))
  .map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`)
  .join("\n")}
Restart=on-failure
RestartSec=1
KillMode=process
OOMPolicy=continue
Delegate=yes

[Install]
WantedBy=default.target
`;

const xml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** AbandonProcessGroup is launchd's KillMode=process. */
export const launchdPlist = (service: Service): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${WRITTEN_BY}; its flag force writes it anew. -->
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${[service.node, service.program, "--state-dir", service.stateDir].map((word) => `    <string>${xml(word)}</string>`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(variables(service))
  .map(([name, value]) => `    <key>${xml(name)}</key><string>${xml(value)}</string>`)
  .join("\n")}
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>AbandonProcessGroup</key><true/>
  <key>StandardErrorPath</key><string>${xml(join(service.stateDir, "daemon.log"))}</string>
</dict>
</plist>
`;

export interface ServiceFile {
  readonly path: string;
  readonly text: string;
  /** Each by itself, in this order. */
  readonly enable: readonly (readonly string[])[];
  readonly disable: readonly (readonly string[])[];
  /** The same where the file is gone already: a manager disables nothing that it cannot find. */
  readonly forget: readonly (readonly string[])[];
  /** By which it is enabled; it goes with the file. */
  readonly link?: string;
}

export const serviceFile = (service: Service, platform: NodeJS.Platform): ServiceFile => {
  const home = service.env.HOME || homedir();
  if (platform === "darwin") {
    const path = join(home, "Library", "LaunchAgents", `${LABEL}.plist`);
    return {
      path,
      text: launchdPlist(service),
      enable: [["launchctl", "load", "-w", path]],
      disable: [["launchctl", "unload", "-w", path]],
      forget: [["launchctl", "remove", LABEL]],
    };
  }
  const { XDG_CONFIG_HOME: config } = service.env;
  const path = join(config && isAbsolute(config) ? config : join(home, ".config"), "systemd", "user", UNIT);
  return {
    path,
    text: systemdUnit(service),
    enable: [
      ["systemctl", "--user", "daemon-reload"],
      ["systemctl", "--user", "enable", "--now", UNIT],
    ],
    disable: [["systemctl", "--user", "disable", "--now", UNIT]],
    forget: [
      ["systemctl", "--user", "stop", UNIT],
      ["systemctl", "--user", "daemon-reload"],
    ],
    link: join(dirname(path), "default.target.wants", UNIT),
  };
};
