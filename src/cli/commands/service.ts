/** The daemon as a service of the user: the files for systemd and launchd. Pure text. */
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { DAEMON_NODE_FLAGS } from "../../daemon/node-flags.ts";
import { daemonEnvironment } from "../../daemon/start.ts";
import type { Env } from "../context.ts";

const UNIT = "holdfast.service";
const LABEL = "dev.holdfast.daemon";
/** Marks a file as written by this command. */
export const WRITTEN_BY = "Written by agent daemon install";

export interface Service {
  readonly stateDir: string;
  /** Absolute: a service does not have the PATH of a shell. */
  readonly node: string;
  readonly program: string;
  readonly env: Env;
}

/**
 * The variables of the service: those that the daemon needs, and PATH for its agents' programs. Variables of this login
 * session or of this command are left out, and headers of telemetry, which may be secrets.
 */
const variables = ({ env, stateDir }: Service): Readonly<Record<string, string>> => {
  const sessionless = Object.entries(daemonEnvironment(env)).filter(
    ([name]) => !/^(XDG_(RUNTIME_DIR|SESSION|SEAT|VTNR)|HOLDFAST_OUTPUT$|OTEL_.*_HEADERS$)/.test(name),
  );
  const all = { ...Object.fromEntries(sessionless), HOLDFAST_HOME: stateDir };
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
};

const wordsOf = ({ node, program, stateDir }: Service): readonly string[] => [
  node,
  ...DAEMON_NODE_FLAGS,
  program,
  "--state-dir",
  stateDir,
];

/** systemd.syntax(7): in double quotes, with specifiers and variables escaped. */
const quoted = (text: string): string =>
  `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%")}"`;
const argument = (text: string): string => quoted(text).replaceAll("$", "$$$$");

/**
 * A stop ends the daemon but not its agents (KillMode); an agent that runs out of memory takes no other process down
 * (OOMPolicy); workers may have limits (Delegate).
 */
export const systemdUnit = (
  service: Service,
): string => `# ${WRITTEN_BY}; run it again with --force to write it anew.
[Unit]
Description=Holdfast: supervises agent CLIs

[Service]
ExecStart=${wordsOf(service).map(argument).join(" ")}
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
${wordsOf(service)
  .map((word) => `    <string>${xml(word)}</string>`)
  .join("\n")}
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
  /** Run one after another. */
  readonly enable: readonly (readonly string[])[];
  readonly disable: readonly (readonly string[])[];
  /** The commands to disable the service when its file is gone: a manager cannot disable a service without a file. */
  readonly forget: readonly (readonly string[])[];
  /** The link that enables the service; removed together with the file. */
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
