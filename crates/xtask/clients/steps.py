"""What the drivers in Python share; the same as steps.mjs."""

import json
import os
import sys

# The program that clients start, and the directory to work in, as the runner says.
CODEX = os.environ["CODEX"]
WORK = os.environ["WORK"]


def script(first, *others):
    """A prompt that the offline model plays. It answers after a moment, as real models do: some clients lose what comes
    right after the answer to `turn/start`."""
    return json.dumps({"script": [{"hang": 200, **first}, *others]})


def command(cmd):
    """A command that needs an approval whatever the sandbox is."""
    arguments = {"cmd": cmd, "sandbox_permissions": "require_escalated", "justification": "to try an approval"}
    return {"calls": [{"name": "exec_command", "arguments": arguments}]}


def expect(found, expected):
    """Fails unless both are equal."""
    if found != expected:
        raise AssertionError(f"expected {expected!r}, found {found!r}")


def step(name, run, *args):
    """Runs one step and prints its result. The first failure ends the driver: later steps build on earlier ones."""
    try:
        result = run(*args)
    except BaseException as error:
        detail = f"{type(error).__name__}: {error}"
        print(json.dumps({"step": name, "ok": False, "detail": detail}), flush=True)
        sys.exit(1)
    print(json.dumps({"step": name, "ok": True}), flush=True)
    return result
