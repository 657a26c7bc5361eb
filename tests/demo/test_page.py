"""The page in headless Chromium, as a person uses it."""

from __future__ import annotations

import json
import time

import pytest

from tests.demo.browser import find_browser, open_browser
from tests.demo.conftest import MARKUP, TEXTS, serving
from tests.models.answers import parts
from tf_charagram.demo import server as demo_server
from tf_charagram.demo.answers import Answers
from tf_charagram.models.embedder import TextEmbedder

pytestmark = pytest.mark.skipif(find_browser() is None, reason="needs Chromium")

ODD = ["\U0001f468\u200d\U0001f469 c", "\u05e9\u05dc", "\ud800", "\0", ""]
IDLE = "!document.querySelector('[aria-busy=true]')"
SHOWN = "!document.querySelector('main').hidden"
NAMES = "[...document.querySelectorAll('#neighbors .row > :first-child')].map(x => x.textContent)"
CLEAR = "$('query').value = ''; $('query').focus()"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with open_browser(tmp_path_factory.mktemp("chromium")) as browser:
        yield browser


@pytest.fixture
def page(browser, server):
    """Returns the browser with the page open; nothing may have gone wrong in the end."""
    browser.look(1280, 900)
    browser.open(server.url)
    browser.until(SHOWN)
    yield browser
    browser.run("1")
    assert browser.errors == []
    assert all(url.startswith(server.url) for url in browser.requests)


def expected(answers, text, edits=0, seed=0):
    return [n["text"] for n in answers.neighbors(text, edits, seed)["neighbors"]]


def test_an_example_is_filled_in(page, answers):
    example = answers.about()["example"]
    for field, text in example.items():
        assert page.run(f"$('{field}').value") == text
    assert page.run(NAMES) == expected(answers, example["query"])
    cosine = answers.compare(example["left"], example["right"], 0, 0)["cosine"]
    assert page.run("$('cosine').textContent") == f"{cosine:.2f}".replace("-", "\u2212")
    assert page.run("$('left-read').textContent").strip() == example["left"]
    assert page.run("document.title") == "tiny \u00b7 tf-charagram"


def test_the_list_follows_each_letter(page, answers):
    page.run(CLEAR)
    for end, letter in enumerate("cattle", start=1):
        page.type(letter)
        names = page.until(f"$('query').value.length === {end} && {IDLE} && {NAMES}")
        assert names == expected(answers, "cattle"[:end])
    assert page.until("$('status').textContent").startswith("Nearest to ")


def test_the_last_text_wins_whatever_the_server_takes(page, answers, monkeypatch):
    """Answers to shorter texts take longer; those that nobody waits for are not asked for."""
    asked, neighbors = [], answers.neighbors

    def slow(self, text, edits, seed):
        asked.append(text)
        time.sleep(max(0.0, 0.3 - 0.03 * len(text)))
        return neighbors(text, edits, seed)

    fields = demo_server._QUESTIONS["/api/neighbors"][1]
    monkeypatch.setitem(demo_server._QUESTIONS, "/api/neighbors", (slow, fields))
    page.run(CLEAR)
    page.type("catalogue")
    assert page.until(f"{IDLE} && {NAMES}") == expected(answers, "catalogue")
    assert asked[-1] == "catalogue" and 1 <= len(asked) < len("catalogue")
    assert asked == sorted(asked, key=len)


def test_the_slider_puts_errors_in(page, answers):
    page.run("$('query').value = 'between'; $('query').dispatchEvent(new Event('input'))")
    page.run("$('edits').focus()")
    for _ in range(2):
        page.press("ArrowRight", 39)
    shown = page.until(f"$('edits').value === '2' && {IDLE} && $('query-typed').textContent")
    found = answers.neighbors("between", 2, 0)
    assert shown == found["typed"] and page.run(NAMES) == expected(answers, "between", 2)
    note = page.run("$('query-note').textContent")
    assert f"{found['num_stay']} of 10 neighbours stay" in note
    assert page.run("document.querySelectorAll('.row.new').length") == 10 - found["num_stay"]
    assert "without the typing errors" in page.run("$('cosine-note').textContent")
    page.run("$('other-errors').click()")
    assert (
        page.until(f"{IDLE} && $('query-typed').textContent")
        == (answers.neighbors("between", 2, 1)["typed"])
    )
    page.run("$('query').value = 'a b'; $('query').dispatchEvent(new Event('input'))")
    assert page.until(f"{IDLE} && $('query-note').textContent").startswith("Typing errors go into")


def test_a_neighbour_is_chosen_by_keyboard(page):
    page.run("$('query').focus()")
    page.press("Tab", 9)
    page.press("Enter", 13)
    first = page.run(NAMES)[0]
    assert page.until(f"{IDLE} && $('right').value") == first
    assert page.run("$('left').value === $('query').value")
    assert page.run("$('right-read').textContent").strip().lower() == first.lower()


def test_markup_is_text(page, answers):
    """Neither a text of the vocabulary nor one that is typed becomes an element."""
    for field in ("query", "left"):
        page.run(f"$('{field}').value = {MARKUP[:-1]!r}")
        page.run(f"$('{field}').dispatchEvent(new Event('input'))")
    assert MARKUP in page.until(f"{IDLE} && {NAMES}")
    assert page.run("document.querySelectorAll('img').length") == 0
    right = page.run("$('right').value")
    read = answers.compare(MARKUP[:-1], right, 0, 0)["explanation"]["left"]["text"]
    assert page.run("$('left-read').textContent") == read and read.startswith(" ")


@pytest.mark.parametrize("text", ODD)
def test_any_text(page, answers, text):
    page.run(f"$('left').value = {json.dumps(text)}; $('left').dispatchEvent(new Event('input'))")
    page.until(IDLE)
    assert page.run("$('problem').hidden")
    right = page.run("$('right').value")
    read = answers.compare(text, right, 0, 0)["explanation"]["left"]["text"]
    assert page.run("$('left-read').textContent") == read


def test_phone(page, server):
    page.look(390, 844, "dark")
    page.open(server.url)
    page.until(SHOWN)
    page.run("$('query').value = 'x'.repeat(500); $('query').dispatchEvent(new Event('input'))")
    page.until(IDLE)
    assert page.run("document.documentElement.scrollWidth") == 390
    assert page.run("getComputedStyle(document.body).backgroundColor") == "rgb(20, 21, 23)"


def test_every_field_has_a_name(page):
    unnamed = "[...document.querySelectorAll('input')].filter(x => !x.labels.length).length"
    assert page.run(unnamed) == 0


def test_without_javascript(browser, server):
    browser.send("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(server.url)
        tree = browser.send("DOMSnapshot.captureSnapshot", computedStyles=["display"])
        assert any("This page needs JavaScript" in text for text in tree["strings"])
        assert "block" in tree["strings"]
    finally:
        browser.send("Emulation.setScriptExecutionDisabled", value=False)


def test_an_encoder_without_ngrams(browser):
    with serving(Answers(TextEmbedder(*parts("cse")), TEXTS, "words")) as server:
        browser.open(server.url)
        browser.until(SHOWN)
        assert len(browser.run(NAMES)) == 10
        assert browser.run("$('explanation').hidden")
        assert "does not sum n-grams" in browser.run("$('unexplained').textContent")


def test_a_server_that_does_not_answer(browser, server):
    browser.open(server.url)
    browser.until(SHOWN)
    offline = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    browser.send("Network.emulateNetworkConditions", offline=True, **offline)
    browser.run("$('query').dispatchEvent(new Event('input'))")
    assert "does not answer" in browser.until("!$('problem').hidden && $('problem').textContent")
    browser.send("Network.emulateNetworkConditions", offline=False, **offline)
    browser.run("$('query').dispatchEvent(new Event('input'))")
    browser.until("$('problem').hidden")
