"""The controls and the numbers of a page agree, whatever a visitor does."""

import json
import re

import pytest
from browsing import note, opened, paste, problem, sentence, wait_for_change

pytest_plugins = ["space_fixtures"]

only_gpassk = pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")

NUMBER, RESET = "#k input[type=number]", "#k [data-testid=reset-button]"


def computed(space):
    """Return how many answers the page has prepared: each has a folder for its download."""
    return len(list(space.temporary.glob("downloads-*/*")))


def set_k(page, text):
    before = sentence(page)
    page.fill(NUMBER, text)
    return wait_for_change(page, before)


@only_gpassk
def test_a_number_is_shown_lowered_with_a_note_and_reset(browser, space):
    with opened(browser, space) as page:
        first = sentence(page)
        assert set_k(page, "99").startswith("Of 8 samples")
        page.wait_for_function(f"document.querySelector('{NUMBER}').value === '8'")
        assert "k was lowered to 8, the smallest number of samples of any question." in note(page)
        assert "and both are correct" in set_k(page, "2")
        assert set_k(page, "5").startswith("Of 5 samples")
        before = sentence(page)
        page.click(RESET)
        assert wait_for_change(page, before) == first
        assert page.input_value(NUMBER) == "4"


@only_gpassk
def test_an_empty_number_is_a_sentence_above_the_previous_answer(browser, space):
    with opened(browser, space) as page:
        before = sentence(page)
        page.fill(NUMBER, "")
        assert "k must be a number between 1 and 512." in problem(page)
        assert sentence(page) == before
        assert not page.get_by_text("Error", exact=True).count()
        page.fill(NUMBER, "4")
        page.wait_for_selector(".previous", state="detached")
        page.wait_for_selector(".problem", state="hidden")
        assert sentence(page) == before


@only_gpassk
def test_k_returns_to_the_requested_value_with_more_samples(browser, space):
    with opened(browser, space) as page:
        for outcomes, k in ([1, 0], 2), ([1, 0, 1, 1, 1, 0, 1, 1], 4):
            before = note(page)
            paste(page, json.dumps({"outcomes": outcomes}))
            wait_for_change(page, before, note)
            page.wait_for_function(f"document.querySelector('{NUMBER}').value === '{k}'")
            assert sentence(page).startswith(f"Of {k} samples")


@only_gpassk
def test_a_change_is_computed_once(browser, space):
    with opened(browser, space) as page:
        before = computed(space)
        first = sentence(page)
        page.locator("#table").get_by_test_id("cell-0-3").dblclick()
        page.wait_for_selector("#table textarea[aria-label='Edit cell']")
        page.keyboard.press("Control+A")
        page.keyboard.type("?")
        page.keyboard.press("Enter")
        second = wait_for_change(page, first)
        page.locator("#examples button").nth(1).click()
        wait_for_change(page, second)
        page.wait_for_timeout(1000)  # in which neither of the two changes is computed again
        assert computed(space) == before + 2


RECORD = """() => {
  window.states = [];
  const record = () => {
    const texts = [...document.querySelectorAll(".sentence, .numbers, .chart svg.marks")];
    const busy = document.querySelector("#details").ariaBusy;
    window.states.push([busy, texts.map(part => part.textContent).join()]);
  };
  const changes = {attributes: true, characterData: true, childList: true, subtree: true};
  new MutationObserver(record).observe(document.querySelector("#body"), changes);
}"""


@only_gpassk
def test_the_result_is_marked_until_all_of_it_is_of_one_answer(browser, space):
    with opened(browser, space) as page:
        page.evaluate(RECORD)
        set_k(page, "5")
        states = page.evaluate("window.states")
        complete = {text for busy, text in states if busy == "false"}
        assert complete <= {states[0][1], states[-1][1]}
        assert any(busy == "true" for busy, _ in states)


@only_gpassk
def test_slow_checks_show_their_progress_and_can_be_cancelled(browser, space):
    # All texts are distinct. To check them takes most of the 20 seconds that a request may take, so
    # that there is time to press the button also on a busy machine.
    texts = [rf"$\frac{{{number}}}{{x + 1}}$" for number in range(100)]
    questions = [{"predictions": texts, "reference": text} for text in texts[:25]]
    with opened(browser, space) as page:
        before = sentence(page)
        paste(page, "\n".join(map(json.dumps, questions)))
        wait_for_change(page, before)
        page.click("#checker input")
        page.get_by_role("option", name="math_verify").click()
        page.wait_for_selector("#working [role=status]")
        progress = page.inner_text("#working [role=status]")
        assert re.match(r"Checked [\d,]+ of 2,500 distinct samples, about \d+ s left\.", progress)
        page.get_by_role("button", name="Cancel").click()
        assert "The request was cancelled." in problem(page)
        page.wait_for_selector("#working", state="hidden")
