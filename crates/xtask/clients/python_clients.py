"""Libraries for Python by others. Argument: the name of the package. Each is wrapped into one function that opens a
connection, runs a prompt in a new or stored thread, accepts what it is asked, and returns the answer and the thread."""

import asyncio
import os
import sys

from steps import CODEX, WORK, command, expect, script, step

MADE = os.path.join(WORK, f"python-{os.getpid()}.txt")


async def codex_app_server_client(prompt, thread):
    from codex_app_server_client import CodexAppServer, ThreadStartParams

    async with CodexAppServer(codex_bin=CODEX) as codex:
        if thread is None:
            opened = await codex.start_thread(ThreadStartParams(cwd=WORK))
        else:
            opened = await codex.resume_thread(thread)
        result = await opened.run(prompt)
        return result.final_response, opened.id


async def codex_python_sdk(prompt, thread):
    from codex_python_sdk import create_async_client

    async with create_async_client(
        codex_command=CODEX,
        process_cwd=WORK,
        automatic_approval_review=False,
        on_command_approval=lambda _: {"decision": "accept"},
    ) as codex:
        params = {"cwd": WORK, "approvalPolicy": "on-request"}
        result = await codex.responses_create(prompt=prompt, thread_id=thread, thread_params=params)
        return result.text, result.thread_id


async def codex_sdk_python(prompt, thread):
    from codex_sdk import AppServerClient, AppServerOptions, ApprovalDecisions

    async with AppServerClient(AppServerOptions(codex_path_override=CODEX)) as codex:
        if thread is None:
            thread = (await codex.thread_start(cwd=WORK))["thread"]["id"]
        else:
            await codex.thread_resume(thread)
        accept = ApprovalDecisions(command_execution="accept")
        session = await codex.turn_session(thread, prompt, approvals=accept)
        texts = []
        async for event in session.notifications():
            item = event.params.get("item", {}) if event.method == "item/completed" else {}
            if item.get("type") == "agentMessage":
                texts.append(item["text"])
        await session.close()
        return texts[-1], thread


async def codex_python_sdk_unofficial(prompt, thread):
    from codex_agent_sdk import AppServerConfig, CodexOptions, CodexSDKClient

    server = AppServerConfig(codex_bin=CODEX, cwd=WORK)
    async with CodexSDKClient(options=CodexOptions(cwd=WORK), app_server=server) as codex:
        if thread is None:
            thread = await codex.start_thread()
        else:
            await codex.resume_thread(thread)
        result = await (await codex.query(prompt)).wait()
        return result.assistant_text, thread


# Of these, the ones that can be told to accept a command. The others refuse, or cannot read the question.
ACCEPTS = (codex_python_sdk, codex_sdk_python)
run = globals()[sys.argv[1].replace("-", "_")]


def say(expected, prompt, thread=None):
    answer, thread = asyncio.run(run(prompt, thread))
    expect(answer, expected)
    return thread


def approval(thread):
    say("done", script(command(f"touch {MADE}"), {"text": "done"}), thread)
    expect(os.path.exists(MADE), True)
    os.remove(MADE)


thread = step("prompt", say, "first answer", script({"deltas": ["first ", "answer"]}))
if run in ACCEPTS:
    step("approval", approval, thread)
step("resume", say, "again", script({"text": "again"}), thread)
