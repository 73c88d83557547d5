"""A chat loop that learns how to answer: Tacit picks a style, a model writes, and your next words teach.

Nobody is asked for a rating. What you say next is the feedback on the answer before, whatever it means; `quit` ends.
It needs a service (`tacit serve`) and a model behind /v1/chat/completions, such as that of llama.cpp, vLLM or Ollama:

    MODEL_URL=http://127.0.0.1:8080 python examples/chat_loop.py
    python examples/chat_loop.py --stub        # no model: it says which style it would have used

TACIT_URL and TACIT_KEY say where the service is; MODEL_NAME and MODEL_KEY go to the model, if it asks for them.
"""

import json
import os
import sys
import urllib.request

from tacit.service.client import Client, RemoteEpisode

STYLES = {
    "short": "Answer in one or two plain sentences.",
    "thorough": "Answer step by step and leave nothing out.",
    "example": "Answer with a worked example first.",
    "question": "Ask one question back before you answer.",
}
AGENT = {
    "layout": {
        "states": [["asked"]],
        "actions": list(STYLES),
        "contexts": ["short question", "long question"],
        "feedback": {"kind": "text"},
    }
}


def ask_model(messages: list[dict[str, str]], style: str) -> str:
    """Return the model's answer in a style."""
    if "--stub" in sys.argv:
        return f"[{style}] {STYLES[style]}"
    told = [{"role": "system", "content": STYLES[style]}, *messages]
    body = {"model": os.environ.get("MODEL_NAME", "default"), "messages": told}
    headers = {
        "content-type": "application/json",
        "authorization": f"Bearer {os.environ.get('MODEL_KEY', '-')}",
    }
    url = os.environ["MODEL_URL"].rstrip("/") + "/v1/chat/completions"
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)) as answer:
        return str(json.load(answer)["choices"][0]["message"]["content"])


def chat(client: Client) -> None:
    """Talk until the user quits."""
    agent, messages = client.agent("chat"), list[dict[str, str]]()
    agent.put(AGENT)
    episode: RemoteEpisode | None = None
    for words in map(str.strip, sys.stdin):
        if episode is not None:
            episode.end(None if words == "quit" else words)  # nothing said is feedback, too
        if words == "quit":
            break
        messages.append({"role": "user", "content": words})
        episode = agent.begin("short question" if len(words) < 40 else "long question")
        messages.append({"role": "assistant", "content": ask_model(messages, episode.act("asked"))})
        print(messages[-1]["content"], flush=True)
    print(f"{agent.status().ended} answers were learned from: {agent.status().verdict}")


if __name__ == "__main__":
    with Client(os.environ.get("TACIT_URL", "http://127.0.0.1:8040"), os.environ.get("TACIT_KEY")) as client:
        chat(client)
