"""The daemon's socket from Python, with nothing but the standard library: spawn, watch, kill.

    agent daemon start && python3 examples/python/holdfast_client.py -- sh -c 'echo hello; sleep 60'
"""
import json, os, socket, sys
from pathlib import Path


class RequestFailed(Exception):
    def __init__(self, error):
        super().__init__(f"{error['details']['code']}: {error['message']}")


class Client:
    """One connection: a JSON request a line out, Protocol v1 envelopes in. One request at a time, for brevity."""

    def __init__(self, state_dir):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(state_dir / "agent.sock"))
        self.lines = self.socket.makefile("r", encoding="utf-8", newline="\n")
        self.token = (state_dir / "daemon.token").read_text().strip()
        self.sent = 0
        self.daemon = self.ask("protocol/hello", versions=[1])

    def stream(self, command, **data):
        """The data of each progress envelope, then that of the terminal one."""
        self.sent += 1
        meta = {"request_id": str(self.sent), "token": self.token}
        request = {"version": 1, "command": command, "data": data, "meta": meta}
        self.socket.sendall((json.dumps(request) + "\n").encode())
        for line in self.lines:
            envelope = json.loads(line)
            if envelope["status"] == "error":
                raise RequestFailed(envelope["error"])
            yield envelope["data"]
            if envelope["status"] == "ok":
                return
        raise ConnectionError("the daemon went away before it had answered")

    def ask(self, command, **data):
        return list(self.stream(command, **data))[-1]


def state_dir():
    if os.environ.get("HOLDFAST_HOME"):
        return Path(os.environ["HOLDFAST_HOME"])
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state") / "holdfast"


def main(argv):
    if "--" not in argv[:-1]:
        return "usage: holdfast_client.py -- PROGRAM [ARGUMENT...]"
    argv = argv[argv.index("--") + 1 :]
    spec = {"kind": "command", "argv": argv, "cwd": os.getcwd(), "client_env": dict(os.environ), "restart": "temporary"}
    try:
        watching, control = Client(state_dir()), Client(state_dir())
        worker = control.ask("agent/spawn", spec=spec)["id"]
        for record in watching.stream("agent/watch", ids=[worker], **{"from": 0, "follow": False}):
            event = record.get("payload", {})
            print(record.get("type", "watched"), event.get("text", ""), flush=True)
            if event.get("kind") == "TextOutput":  # it lives: that is enough for an example
                control.ask("agent/kill", ids=[worker], grace_ms=1000, reason="seen")
    except (RequestFailed, OSError) as problem:
        return f"error: {problem}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
