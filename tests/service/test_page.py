"""The page in a real browser: agents are made, learn and warn before its eyes, whatever people's words are."""

import re
import time
from itertools import pairwise

import pytest
from browsing import CHROMIUM, ONE_STEP, PHONE, Visitors, browsing
from serving import listening
from starlette.responses import JSONResponse

from tacit.service.page import read_page

pytest.importorskip("playwright")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium; apt-get install chromium")

LONG, EMOJI, ARABIC, HEBREW = "w" * 300, "🛒👩‍👩‍👧‍👦🏳️‍🌈", "شكرا جزيلا <b>لكم</b>", "תודה רבה"
MARKUP = '<img src=x onerror="document.title=1">'
WORDS = {
    "layout": {
        "states": [[f"visit {EMOJI}"]],
        "actions": [LONG, ARABIC, "show"],
        "contexts": ["new"],
        "feedback": ["thanks", HEBREW, MARKUP, EMOJI * 20],
    }
}
NAMED = "input, select, textarea, progress, button, a, svg[role=img], [role=region]"
NAMELESS = """(named) => [...document.querySelectorAll(named)]
    .filter((each) => each.checkVisibility() && !each.labels?.length && !each.ariaLabel)
    .filter((each) => !each.hasAttribute("aria-labelledby") && !each.innerText)
    .map((each) => each.outerHTML)"""
SIGHT_OF_WIDTH = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"


@pytest.fixture(scope="module")
def browser():
    with browsing() as chromium:
        yield chromium


@pytest.fixture
def opened(browser):
    """Return what opens a page and notes whatever it complains of."""
    contexts, complaints = [], []

    def open_page(address, **options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(address)
        return page

    open_page.complaints = complaints
    yield open_page
    for context in contexts:
        context.close()


def shown(page, selector, words):
    """Wait until something on the page has some words."""
    page.wait_for_function(
        "([selector, words]) => document.querySelector(selector)?.innerText.includes(words)",
        arg=[selector, words],
        timeout=20_000,
    )


def test_an_agent_is_made_learns_and_warns(tmp_path, opened):
    with listening(tmp_path) as (address, _), Visitors(address, "salon") as visitors:
        page = opened(f"{address}/")
        shown(page, "#empty", "No agents yet")
        assert page.locator("#empty pre").count() == 3
        page.get_by_label("Name").fill("salon")
        page.get_by_label("Description, JSON or TOML").fill('{"layout": {"states": [["visit"]]}}')
        page.get_by_role("button", name="Make it").click()
        shown(page, "#make-error", "actions must be there")
        text = '[layout]\nstates = [["visit"]]\nactions = ["ask", "show", "offer"]\ncontexts = ["new"]\n'
        page.get_by_label("Description, JSON or TOML").fill(text + 'feedback = ["thanks", "hm", "bye"]')
        page.get_by_role("button", name="Make it").click()
        shown(page, "#verdict", "not known yet")
        shown(page, "#findings", "nothing known yet")
        assert not page.locator("#legend-uniform").is_visible()  # nothing is estimated yet
        visitors.come(160)
        shown(page, "#fact-ended", "160")
        shown(page, "#verdict", "works with caution")
        shown(page, "#findings", "minority assumed")
        shown(page, "#findings", "Give known outcomes")
        shown(page, "#meanings", "what people say tells actions apart")
        shown(page, "#rewards-words", "better than chance")
        rows = page.locator("#meanings tr", has_text="thanks")
        assert rows.locator(".heat").inner_text().startswith(("0.9", "1.0"))
        shown(page, "#policy", "show")
        assert page.locator("#chart svg[role=img]").get_attribute("aria-label").startswith("Decoded reward")
        assert page.locator(".episode").count() == 20
        page.get_by_role("link", name="All agents").click()
        shown(page, "#agents", "works with caution")
        shown(page, "#agents", "160 episodes ended")
    assert [each for each in opened.complaints if "422" not in each and "ERR_" not in each] == []


def test_those_held_out_are_shown_beside_the_policy(tmp_path, opened):
    with listening(tmp_path) as (address, _), Visitors(address, "tried") as visitors:
        visitors.put(ONE_STEP | {"holdout": 0.4})
        page = opened(f"{address}/#/tried")
        visitors.come(240)
        shown(page, "#fact-ended", "240")
        shown(page, "#rewards-words", "held out, and stay at random, earn 0.")
        shown(page, "#rewards-words", "better than chance")
        assert page.locator("#chart .line-held").count() == 1
        assert page.locator("#legend-held").is_visible()
        assert page.locator("#legend-uniform").is_visible()
        within = page.locator("#chart svg text:not(.tick)")  # the line of those held out would run through it
        assert within.count() == 0
        assert "Those held out earned 0." in page.locator("#chart svg[role=img]").get_attribute("aria-label")
        page.get_by_text("The numbers").click()
        shown(page, "#windows", "held out")
        view = page.locator("#rewards-words").inner_text()
        assert opened.complaints == [], view


def test_the_policy_is_compared_with_a_fixed_baseline(tmp_path, opened):
    with listening(tmp_path) as (address, _), Visitors(address, "tried") as visitors:
        visitors.put(ONE_STEP | {"holdout": 0.4, "baseline": [{"state": "visit", "action": "ask"}]})
        page = opened(f"{address}/#/tried")
        visitors.come(240)
        shown(page, "#rewards-words", "held out, and go by the baseline, earn 0.")
        shown(page, "#rewards-words", "better than the baseline")
        shown(page, "#legend-held", "by the baseline")
        assert opened.complaints == []


def test_any_words_leave_the_page_whole(tmp_path, opened):
    with listening(tmp_path) as (address, _), Visitors(address, "words") as visitors:
        visitors.put(WORDS)
        said = iter(WORDS["layout"]["feedback"] * 30)
        page = opened(f"{address}/#/words", viewport=PHONE)
        shown(page, "#verdict", "not known yet")
        visitors.come(60, lambda action: "thanks" if action == "show" else next(said), state=f"visit {EMOJI}")
        shown(page, "#fact-ended", "60")
        for words in (HEBREW, MARKUP, "<b>لكم</b>", EMOJI):
            shown(page, "#agent-view", words)
        assert page.locator("main img, main b b").count() == 0
        assert page.locator(".turns li").count() > 0  # what is long is told turn by turn
        assert page.title() == "words · Tacit"
        assert page.locator("bdi[dir=auto]", has_text=HEBREW).count() > 0
        wide, room = page.evaluate(SIGHT_OF_WIDTH)
        assert wide <= room
        assert opened.complaints == []


def test_nothing_moves_while_it_updates(tmp_path, opened):
    with listening(tmp_path) as (address, _), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        visitors.come(120)
        page = opened(f"{address}/#/shop", viewport={"width": 1000, "height": 4000})
        shown(page, "#fact-ended", "120")
        shown(page, "#policy", "show")
        page.evaluate(
            """() => { window.moved = 0; new PerformanceObserver((list) => {
            for (const entry of list.getEntries()) window.moved += entry.value; }).observe({type: "layout-shift"}); }"""
        )
        page.locator("#context").focus()
        visitors.come(60)
        shown(page, "#fact-ended", "180")
        time.sleep(0.6)
        assert page.evaluate("window.moved") < 0.02
        assert page.evaluate("document.activeElement.id") == "context"


def test_it_can_be_paused(tmp_path, opened):
    with listening(tmp_path) as (address, service), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        page = opened(f"{address}/#/shop")
        shown(page, "#link", "live")
        page.get_by_role("button", name="Pause").click()
        shown(page, "#link", "paused")
        visitors.come(3)
        while service.state.watchers.listeners:
            time.sleep(0.05)
        assert page.locator("#fact-ended").inner_text() == "0"
        page.get_by_role("button", name="Pause").click()
        shown(page, "#fact-ended", "3")


def test_it_comes_back_when_the_service_does(tmp_path, opened):
    with listening(tmp_path) as (address, _), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        page = opened(f"{address}/#/shop")
        shown(page, "#link", "live")
    shown(page, "#link", "reconnecting")
    with listening(tmp_path, port=int(address.rpartition(":")[2])):
        shown(page, "#link", "live")


def test_a_service_that_asks_for_a_key_is_given_one(tmp_path, opened):
    def asks_for_key(service):
        async def answer(scope, receive, send):
            key = dict(scope.get("headers", ())).get(b"authorization")
            if scope["type"] == "http" and scope["path"].startswith("/v1") and key != b"Bearer open sesame":
                refused = {"error": {"code": "unauthorized", "message": "a key is needed"}}
                await JSONResponse(refused, 401)(scope, receive, send)
            else:
                await service(scope, receive, send)

        return answer

    with listening(tmp_path, asks_for_key) as (address, _):
        page = opened(f"{address}/")
        page.get_by_label("Key").fill("wrong")
        page.get_by_role("button", name="Use this key").click()
        page.get_by_label("Key").fill("open sesame")
        page.get_by_role("button", name="Use this key").click()
        shown(page, "#empty", "Bearer $TACIT_KEY")
        assert page.evaluate("[sessionStorage.length, localStorage.length]") == [1, 0]


def test_the_keyboard_reaches_everything(tmp_path, opened):
    with listening(tmp_path) as (address, _):
        page = opened(f"{address}/")
        shown(page, "#empty", "No agents yet")
        reached = []
        for _ in range(12):
            page.keyboard.press("Tab")
            reached.append(page.evaluate("document.activeElement.id || document.activeElement.tagName"))
            style = page.evaluate("getComputedStyle(document.activeElement).outline")
            assert "solid 3px" in style
            if reached[-1] == "make-button":
                break
        assert reached[0] == "skip"
        assert [each for each in reached if each.startswith("make")] == [
            "make-name",
            "make-text",
            "make-button",
        ]
        page.locator("#skip").focus()
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "main"


@pytest.mark.parametrize("path", ["", "#/shop"])
def test_everything_has_a_name(tmp_path, opened, path):
    with listening(tmp_path) as (address, _), Visitors(address) as visitors:
        visitors.put(ONE_STEP)
        visitors.come(2)
        page = opened(f"{address}/{path}", viewport=PHONE, color_scheme="dark", reduced_motion="reduce")
        shown(page, "#agent-view" if path else "#agents", "shop")
        assert page.evaluate(NAMELESS, NAMED) == []
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map((each) => each.id)")
        assert len(ids) == len(set(ids))
        levels = page.evaluate(
            "[...document.querySelectorAll('h1, h2, h3')].filter((e) => e.checkVisibility()).map((e) => +e.tagName[1])"
        )
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        wide, room = page.evaluate(SIGHT_OF_WIDTH)
        assert wide <= room


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def mixed(colour, part, paper):
    """Return a colour of which a part is mixed into that of the paper."""
    pairs = [(int(colour[i : i + 2], 16), int(paper[i : i + 2], 16)) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(part * one + (1 - part) * other):02x}" for one, other in pairs)


def test_colours_can_be_told_apart():
    """Text has a contrast of 4.5 to what it stands on, lines of 3 (WCAG 2.2, AA), in both themes."""
    css = read_page()["page.css"].decode()
    themes = [
        dict(re.findall(r"--([\w-]+): (#\w{6});", part))
        for part in css.split("prefers-color-scheme: dark")[:2]
    ]
    assert [len(theme) for theme in themes] == [17, 17]
    for theme in themes:
        papers = [theme["paper"], theme["panel"]]
        for paper in papers:
            for text in ("ink", "faint", "accent"):
                assert contrast(theme[text], paper) >= 4.5, (text, paper)
            for line in ("heat", "uniform", "held", "good", "warn"):
                assert contrast(theme[line], paper) >= 3, (line, paper)
            assert contrast(theme["ink"], mixed(theme["heat"], 0.38, paper)) >= 4.5
        for kind in ("good", "warn", "bad", "open"):
            for text in (kind, "ink"):
                assert contrast(theme[text], theme[f"{kind}-paper"]) >= 4.5, (text, kind)
