"""A browser for tests, and people who visit a shop while it looks on."""

import shutil
from contextlib import contextmanager

import httpx2
import numpy as np

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"width": 360, "height": 740}
ONE_STEP = {
    "layout": {
        "states": [["visit"]],
        "actions": ["ask", "show", "offer"],
        "contexts": ["new"],
        "feedback": ["thanks", "hm", "bye"],
    },
    "seed": 3,
}


@contextmanager
def browsing():
    """Give a Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


class Visitors:
    """People who come one after the other; `react(action)` is what they say after it."""

    def __init__(self, address, name="shop", seed=1_000_000):
        self.client, self.base = httpx2.Client(base_url=address, timeout=30), f"/v1/agents/{name}"
        self.generator = np.random.default_rng(seed)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.client.close()

    def put(self, description):
        response = self.client.put(self.base, json=description)
        assert response.status_code == 201, response.text

    def come(self, n, react=None, context="new", state="visit", **more):
        """Let so many people come to a shop of one step."""
        for _ in range(n):
            decided = self.client.post(
                f"{self.base}/decide", json={"context": context, "state": state}
            ).json()
            said = self.please(decided["action"]) if react is None else react(decided["action"])
            told = {"feedback": said} | more
            path = f"{self.base}/episodes/{decided['episode']}/feedback"
            assert self.client.post(path, json=told).status_code == 200

    def please(self, action, best="show"):
        """Return what is said by somebody who likes one action."""
        if self.generator.random() < (0.9 if action == best else 0.1):
            return "thanks"
        return ("hm", "bye")[self.generator.integers(2)]

    def anything(self, action):
        """Return what is said by somebody whatever is done."""
        return ("thanks", "hm", "bye")[self.generator.integers(3)]
