/** ssh as a test has it: the system's own client with a configuration of the test, and a server on 127.0.0.1 that knows one key. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ssh2 from "ssh2";

/** The path of the system's client; empty if there is none. */
export const SSH = spawnSync("sh", ["-c", "command -v ssh"], { encoding: "utf8" }).stdout.trim();

export interface SshAsked {
  /** The one that may log in. */
  readonly publicKey: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onCommand?: (command: string) => void;
  /** Asked for each command: the link is killed after so many bytes of its output, or of its input. */
  readonly cut?: (user: string) => SshCut;
}

export interface SshCut {
  readonly output?: number;
  readonly input?: number;
  /** Hears of the bytes that were carried. */
  readonly carried?: (bytes: { readonly output: number; readonly input: number }) => void;
}

/** At most so many bytes of what is written to it, and then `over`. */
const upTo = (most: number, take: (bytes: Buffer) => void, over: () => void) => {
  let [left, taken] = [most, 0];
  const write = (bytes: Buffer): void => {
    const part = bytes.subarray(0, left);
    left -= part.length;
    taken += part.length;
    if (part.length > 0) take(part);
    if (left === 0) over();
  };
  return { write, taken: () => taken };
};

/** Runs a command as sshd does: by a shell, in an environment of its own. */
export const makeSshServer = ({ publicKey, env, onCommand, cut = () => ({}) }: SshAsked): ssh2.Server =>
  new ssh2.Server({ hostKeys: [ssh2.utils.generateKeyPairSync("ed25519").private] }, (client) => {
    let user = "";
    const known = ssh2.utils.parseKey(publicKey) as ssh2.ParsedKey;
    client.on("authentication", (context) => {
      const isKnown = context.method === "publickey" && context.key.data.equals(known.getPublicSSH());
      user = context.username;
      if (isKnown) context.accept();
      else context.reject(["publickey"]);
    });
    // Small packets would wait for those before them.
    (client as ssh2.Connection & Pick<ssh2.Client, "setNoDelay">).setNoDelay(true);
    client.on("error", () => undefined);
    client.on("session", (accept) =>
      accept().on("exec", (take, _refuse, { command }) => {
        onCommand?.(command);
        const channel = take();
        const child = spawn("sh", ["-c", command], { env });
        const { output = Number.POSITIVE_INFINITY, input = Number.POSITIVE_INFINITY, carried } = cut(user);
        const kill = (): void => {
          client.end();
          child.stdin.destroy();
        };
        const [out, into] = [
          upTo(output, (bytes) => channel.write(bytes), kill),
          upTo(input, (bytes) => child.stdin.write(bytes), kill),
        ];
        if (output === 0 || input === 0) kill();
        channel.on("data", into.write).on("end", () => child.stdin.end());
        channel.on("close", () => child.stdin.end());
        child.stdout.on("data", out.write);
        child.stderr.pipe(channel.stderr, { end: false });
        child.stdin.on("error", () => undefined);
        child.on("close", (code) => {
          carried?.({ output: out.taken(), input: into.taken() });
          channel.exit(code ?? 1);
          channel.end();
        });
      }),
    );
  });

export interface SshClient {
  readonly publicKey: string;
  /** Before the rest of PATH, its `ssh` is the client. */
  readonly bin: string;
  /** The private key, which a test may replace. */
  readonly keyFile: string;
}

/** A client in `dir` with a key of its own, and nothing of this machine's configuration. */
export const makeSshClient = (dir: string): SshClient => {
  const { private: secret, public: publicKey } = ssh2.utils.generateKeyPairSync("ed25519");
  const [bin, keyFile, config] = [join(dir, "bin"), join(dir, "key"), join(dir, "ssh_config")];
  mkdirSync(bin);
  writeFileSync(keyFile, `${secret}\n`, { mode: 0o600 });
  writeFileSync(
    config,
    [
      `IdentityFile ${keyFile}`,
      "IdentitiesOnly yes",
      "IdentityAgent none",
      "StrictHostKeyChecking no",
      "UserKnownHostsFile /dev/null",
      "LogLevel ERROR",
      "",
    ].join("\n"),
  );
  writeFileSync(join(bin, "ssh"), `#!/bin/sh\nexec ${SSH} -F ${config} "$@"\n`, { mode: 0o755 });
  return { publicKey, bin, keyFile };
};
