"""The official SDK for Python: `openai_codex`, or `codex_app_server` as it was called before."""

import os

from steps import CODEX, WORK, command, expect, script, step

try:
    from openai_codex import Codex, CodexConfig as Config, TextInput

    REVIEWED = True
except ImportError:
    from codex_app_server import AppServerConfig as Config, Codex, TextInput

    REVIEWED = False

MADE = os.path.join(WORK, f"python-{os.getpid()}.txt")


def run(thread, *steps):
    """Has the model play these steps; the last message."""
    return thread.run(script(*steps)).final_response


def prompt(thread):
    expect(run(thread, {"deltas": ["first ", "answer"]}), "first answer")


def approval(thread):
    """The SDK accepts what it is asked. Newer versions have a model review it, which the offline model cannot."""
    run(thread, command(f"touch {MADE}"), {"text": "done"})
    expect(os.path.exists(MADE), not REVIEWED)
    if os.path.exists(MADE):
        os.remove(MADE)


def stream(thread):
    turn = thread.turn(TextInput(script({"deltas": ["a", "b", "c"]})))
    kinds = [event.method for event in turn.stream()]
    expect(kinds.count("item/agentMessage/delta"), 3)
    expect(kinds[-1], "turn/completed")


def interrupt(thread):
    turn = thread.turn(TextInput(script({"text": "never", "stall": True})))
    for event in turn.stream():
        if event.method == "turn/started":
            turn.interrupt()
    expect(str(event.payload.turn.status.value), "interrupted")


def turns(thread):
    return len(thread.read(include_turns=True).thread.turns)


def resume(codex, thread):
    before = turns(thread)
    again = codex.thread_resume(thread.id)
    expect(run(again, {"text": "again"}), "again")
    expect(turns(again), before + 1)


def fork(codex, thread):
    copy = codex.thread_fork(thread.id)
    expect(turns(copy), turns(thread))


def listed(codex, thread):
    thread.set_name("driven by Python")
    found = [it for it in codex.thread_list(limit=50).data if it.id == thread.id]
    expect([it.name for it in found], ["driven by Python"])
    codex.thread_archive(thread.id)
    codex.thread_unarchive(thread.id)


codex = step("start", lambda: Codex(Config(codex_bin=CODEX, cwd=WORK)))
try:
    step("models", lambda: expect([it.id for it in codex.models().data], ["offline"]))
    thread = step("thread", lambda: codex.thread_start(cwd=WORK))
    step("prompt", prompt, thread)
    step("stream", stream, thread)
    step("review" if REVIEWED else "approval", approval, thread)
    step("interrupt", interrupt, thread)
    step("resume", resume, codex, thread)
    step("fork", fork, codex, thread)
    step("list", listed, codex, thread)
finally:
    codex.close()
