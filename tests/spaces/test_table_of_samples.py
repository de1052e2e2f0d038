"""How a visitor fills the table of samples, and chooses columns without usual names."""

import pytest
from browsing import (
    choose_source,
    note,
    opened,
    paste,
    problem,
    scores,
    sentence,
    wait_for_change,
    wait_for_problem,
)

pytest_plugins = ["space_fixtures"]

only_gpassk = pytest.mark.parametrize("space", ["gpassk"], indirect=True, scope="session")

PASTE = """([place, text]) => {
  const clipboardData = new DataTransfer();
  clipboardData.setData("text", text);
  const event = new ClipboardEvent("paste", {bubbles: true, cancelable: true, clipboardData});
  document.querySelector(`#table [data-testid="${place}"]`).dispatchEvent(event);
}"""


def paste_into_table(page, place, text, read=note):
    """Paste a text into a cell of the table, and return what `read` reads from the new result."""
    before = read(page)
    page.evaluate(PASTE, [place, text])
    return wait_for_change(page, before, read)


@only_gpassk
def test_cells_are_pasted_into_the_table(browser, space):
    with opened(browser, space) as page:
        first = note(page)
        paste_into_table(page, "cell-0-1", "0\t1\n2\t3", scores)
        cells = [page.inner_text(f"#table [data-testid=cell-{place}]") for place in ("0-1", "1-2")]
        assert cells == ["0", "3"]
        assert note(page) == first  # the other cells are as before

        shown = paste_into_table(page, "cell-5-0", "7\t7\t8\n8\t8\t8")
        assert shown.startswith("7 questions, 2 to 8 samples each.")

        rows = "question\tprediction\treference\nq1\t12\t12\nq1\t13\t12\nq2\t7\t7\nq2\t7\t7"
        shown = paste_into_table(page, "cell-2-2", rows)
        assert shown.startswith("2 questions, 2 samples each.")
        assert "Read as one sample in each row: rows with the same question are of one" in shown
        assert page.inner_text("#table [data-testid=header-1]").strip() == "prediction"

        page.click("#clear")
        wait_for_problem(page, "The table has no rows.")
        page.click("#add-row")
        page.wait_for_selector("#table [data-testid=cell-4-0]")
        shown = paste_into_table(page, "cell-0-0", "1\t0\n1\t1")
        assert shown.startswith("2 questions, 2 samples each, already graded.")


@only_gpassk
def test_columns_without_usual_names_are_chosen(browser, space):
    rows = "item,resp,gold\nq1,12,12\nq1,13,12\nq2,7,7\nq2,7,7"
    with opened(browser, space) as page:
        choose_source(page, "Paste")
        page.fill("#text textarea", rows)
        wait_for_problem(page, "no column with a usual name for samples")
        assert "You can choose columns below the samples." in problem(page)
        page.wait_for_selector("#picker")
        page.fill("#text textarea", '{"outcomes": ["x"]}')
        wait_for_problem(page, "Question 1, sample 1 is 'x', not a number")
        page.wait_for_selector("#picker", state="hidden")
        page.fill("#text textarea", rows)
        wait_for_problem(page, "no column with a usual name for samples")
        before = note(page)
        for role, column in ("predictions", "resp"), ("references", "gold"), ("questions", "item"):
            page.click(f"#column-{role} input")
            page.locator(f"#column-{role}").get_by_role("option", name=column).click()
        assert wait_for_change(page, before, note).startswith("2 questions, 2 samples each.")
        before = sentence(page)
        paste(page, '{"outcomes": [1, 0, 0, 0]}')
        wait_for_change(page, before)
        assert "The chosen columns are not in these samples" in note(page)
        page.locator("#examples button").first.click()
        page.wait_for_selector("#picker", state="hidden")
